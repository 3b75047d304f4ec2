package retry

import "github.com/seed-76f09577/turnwire/wasm/api"

// Effect is something that the bridge is asked to do: one of this package's types, or one of its user's.
type Effect any

// Effects are what a machine asks for, until its driver takes them. Every machine embeds it, and is driven in one way:
// after each input the driver takes the effects and performs them in order, until there are none; then comes the next
// input. Where performing one brings an input at once, such as a request that can't be made, it is given at once, and the
// effects that it adds come after the others. A machine has one timer: SetTimer is answered by TimerFired, unless another
// SetTimer or StopTimer comes first. What comes after a machine's end does nothing. Which input answers which effect is
// said above each machine.
type Effects struct{ waiting []Effect }

// Emit adds an effect, to be done after those before.
func (e *Effects) Emit(effect Effect) { e.waiting = append(e.waiting, effect) }

// Wants reports whether Take would return any.
func (e *Effects) Wants() bool { return len(e.waiting) > 0 }

// Take returns what is to be done since the last call, in order.
func (e *Effects) Take() []Effect {
	out := e.waiting
	e.waiting = nil
	return out
}

type (
	// Send sends a request, with an API key asked for now.
	Send struct {
		Request *api.Request
		Attempt int // from 1
	}
	// KeyLate says that the API key's function has given none in time: the next request asks it again.
	KeyLate struct{}
	// Cancel lets go of the request or stream under way; whatever it still brings is ignored.
	Cancel struct{}
	// ReadBody asks for the answer's body, at most Limit bytes of it.
	ReadBody struct{ Limit int }
	// SetTimer asks for a call of TimerFired, and replaces the timer set before.
	SetTimer struct{ After int64 }
	// StopTimer takes the timer back.
	StopTimer struct{}
	// Log is a record for the caller's log.
	Log struct {
		Level   string
		Message string
		Fields  []Field
	}
	// Field is one fact of a record: a string or an int64.
	Field struct {
		Name  string
		Value any
	}
)
