package jsbridge

import (
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
	"github.com/seed-76f09577/turnwire/wasm/upload"
)

// serviceCalls performs what an upload and a wait have in common: one request to the service at a time, a timer, the log.
type serviceCalls struct {
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
func (s *serviceCalls) perform(effect retry.Effect) bool {
	switch e := effect.(type) {
	case upload.Ask:
		s.ask(e)
	case upload.DropAsk:
		s.drop()
	case retry.SetTimer:
		s.client.b.setTimer(&s.timer, e.After, s.onTimer)
	case retry.StopTimer:
		s.client.b.clearTimer(&s.timer)
	case retry.Log:
		s.client.log(e.Level, e.Message, e.Fields...)
	default:
		return false
	}
	return true
}

// ask begins a call. The client does not hold it: the report of a failure has to go out after close too.
func (s *serviceCalls) ask(e upload.Ask) {
	lent := ""
	if s.hurried {
		lent = s.key
	}
	over := false
	headers := s.headers
	if e.Poll {
		headers = s.polls
	}
	k := newCall(s.client, e.Request, e.Policy, headers, func(done retry.Done) {
		over = true
		if s.call != nil {
			s.key = s.call.key
		}
		s.call = nil
		s.onAnswer(done)
	})
	k.lent = lent
	k.outlive()
	k.start()
	// A call may end before it has even begun, where no request can be made.
	if !over {
		s.call = k
	}
}

func (s *serviceCalls) drop() {
	if s.call != nil {
		s.key = s.call.key
		s.call.drop()
		s.call = nil
	}
}
