//go:build js && wasm

package jsbridge

import (
	"github.com/hack-pad/safejs"
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
	"github.com/seed-76f09577/turnwire/wasm/upload"
)

// getFile(client, fileId, options, settle) → call
func getFile(args []safejs.Value) any {
	c, fileID, settle := clients.get(index(args[0])), str(args[1]), args[3]
	request := api.GetFile(fileID)
	return newCall(c, request, policy(c, args[2], retry.Repeatable), fields(property(args[2], "headers")), func(d retry.Done) {
		err := d.Err
		var file api.File
		if err == nil {
			ok := false
			if file, ok = api.ParseFile(fileID, d.Body); !ok {
				err = api.NotAFile(request, d.Response, d.Body)
			}
		}
		if err != nil {
			invoke(settle, errorJSON(err))
			return
		}
		invoke(settle, safejs.Null(), fileJSON(&file))
	}).start()
}

// reportFailed(client, fileId, why, options, settle) → call: of an upload that its instance could not end.
func reportFailed(args []safejs.Value) any {
	c, settle := clients.get(index(args[0])), args[4]
	k := newCall(c, api.ReportFailed(str(args[1]), str(args[2])), policy(c, args[3], retry.Repeatable), fields(property(args[3], "headers")), func(d retry.Done) {
		settled(settle)(d.Err)
	})
	k.outlive()
	return k.start()
}

// liveNotice tells the service of a failed file that it could not be told of, when there is a network again.
type liveNotice struct {
	desk
	pump
	id      uint32
	machine *upload.Notice
}

var notices table[*liveNotice]

func notify(c *client, file upload.Untold, headers []api.Field, policy retry.Policy) {
	n := &liveNotice{machine: upload.NewNotice(file, policy)}
	n.desk = desk{client: c, headers: headers, onAnswer: func(d retry.Done) {
		n.machine.Answered(clock(), d)
		n.flush()
	}, onTimer: func() {
		n.machine.TimerFired(clock())
		n.flush()
	}}
	n.id = notices.add(n)
	c.record("warn", "the service will be told later", retry.Field{Name: "fileId", Value: file.FileID})
	n.machine.Start(!online())
	n.flush()
}

func (n *liveNotice) flush() {
	n.run(n.machine, func(effect retry.Effect) {
		if !n.perform(effect) {
			n.timer.clear()
			notices.remove(n.id)
		}
	})
}

// liveWait performs one wait for a file.
type liveWait struct {
	desk
	pump
	id      uint32
	machine *upload.Wait
	status  safejs.Value
	settle  safejs.Value
}

var waits table[*liveWait]

// waitFile(client, fileId, options, status, settle) → wait. status is called with each record that a poll brings.
func waitFile(args []safejs.Value) any {
	c, options := clients.get(index(args[0])), args[2]
	w := &liveWait{status: args[3], settle: args[4], machine: upload.NewWait(str(args[1]), waitConfig(c, options))}
	w.desk = desk{client: c, headers: fields(property(options, "headers")), onAnswer: func(d retry.Done) {
		w.machine.Answered(clock(), d)
		w.flush()
	}, onTimer: func() {
		w.machine.TimerFired(clock())
		w.flush()
	}}
	w.id = waits.add(w)
	c.waits[w] = true
	if !online() {
		w.machine.Offline(clock())
	}
	w.machine.Start(clock())
	w.flush()
	return w.id
}

func (w *liveWait) flush() { w.run(w.machine, w.perform) }

func (w *liveWait) perform(effect retry.Effect) {
	if w.desk.perform(effect) {
		return
	}
	switch e := effect.(type) {
	case upload.Status:
		invoke(w.status, fileJSON(&e.File))
	case upload.Finish:
		w.end()
		if e.Outcome.Err != nil {
			invoke(w.settle, errorJSON(e.Outcome.Err))
		} else {
			invoke(w.settle, safejs.Null(), fileJSON(&e.Outcome.File))
		}
	}
}

func (w *liveWait) end() {
	w.timer.clear()
	delete(w.client.waits, w)
	waits.remove(w.id)
}

// drop ends a wait that nobody listens to any more.
func (w *liveWait) drop() {
	w.machine.Cancel()
	w.flush()
	w.end()
}

// cancelWait(wait): the caller's signal was aborted; the loader has rejected the promise already.
func cancelWait(args []safejs.Value) any {
	if w := waits.get(index(args[0])); w != nil {
		w.drop()
	}
	return nil
}
