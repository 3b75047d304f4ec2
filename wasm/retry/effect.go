package retry

// Effect is something that the bridge is asked to do: one of this package's types, or one of its user's.
type Effect any

// Effects are what a machine asks for, until its driver takes them. A machine embeds it.
type Effects struct{ waiting []Effect }

// Emit adds an effect, to be done after those before. It is called in eighty places: inlined, its append made the module
// 8 KB larger (brotli).
//
//go:noinline
func (e *Effects) Emit(effect Effect) { e.waiting = append(e.waiting, effect) }

// Wants reports whether Take would return any.
func (e *Effects) Wants() bool { return len(e.waiting) > 0 }

// Take returns what is to be done since the last call, in order.
func (e *Effects) Take() []Effect {
	out := e.waiting
	e.waiting = nil
	return out
}
