package turn

import (
	"slices"

	"github.com/seed-76f09577/turnwire/wasm/retry"
)

// Line is the order in which a page's messages and aborts of one chat leave. The interface's abort names a chat and no
// turn: it stops whatever the chat is producing when it arrives. So a message waits for the aborts under way, and an
// abort waits while another turn is under way that it could stop instead (profile, "Cancelling"). It is a machine like
// the turn's own. Turns and calls are named by numbers that are not used again; times are milliseconds.
//
//	Ready comes for each Send of a turn, once it has its key; Stop for its SendAbort; Over when it has ended, after Stop.
//	Abort comes for each abort that is sent, also for one that no Stop asked for, and Answered when it has ended.
//
//	Go      → Left, when the browser is given the message; nothing where the turn has let that request go.
//	Stop    → Abort.
//	Refuse  → nothing; the turn's abort has failed.
//	GiveUp  → Answered, when the call is cancelled.
//
// It has no end: it can be forgotten when it has no turns and no calls.
type Line struct {
	retry.Effects
	waiting []uint32 // turns whose message is ready to leave
	until   int64    // when the first of them leaves, whatever is under way; 0 for never
	sent    []uint32 // turns whose message has left and that are not over
	stops   []stop   // asked for, and not sent yet
	aborts  []abort  // under way
	timer   int64    // when the timer that is set comes; 0 for none
}

type stop struct {
	turn uint32
	due  int64 // when it can't wait any longer; 0 for never
}

type abort struct {
	call uint32
	due  int64 // when a message need not wait for it any longer; 0 for never
}

// The effects of a line.
type (
	// Go lets a message leave; tell Left.
	Go struct{ Turn uint32 }
	// Stop sends one abort for these turns; tell Abort.
	Stop struct{ Turns []uint32 }
	// Refuse says that the service can't be told to stop a turn: another is under way.
	Refuse struct{ Turn uint32 }
	// GiveUp ends an abort that a message has waited for long enough; tell Answered.
	GiveUp struct{ Call uint32 }
)

// Ready tells that a turn's message could leave now, for the first time or again.
func (l *Line) Ready(now int64, turn uint32) {
	if len(l.aborts)+len(l.stops) == 0 {
		l.Emit(Go{turn})
		return
	}
	l.waiting = append(l.waiting, turn)
	if len(l.waiting) == 1 {
		l.until = l.latest()
	}
	l.arm(now)
}

// latest is when a message need not wait any longer: when every abort that it waits for is past its limit. 0 where one has
// none.
func (l *Line) latest() (due int64) {
	for _, a := range l.aborts {
		if a.due == 0 {
			return 0
		}
		due = max(due, a.due)
	}
	for _, s := range l.stops {
		if s.due == 0 {
			return 0
		}
		due = max(due, s.due)
	}
	return due
}

// Left tells that the browser has been given a turn's message.
func (l *Line) Left(turn uint32) {
	if !slices.Contains(l.sent, turn) {
		l.sent = append(l.sent, turn)
	}
}

// Over tells that a turn has ended, or that its message is not ready to leave any more.
func (l *Line) Over(now int64, turn uint32) {
	is := func(other uint32) bool { return other == turn }
	l.sent, l.waiting = slices.DeleteFunc(l.sent, is), slices.DeleteFunc(l.waiting, is)
	l.stop()
	l.arm(now)
}

// Stop tells that the service is to stop a turn whose message has left. timeout is how long that may wait for other turns,
// and then a message for its answer; 0 for no limit.
func (l *Line) Stop(now int64, turn uint32, timeout int64) {
	s := stop{turn: turn}
	if timeout > 0 {
		s.due = now + timeout
	}
	l.stops = append(l.stops, s)
	l.stop()
	l.arm(now)
}

// stop sends one abort for all turns that are to be stopped, unless another turn is under way.
func (l *Line) stop() {
	if len(l.stops) == 0 {
		return
	}
	var turns []uint32
	for _, s := range l.stops {
		turns = append(turns, s.turn)
	}
	for _, other := range l.sent {
		if !slices.Contains(turns, other) {
			return
		}
	}
	l.stops = nil
	l.Emit(Stop{turns})
}

// afterLimit is how many ms a message waits beyond an abort's own limit before it gives the abort up: the abort's own error
// says more, so it must come first, and not by chance.
const afterLimit = 50

// Abort tells that an abort has been sent. timeout is its own limit, and how long a message waits for all its tries; 0 for
// no limit.
func (l *Line) Abort(now int64, call uint32, timeout int64) {
	a := abort{call: call}
	if timeout > 0 {
		a.due = now + timeout + afterLimit
	}
	l.aborts = append(l.aborts, a)
}

// Answered tells that an abort is answered, has failed or was given up.
func (l *Line) Answered(now int64, call uint32) {
	l.aborts = slices.DeleteFunc(l.aborts, func(a abort) bool { return a.call == call })
	l.letGo()
	l.arm(now)
}

// letGo lets the waiting messages leave once no abort is asked for or under way.
func (l *Line) letGo() {
	if len(l.aborts)+len(l.stops) > 0 {
		return
	}
	for _, turn := range l.waiting {
		l.Emit(Go{turn})
	}
	l.waiting = nil
}

// TimerFired tells that the timer set last is due.
func (l *Line) TimerFired(now int64) {
	l.timer = 0
	// The messages that wait leave now, also where an abort was asked for since they began to wait.
	enough := len(l.waiting) > 0 && l.until != 0 && l.until <= now
	if enough {
		for _, a := range l.aborts {
			l.Emit(GiveUp{a.call})
		}
	}
	l.stops = slices.DeleteFunc(l.stops, func(s stop) bool {
		late := enough || s.due != 0 && s.due <= now
		if late {
			l.Emit(Refuse{s.turn})
		}
		return late
	})
	l.letGo()
	l.arm(now)
}

// arm sets the timer to the earliest moment at which something is due.
func (l *Line) arm(now int64) {
	due := int64(0)
	add := func(at int64) {
		if at != 0 && (due == 0 || at < due) {
			due = at
		}
	}
	if len(l.waiting) > 0 {
		add(l.until)
	}
	for _, s := range l.stops {
		add(s.due)
	}
	switch {
	case due == l.timer:
	case due == 0:
		l.Emit(retry.StopTimer{})
	default:
		l.Emit(retry.SetTimer{After: max(due-now, 0)})
	}
	l.timer = due
}
