package jsbridge

import (
	"github.com/seed-76f09577/turnwire/jsbridge/contract"
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
	"github.com/seed-76f09577/turnwire/wasm/upload"
)

// liveUpload performs one upload. The page has the data: it sends the blocks, hashes ranges, keeps the record.
type liveUpload struct {
	serviceCalls
	pump
	id      uint32 // the page's number of it
	machine *upload.Machine
	policy  *retry.Policy

	// The page's mapUploadTicket runs in a task of its own: the answer waits for it.
	maps     bool
	unmapped retry.Done
	mapped   []byte
	mapError *api.Error
}

// StartUpload is contract.Control's.
func (b *Bridge) StartUpload(number, client uint32, p *contract.UploadParams) {
	c := b.clients.get(client)
	u := &liveUpload{id: number, maps: p.Maps, policy: c.policy(&p.Limits, retry.Repeatable)}
	config := upload.Config{
		Service:       c.Base,
		WorkspaceID:   p.WorkspaceID,
		Name:          p.Name,
		ContentType:   p.ContentType,
		Purpose:       p.Purpose,
		Size:          p.Size,
		Once:          p.Once,
		BlockSize:     p.BlockSize,
		Concurrency:   p.Concurrency,
		BlockTries:    p.BlockTries,
		BlockTimeout:  p.BlockTimeout,
		DataTimeout:   p.DataTimeout,
		ReportTimeout: p.ReportTimeout,
		Checksum:      upload.Checksum(p.Checksum),
		KnownSum:      p.KnownSum,
		Base64:        p.Base64,
		Policy:        u.policy,
		Resumable:     p.Resumable,
		Fingerprint:   p.Fingerprint,
	}
	var polls []api.Field
	if p.Wait != nil {
		w := c.waitConfig(p.Wait)
		config.Wait, polls = &w, fields(p.Wait.Headers)
	}
	if u.maps {
		config.MapTicket = func([]byte) ([]byte, *api.Error) { return u.mapped, u.mapError }
	}
	u.machine = upload.New(config)
	u.serviceCalls = serviceCalls{client: c, headers: fields(p.Headers), polls: polls, onAnswer: u.answered, onTimer: func() {
		u.machine.TimerFired(b.clock())
		u.flush()
	}}
	b.uploads.put(number, u)
	c.begin()
	if !b.page.Online() {
		u.machine.Offline(b.clock())
	}
	if p.Record != "" {
		u.machine.Restored(b.clock(), []byte(p.Record))
	} else {
		u.machine.Start(b.clock())
	}
	u.flush()
}

func (u *liveUpload) flush() { u.run(u.machine, u.perform) }

func (u *liveUpload) perform(effect retry.Effect) {
	if u.serviceCalls.perform(effect) {
		return
	}
	page := u.client.b.page
	switch e := effect.(type) {
	case upload.Store:
		r := e.Request
		headers := make([]contract.Header, len(r.Header))
		for i, f := range r.Header {
			headers[i] = contract.Header{f.Name, f.Value}
		}
		page.SendBlock(u.id, uint32(e.ID), &contract.StoreRequest{
			Method: r.Method, URL: r.URL, Headers: headers, From: r.From, To: r.To, Body: string(r.Body), Want: r.Want,
		})
	case upload.CancelStore:
		page.CancelBlock(u.id, uint32(e.ID))
	case upload.Hash:
		page.Hash(u.id, &contract.HashRange{From: e.From, To: e.To, State: e.State, Last: e.Last})
	case upload.Release:
		page.ReleaseData(u.id, e.Before)
	case upload.Report:
		p := e.Progress
		page.ShowProgress(u.id, &contract.Progress{
			Stage: p.Stage, LoadedBytes: p.LoadedBytes, TotalBytes: p.TotalBytes, BlocksDone: p.BlocksDone, BlocksTotal: p.BlocksTotal,
			BytesPerSecond: int64(p.BytesPerSecond), FileID: u.machine.FileID(), Protocol: contract.Protocol(u.machine.Protocol()),
		})
	case upload.Save:
		page.SaveRecord(u.id, string(e.Record))
	case upload.Forget:
		page.ForgetRecord(u.id)
	case upload.Status:
		page.UploadStatus(u.id, fileOf(&e.File))
	case upload.Finish:
		u.finish(e.Outcome)
	}
}

func (u *liveUpload) finish(o upload.Outcome) {
	c := u.client
	c.b.clearTimer(&u.timer)
	c.b.uploads.remove(u.id)
	level, facts := "info", []retry.Field{{Name: "fileId", Value: u.machine.FileID()}, {Name: "stage", Value: string(o.Stage)}}
	end := &contract.UploadEnd{Stage: o.Stage, Error: errorOf(o.Err)}
	if o.Err != nil {
		level = "warn"
		facts = append(facts, retry.Field{Name: "code", Value: o.Err.Code})
	} else if o.Stage == upload.Done {
		end.File = fileOf(&o.File)
	}
	c.log(level, "upload ended", facts...)
	c.b.page.UploadEnded(u.id, end)
	for _, file := range o.Untold {
		c.notify(file, u.headers, u.policy)
	}
	c.end()
}

func (u *liveUpload) answered(d retry.Done) {
	c := u.client
	if u.maps && d.Err == nil && u.machine.WantsTicket() {
		u.unmapped = d
		c.b.page.MapTicket(u.id, string(d.Body))
		return
	}
	// A request breaks before the browser says why.
	if d.Err != nil && d.Err.Kind == api.KindConnection && !c.b.page.Online() {
		u.machine.Offline(c.b.clock())
	}
	u.machine.Answered(c.b.clock(), d)
	u.flush()
}

// tell gives an upload an input, unless it has ended meanwhile.
func (b *Bridge) tell(number uint32, input func(m *upload.Machine, now int64)) {
	if u := b.uploads.get(number); u != nil {
		input(u.machine, b.clock())
		u.flush()
	}
}

// TicketMapped is contract.Control's.
func (b *Bridge) TicketMapped(number uint32, ticket string) { b.ticket(number, []byte(ticket), nil) }

// TicketRefused is contract.Control's.
func (b *Bridge) TicketRefused(number uint32, why string) {
	b.ticket(number, nil, &api.Error{Kind: api.KindUpload, Code: "map_ticket_failed",
		Message: "option mapUploadTicket did not make a ticket of the service's answer: " + why})
}

func (b *Bridge) ticket(number uint32, mapped []byte, err *api.Error) {
	if u := b.uploads.get(number); u != nil {
		u.mapped, u.mapError = mapped, err
		u.machine.Answered(b.clock(), u.unmapped)
		u.flush()
	}
}

// PauseUpload is contract.Control's.
func (b *Bridge) PauseUpload(number uint32) { b.tell(number, (*upload.Machine).Pause) }

// ResumeUpload is contract.Control's.
func (b *Bridge) ResumeUpload(number uint32) { b.tell(number, (*upload.Machine).Resume) }

// AbortUpload is contract.Control's.
func (b *Bridge) AbortUpload(number uint32) {
	if u := b.uploads.get(number); u != nil {
		u.hurried = true
	}
	b.tell(number, (*upload.Machine).Abort)
}

// UploadRecord is contract.Control's.
func (b *Bridge) UploadRecord(number uint32) (record string) {
	if u := b.uploads.get(number); u != nil {
		record = string(u.machine.Record())
	}
	return record
}

// StoreBegun is contract.Control's.
func (b *Bridge) StoreBegun(number, request uint32) {
	b.tell(number, func(m *upload.Machine, now int64) { m.StoreBegun(now, int(request)) })
}

// StoreProgress is contract.Control's.
func (b *Bridge) StoreProgress(number, request uint32, sent int64) {
	b.tell(number, func(m *upload.Machine, now int64) { m.StoreProgress(now, int(request), sent) })
}

// StoreAlive is contract.Control's.
func (b *Bridge) StoreAlive(number, request uint32) {
	b.tell(number, func(m *upload.Machine, now int64) { m.StoreAlive(now, int(request)) })
}

// StoreAnswered is contract.Control's.
func (b *Bridge) StoreAnswered(number, request uint32, answer *contract.StoreAnswer) {
	b.tell(number, func(m *upload.Machine, now int64) {
		m.StoreAnswered(now, int(request), upload.Answer{Status: answer.Status, Header: fields(answer.Headers), Body: []byte(answer.Body)})
	})
}

// StoreFailed is contract.Control's.
func (b *Bridge) StoreFailed(number, request uint32, why string) {
	b.tell(number, func(m *upload.Machine, now int64) { m.StoreFailed(now, int(request), why, !b.page.Online()) })
}

// Hashed is contract.Control's.
func (b *Bridge) Hashed(number uint32, state *contract.HashState) {
	b.tell(number, func(m *upload.Machine, now int64) {
		m.Hashed(now, upload.HashState{At: state.At, State: state.State, Sum: state.Sum})
	})
}

// DataMoved is contract.Control's.
func (b *Bridge) DataMoved(number uint32) { b.tell(number, (*upload.Machine).DataMoved) }

// DataFailed is contract.Control's.
func (b *Bridge) DataFailed(number uint32, at int64, why string) {
	b.tell(number, func(m *upload.Machine, now int64) { m.DataFailed(now, at, why) })
}
