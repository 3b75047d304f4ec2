package turn

import (
	"slices"
)

// takes is the arrival of a message; the same again changes nothing.
func (w *chatWorld) takes(t *chatTurn) bool {
	switch {
	case t.taken:
	case w.current == nil:
		w.produce(t)
	case w.queues:
		t.taken = true
		w.next = append(w.next, t)
	default:
		return false
	}
	return true
}

func (w *chatWorld) produce(t *chatTurn) {
	t.taken = true
	w.current = t
	w.after(w.rng.Int64N(3_000), func() { w.finish(t) })
}

func (w *chatWorld) finish(t *chatTurn) {
	if w.current != t {
		return
	}
	t.done = true
	w.current = nil
	if len(w.next) > 0 {
		next := w.next[0]
		w.next = w.next[1:]
		w.produce(next)
	}
}

// stops is the arrival of an abort: it stops whatever the chat is producing.
func (w *chatWorld) stops(c *chatCall) {
	for _, of := range c.of {
		of.arrivals++
	}
	t := w.current
	if t == nil {
		return
	}
	// Of a turn that the page has let go nobody can tell whether the service goes on with it.
	if len(c.of) > 0 && !slices.Contains(c.of, t) && !c.givenUp && !t.over {
		w.fail("abort %d, of turn %d, stops turn %d", c.id, c.of[0].id, t.id)
	}
	w.tally.Stopped++
	t.stopped = true
	w.finish(t)
}
