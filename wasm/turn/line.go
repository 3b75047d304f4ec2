package turn

import (
	"slices"

	"github.com/seed-76f09577/turnwire/wasm/retry"
)

// Line is the order in which a page's messages and aborts of one chat leave. The interface's abort names a chat and no
// turn: it stops whatever the chat is producing when it arrives. So a message waits for the aborts under way, and no
// abort is sent for a turn once a newer message has left (profile, "Cancelling"). It is a machine like the turn's own:
// its effects are Go, GiveUp, retry.SetTimer and retry.StopTimer. Turns and calls are named by their handles; times are
// milliseconds.
type Line struct {
	retry.Effects
	waiting []uint32 // turns whose message is ready to leave
	sent    []uint32 // turns whose message has left and that are not over, in that order
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
	l.TimerFired(now)
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
	l.arm(0)
}

// Newest reports whether no message has left after this turn's whose turn is under way.
func (l *Line) Newest(turn uint32) bool {
	i := slices.Index(l.sent, turn)
	return i == len(l.sent)-1 || i < 0 && len(l.sent) == 0
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
	l.arm(0)
}

// TimerFired tells that the timer set last is due.
func (l *Line) TimerFired(now int64) {
	if len(l.waiting) == 0 {
		return
	}
	for _, a := range l.aborts {
		if a.due != 0 && a.due <= now {
			l.Emit(GiveUp{a.call})
		}
	}
	l.arm(now)
}

// arm sets the timer to the next abort that is to be given up.
func (l *Line) arm(now int64) {
	due := int64(0)
	for _, a := range l.aborts {
		if a.due > now && (due == 0 || a.due < due) {
			due = a.due
		}
	}
	switch {
	case len(l.waiting) == 0 || due == 0:
		if l.timer {
			l.timer = false
			l.Emit(retry.StopTimer{})
		}
	case now > 0:
		l.timer = true
		l.Emit(retry.SetTimer{After: due - now})
	}
}
