package upload

import (
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
)

const (
	noticeFirst = 5_000 // ms between a try and the next, growing twofold
	noticeMost  = 60_000
	noticeTries = 60 // about an hour, while there is a network
)

// Notice tells the service of a file that failed while it could not be told, with patience: without a network it waits
// for one. Times are milliseconds. Start comes first, once.
//
//	Ask     → Answered, once.
//	Finish  is the end.
//
// Offline and Online may come at any time.
type Notice struct {
	retry.Effects
	file    Untold
	policy  *retry.Policy
	tries   int
	asking  bool
	offline bool
	over    bool // the service was told, or never will be
}

// NewNotice makes a notice; Start begins it.
func NewNotice(file Untold, policy *retry.Policy) *Notice {
	return &Notice{file: file, policy: policy.With(retry.Repeatable)}
}

// Start waits for the first try: what could not be told a moment ago can't be now.
func (n *Notice) Start(offline bool) {
	n.offline = offline
	n.rest()
}

func (n *Notice) rest() {
	if n.offline {
		n.Emit(retry.SetTimer{After: recheck})
		return
	}
	wait := int64(noticeMost)
	if n.tries < 4 {
		wait = noticeFirst << n.tries
	}
	n.Emit(retry.SetTimer{After: wait})
}

func (n *Notice) ask() {
	n.asking = true
	n.tries++
	n.Emit(retry.StopTimer{})
	n.Emit(Ask{Request: api.ReportFailed(n.file.FileID, n.file.Why), Policy: n.policy})
}

// TimerFired tells that the timer set last is due.
func (n *Notice) TimerFired(int64) {
	if !n.over && !n.asking {
		n.ask()
	}
}

// Offline tells that the browser knows of no network: what fails then costs no try.
func (n *Notice) Offline(int64) { n.offline = true }

// Online tells that there is a network again, and tries at once.
func (n *Notice) Online(int64) {
	n.offline = false
	if !n.over && !n.asking {
		n.ask()
	}
}

// Answered tells how the call that Ask began has ended.
func (n *Notice) Answered(_ int64, d retry.Done) {
	if n.over || !n.asking {
		return
	}
	n.asking = false
	if n.offline {
		n.tries--
	}
	if d.Err != nil && d.Err.Retryable && n.tries < noticeTries {
		n.rest()
		return
	}
	n.over = true
	n.Emit(retry.StopTimer{})
	n.Emit(Finish{Outcome{Stage: Failed, Err: d.Err}})
}
