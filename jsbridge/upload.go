//go:build js && wasm

package jsbridge

import (
	"github.com/hack-pad/safejs"
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/json"
	"github.com/seed-76f09577/turnwire/wasm/retry"
	"github.com/seed-76f09577/turnwire/wasm/upload"
)

// liveUpload performs one upload. The loader has the data: it sends the blocks, hashes ranges, keeps the record.
type liveUpload struct {
	desk
	pump
	id      uint32
	machine *upload.Machine
	sink    safejs.Value // the loader's side; see UploadSink
	policy  retry.Policy

	// The page's mapUploadTicket runs in a task of its own: the answer waits for it.
	maps     bool
	unmapped retry.Done
	mapped   []byte
	mapError *api.Error
}

var uploads table[*liveUpload]

// startUpload(client, {workspaceId, name, contentType, purpose, size, once, …options}, record, sink) → upload. record is
// what an earlier page kept; undefined where it kept nothing.
func startUpload(args []safejs.Value) any {
	c, params := clients.get(index(args[0])), args[1]
	u := &liveUpload{sink: args[3], maps: truthy(property(params, "maps")), policy: policy(c, params, retry.Repeatable)}
	config := upload.Config{
		Service:       c.base,
		WorkspaceID:   text(params, "workspaceId"),
		Name:          text(params, "name"),
		ContentType:   text(params, "contentType"),
		Purpose:       text(params, "purpose"),
		Size:          number(params, "size"),
		Once:          truthy(property(params, "once")),
		BlockSize:     number(params, "blockSize"),
		Concurrency:   int(number(params, "concurrency")),
		BlockTries:    int(number(params, "blockTries")),
		BlockTimeout:  number(params, "blockTimeout"),
		DataTimeout:   number(params, "dataTimeout"),
		ReportTimeout: number(params, "reportTimeout"),
		Checksum:      upload.Checksum(number(params, "checksum")),
		KnownSum:      text(params, "knownSum"),
		Base64:        truthy(property(params, "base64")),
		Policy:        u.policy,
		Resumable:     truthy(property(params, "resumable")),
		Fingerprint:   text(params, "fingerprint"),
	}
	var polls []api.Field
	if wait := property(params, "wait"); truthy(wait) {
		w := waitConfig(c, wait)
		config.Wait, polls = &w, fields(property(wait, "headers"))
	}
	if u.maps {
		config.MapTicket = func([]byte) ([]byte, *api.Error) { return u.mapped, u.mapError }
	}
	u.machine = upload.New(config)
	u.desk = desk{client: c, headers: fields(property(params, "headers")), polls: polls, onAnswer: u.answered, onTimer: func() {
		u.machine.TimerFired(clock())
		u.flush()
	}}
	u.id = uploads.add(u)
	if !online() {
		u.machine.Offline(clock())
	}
	if record := str(args[2]); record != "" {
		u.machine.Restored(clock(), []byte(record))
	} else {
		u.machine.Start(clock())
	}
	u.flush()
	return u.id
}

func waitConfig(c *client, options safejs.Value) upload.WaitConfig {
	return upload.WaitConfig{
		Policy:      policy(c, options, retry.Repeatable),
		Interval:    number(options, "interval"),
		MaxInterval: number(options, "maxInterval"),
		Limit:       number(options, "waitTimeout"),
	}
}

func (u *liveUpload) flush() { u.run(u.machine, u.perform) }

func (u *liveUpload) perform(effect retry.Effect) {
	if u.desk.perform(effect) {
		return
	}
	switch e := effect.(type) {
	case upload.Store:
		r := e.Request
		var header json.Writer
		header.Open("", '[')
		for _, f := range r.Header {
			header.String("", f.Name)
			header.String("", f.Value)
		}
		header.Close(']')
		want := ""
		for _, name := range r.Want {
			want += name + ","
		}
		method(u.sink, "store", e.ID, r.Method, r.URL, string(header.Text()), float64(r.From), float64(r.To), string(r.Body), want)
	case upload.CancelStore:
		method(u.sink, "cancel", e.ID)
	case upload.Hash:
		method(u.sink, "hash", float64(e.From), float64(e.To), e.State, e.Last)
	case upload.Release:
		method(u.sink, "release", float64(e.Before))
	case upload.Report:
		p := e.Progress
		method(u.sink, "report", string(p.Stage), float64(p.LoadedBytes), float64(p.TotalBytes), float64(p.BlocksDone), float64(p.BlocksTotal),
			p.BytesPerSecond, p.SecondsLeft, u.machine.FileID(), u.machine.Protocol())
	case upload.Save:
		method(u.sink, "save", string(e.Record))
	case upload.Forget:
		method(u.sink, "forget")
	case upload.Status:
		method(u.sink, "status", fileJSON(&e.File))
	case upload.Finish:
		u.finish(e.Outcome)
	}
}

func (u *liveUpload) finish(o upload.Outcome) {
	u.timer.clear()
	uploads.remove(u.id)
	level, fields := "info", []retry.Field{{Name: "fileId", Value: u.machine.FileID()}, {Name: "stage", Value: string(o.Stage)}}
	if o.Err != nil {
		level = "warn"
		fields = append(fields, retry.Field{Name: "code", Value: o.Err.Code})
	}
	u.client.record(level, "upload ended", fields...)
	method(u.sink, "ended", outcomeJSON(o))
	for _, file := range o.Untold {
		notify(u.client, file, u.headers, u.policy)
	}
}

func (u *liveUpload) answered(d retry.Done) {
	if u.maps && d.Err == nil && u.machine.WantsTicket() {
		u.unmapped = d
		method(u.sink, "map", string(d.Body))
		return
	}
	// A request breaks before the browser says why.
	if d.Err != nil && d.Err.Kind == api.KindConnection && !online() {
		u.machine.Offline(clock())
	}
	u.machine.Answered(clock(), d)
	u.flush()
}

// ticketMapped(upload, ticket | null, why): what the page's function made of step 1's answer, in the service's own form.
func ticketMapped(args []safejs.Value) any {
	return told(args, func(u *liveUpload) {
		u.mapped, u.mapError = []byte(str(args[1])), nil
		if args[1].IsNull() {
			u.mapError = &api.Error{Kind: api.KindUpload, Code: "map_ticket_failed",
				Message: "option mapUploadTicket did not make a ticket of the service's answer: " + str(args[2])}
		}
		u.machine.Answered(clock(), u.unmapped)
	})
}

// told gives an upload an input, unless it has ended meanwhile.
func told(args []safejs.Value, input func(u *liveUpload)) any {
	if u := uploads.get(index(args[0])); u != nil {
		input(u)
		u.flush()
	}
	return nil
}

// pauseUpload(upload)
func pauseUpload(args []safejs.Value) any {
	return told(args, func(u *liveUpload) { u.machine.Pause(clock()) })
}

// resumeUpload(upload)
func resumeUpload(args []safejs.Value) any {
	return told(args, func(u *liveUpload) { u.machine.Resume(clock()) })
}

// abortUpload(upload)
func abortUpload(args []safejs.Value) any {
	return told(args, func(u *liveUpload) {
		u.hurried = true
		u.machine.Abort(clock())
	})
}

// uploadRecord(upload) → what is to be kept; null of one that has ended
func uploadRecord(args []safejs.Value) any {
	if u := uploads.get(index(args[0])); u != nil {
		return string(u.machine.Record())
	}
	return nil
}

// storeProgress(upload, request, sent)
func storeProgress(args []safejs.Value) any {
	return told(args, func(u *liveUpload) { u.machine.StoreProgress(clock(), int(index(args[1])), whole(args[2])) })
}

// storeBegun(upload, request): its bytes are read, and the browser has it.
func storeBegun(args []safejs.Value) any {
	return told(args, func(u *liveUpload) { u.machine.StoreBegun(clock(), int(index(args[1]))) })
}

// storeAlive(upload, request): bytes of the answer came.
func storeAlive(args []safejs.Value) any {
	return told(args, func(u *liveUpload) { u.machine.StoreAlive(clock(), int(index(args[1]))) })
}

// dataMoved(upload): the data gave some bytes.
func dataMoved(args []safejs.Value) any {
	return told(args, func(u *liveUpload) { u.machine.DataMoved(clock()) })
}

// storeAnswered(upload, request, status, header, body)
func storeAnswered(args []safejs.Value) any {
	return told(args, func(u *liveUpload) {
		u.machine.StoreAnswered(clock(), int(index(args[1])), upload.Answer{Status: int(whole(args[2])), Header: fields(args[3]), Body: []byte(str(args[4]))})
	})
}

// storeFailed(upload, request, detail)
func storeFailed(args []safejs.Value) any {
	return told(args, func(u *liveUpload) {
		u.machine.StoreFailed(clock(), int(index(args[1])), str(args[2]), !online())
	})
}

// hashed(upload, at, state, sum): sum is "" but after the last range.
func hashed(args []safejs.Value) any {
	return told(args, func(u *liveUpload) {
		u.machine.Hashed(clock(), upload.HashState{At: whole(args[1]), State: str(args[2]), Sum: str(args[3])})
	})
}

// dataFailed(upload, at, detail)
func dataFailed(args []safejs.Value) any {
	return told(args, func(u *liveUpload) { u.machine.DataFailed(clock(), whole(args[1]), str(args[2])) })
}
