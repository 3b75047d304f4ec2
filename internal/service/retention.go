package service

import (
	"context"
	"slices"
)

// retention is the queue of finished turns, oldest first, which take at most so many bytes.
// Service.mu guards it.
type retention struct {
	most  int
	turns []*turn
	bytes int
}

// add takes a finished turn and returns those that have to go for it.
func (r *retention) add(t *turn) (evicted []*turn) {
	r.turns = append(r.turns, t)
	r.bytes += t.cost()
	for r.bytes > r.most && len(r.turns) > 1 {
		evicted = append(evicted, r.turns[0])
		r.bytes -= r.turns[0].cost()
		r.turns[0] = nil
		r.turns = r.turns[1:]
	}
	return evicted
}

// keep takes a finished turn and forgets those that have to go for it. Service.mu must be held.
func (s *Service) keep(t *turn) {
	for _, old := range s.kept.add(t) {
		if c := s.chats[old.chatID]; c != nil {
			delete(c.turns, old.key)
		}
		if err := s.journal.deleteTurn(context.Background(), old.id); err != nil {
			s.log.Error("turn not deleted", "turn", old.id, "error", err)
		}
	}
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
