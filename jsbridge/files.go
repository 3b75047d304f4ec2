package jsbridge

import (
	"github.com/seed-76f09577/turnwire/jsbridge/contract"
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
	"github.com/seed-76f09577/turnwire/wasm/upload"
)

// liveNotice tells the service of a failed file that it could not be told of, when there is a network again.
type liveNotice struct {
	serviceCalls
	pump
	machine *upload.Notice
	place   uint32 // among all notices
}

func (c *client) notify(file upload.Untold, headers []api.Field, policy *retry.Policy) {
	n := &liveNotice{machine: upload.NewNotice(file, policy)}
	n.serviceCalls = serviceCalls{client: c, headers: headers, onAnswer: func(d retry.Done) {
		n.machine.Answered(c.b.clock(), d)
		n.flush()
	}, onTimer: func() {
		n.machine.TimerFired(c.b.clock())
		n.flush()
	}}
	n.place = c.b.notices.add(n)
	c.begin()
	c.log("warn", "the service will be told later", retry.Field{Name: "fileId", Value: file.FileID})
	n.machine.Start(!c.b.page.Online())
	n.flush()
}

func (n *liveNotice) flush() {
	n.run(n.machine, func(effect retry.Effect) {
		if !n.perform(effect) {
			n.client.b.clearTimer(&n.timer)
			n.client.b.notices.take(n.place)
			n.client.end()
		}
	})
}

// liveWait performs one wait for a file.
type liveWait struct {
	serviceCalls
	pump
	awaited
	machine *upload.Wait
	place   uint32 // among what the client has open
	listed  uint32 // among all waits
}

// WaitFile is contract.Control's.
func (b *Bridge) WaitFile(number, client uint32, p *contract.WaitParams) {
	c := b.clients.get(client)
	w := &liveWait{machine: upload.NewWait(p.FileID, c.waitConfig(&p.WaitLimits))}
	w.serviceCalls = serviceCalls{client: c, headers: fields(p.Headers), onAnswer: func(d retry.Done) {
		w.machine.Answered(b.clock(), d)
		w.flush()
	}, onTimer: func() {
		w.machine.TimerFired(b.clock())
		w.flush()
	}}
	b.await(number, &w.awaited, w)
	w.listed = b.waits.add(w)
	w.place = c.open.add(w)
	c.begin()
	if !b.page.Online() {
		w.machine.Offline(b.clock())
	}
	w.machine.Start(b.clock())
	w.flush()
}

func (c *client) waitConfig(limits *contract.WaitLimits) upload.WaitConfig {
	return upload.WaitConfig{
		Policy:      c.policy(&limits.Limits, retry.Repeatable),
		Interval:    limits.Interval,
		MaxInterval: limits.MaxInterval,
		Limit:       limits.WaitTimeout,
	}
}

func (w *liveWait) flush() { w.run(w.machine, w.perform) }

func (w *liveWait) perform(effect retry.Effect) {
	if w.serviceCalls.perform(effect) {
		return
	}
	b := w.client.b
	switch e := effect.(type) {
	case upload.Status:
		if w.number != 0 {
			b.page.FileStatus(w.number, fileOf(&e.File))
		}
	case upload.Finish:
		w.end()
		end := failed(e.Outcome.Err)
		if e.Outcome.Err == nil {
			end.File = fileOf(&e.Outcome.File)
		}
		b.told(&w.awaited, end)
	}
}

func (w *liveWait) end() {
	c := w.client
	if _, ok := c.open.take(w.place); ok {
		c.b.clearTimer(&w.timer)
		c.b.waits.take(w.listed)
		c.end()
	}
}

// cancel is of a wait that nobody listens to any more.
func (w *liveWait) cancel() {
	w.machine.Cancel()
	w.flush()
	w.end()
}

func (w *liveWait) clientClosed(err *api.Error) {
	w.cancel()
	w.client.b.told(&w.awaited, failed(err))
}
