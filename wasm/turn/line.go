package turn

import (
	"slices"

	"github.com/seed-76f09577/turnwire/wasm/retry"
)

// Line is the order in which a page's messages and aborts of one chat leave. The interface's abort names a chat and no
// turn: it stops whatever the chat is producing when it arrives. So a message waits for the aborts under way, and no
// abort is sent for a turn while another's message is under way (profile, "Cancelling"). It is a machine like the turn's own:
// its effects are Go, GiveUp, retry.SetTimer and retry.StopTimer. Turns and calls are named by their handles; times are
// milliseconds.
type Line struct {
	retry.Effects
	waiting []uint32 // turns whose message is ready to leave
	sent    []uint32 // turns whose message has left and that are not over
	aborts  []abort  // under way
	timer   bool
}

type abort struct {
	call uint32
	due  int64 // when a message need not wait for it any longer; 0 for never
}

// The effects of a line.
type (
	// Go lets a message leave; tell Left.
	Go struct{ Turn uint32 }
	// GiveUp ends an abort that a message has waited for long enough; tell Answered.
	GiveUp struct{ Call uint32 }
)

// Ready tells that a turn's message could leave now, for the first time or again.
func (l *Line) Ready(now int64, turn uint32) {
	if len(l.aborts) == 0 {
		l.Emit(Go{turn})
		return
	}
	l.waiting = append(l.waiting, turn)
	if len(l.waiting) > 1 {
		return
	}
	due := int64(0)
	for _, a := range l.aborts {
		if a.due == 0 {
			return // nobody wants a limit
		}
		due = max(due, a.due)
	}
	if due <= now {
		l.TimerFired(now)
		return
	}
	l.timer = true
	l.Emit(retry.SetTimer{After: due - now})
}

// Left tells that the browser has been given a turn's message.
func (l *Line) Left(turn uint32) {
	if !slices.Contains(l.sent, turn) {
		l.sent = append(l.sent, turn)
	}
}

// Over tells that a turn has ended, or that its message is not ready to leave any more.
func (l *Line) Over(turn uint32) {
	is := func(other uint32) bool { return other == turn }
	l.sent, l.waiting = slices.DeleteFunc(l.sent, is), slices.DeleteFunc(l.waiting, is)
	l.stop()
}

// Alone reports whether no other turn's message has left whose turn is under way: an abort could stop that one.
func (l *Line) Alone(turn uint32) bool {
	for _, other := range l.sent {
		if other != turn {
			return false
		}
	}
	return true
}

// Abort tells that an abort has been sent. timeout is how long a message waits for it at the most; 0 for no limit.
func (l *Line) Abort(now int64, call uint32, timeout int64) {
	a := abort{call: call}
	if timeout > 0 {
		a.due = now + timeout
	}
	l.aborts = append(l.aborts, a)
}

// Answered tells that an abort is answered, has failed or was given up.
func (l *Line) Answered(call uint32) {
	l.aborts = slices.DeleteFunc(l.aborts, func(a abort) bool { return a.call == call })
	if len(l.aborts) > 0 {
		return
	}
	for _, turn := range l.waiting {
		l.Emit(Go{turn})
	}
	l.waiting = nil
	l.stop()
}

// TimerFired tells that the timer set last is due: what waits has waited long enough, also for an abort that was asked for
// meanwhile.
func (l *Line) TimerFired(int64) {
	l.timer = false
	for _, a := range l.aborts {
		l.Emit(GiveUp{a.call})
	}
}

// stop takes the timer back where nothing waits any more.
func (l *Line) stop() {
	if l.timer && len(l.waiting) == 0 {
		l.timer = false
		l.Emit(retry.StopTimer{})
	}
}
