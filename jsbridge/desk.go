package jsbridge

import (
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
	"github.com/seed-76f09577/turnwire/wasm/upload"
)

// desk performs what an upload and a wait have in common: one request to the service at a time, a timer, the log.
type desk struct {
	client   *client
	headers  []api.Field // the caller's, for the requests to the service
	polls    []api.Field // the same of the wait, where it has its own
	onAnswer func(retry.Done)
	onTimer  func()

	call  *call  // under way; nil where there is none
	key   string // what the newest request carried
	timer timer
	// hurried: the page may be going away. A request carries the key of the one before, as a turn's abort does.
	hurried bool
}

// perform reports whether the effect was one of its own.
func (d *desk) perform(effect retry.Effect) bool {
	switch e := effect.(type) {
	case upload.Ask:
		d.ask(e)
	case upload.DropAsk:
		d.drop()
	case retry.SetTimer:
		d.client.b.setTimer(&d.timer, e.After, d.onTimer)
	case retry.StopTimer:
		d.client.b.clearTimer(&d.timer)
	case retry.Log:
		d.client.log(e.Level, e.Message, e.Fields...)
	default:
		return false
	}
	return true
}

// ask begins a call. The client does not hold it: the report of a failure has to go out after close too.
func (d *desk) ask(e upload.Ask) {
	lent := ""
	if d.hurried {
		lent = d.key
	}
	over := false
	headers := d.headers
	if e.Poll {
		headers = d.polls
	}
	k := newCall(d.client, e.Request, e.Policy, headers, func(done retry.Done) {
		over = true
		if d.call != nil {
			d.key = d.call.key
		}
		d.call = nil
		d.onAnswer(done)
	})
	k.lent = lent
	k.outlive()
	k.start()
	// A call may end before it has even begun, where no request can be made.
	if !over {
		d.call = k
	}
}

func (d *desk) drop() {
	if d.call != nil {
		d.key = d.call.key
		d.call.drop()
		d.call = nil
	}
}
