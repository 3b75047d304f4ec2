package service

import "slices"

// maxKept bounds the event data of finished turns, in bytes. The oldest turns go first, and their
// idempotency records with them, so that a service left running does not grow for ever.
const maxKept = 512 << 20

// retention is the queue of finished turns, oldest first. Service.mu guards it.
type retention struct {
	turns []*turn
	bytes int
}

// add takes a finished turn and returns those that have to go for it.
func (r *retention) add(t *turn) (evicted []*turn) {
	r.turns = append(r.turns, t)
	r.bytes += t.cost()
	for r.bytes > maxKept && len(r.turns) > 1 {
		evicted = append(evicted, r.turns[0])
		r.bytes -= r.turns[0].cost()
		r.turns[0] = nil
		r.turns = r.turns[1:]
	}
	return evicted
}

// drop forgets the turns of a chat.
func (r *retention) drop(chatID string) {
	r.turns = slices.DeleteFunc(r.turns, func(t *turn) bool {
		if t.chatID == chatID {
			r.bytes -= t.cost()
			return true
		}
		return false
	})
}

// cost estimates what a finished turn takes in memory: its data, and a header for every event.
func (t *turn) cost() int { return t.bytes + 64*len(t.events) + 512 }
