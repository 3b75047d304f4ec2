package service

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// maxCounters bounds each map of counts; past it the counts start anew.
const maxCounters = 100_000

// debugCounts counts requests for tests, also those that a fault kept from the service.
type debugCounts struct {
	mu       sync.Mutex
	requests map[string]int // by method and path pattern
	keys     map[string]int // message requests by chat and Idempotency-Key
	faults   map[string]int // requests by endpoint and Idempotency-Key, or X-Fault where there is no key
}

func newDebugCounts() *debugCounts {
	return &debugCounts{requests: map[string]int{}, keys: map[string]int{}, faults: map[string]int{}}
}

func (d *debugCounts) count(in map[string]int, key string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(in) >= maxCounters {
		clear(in)
	}
	in[key]++
	return in[key]
}

func (d *debugCounts) request(pattern string)    { d.count(d.requests, pattern) }
func (d *debugCounts) keyed(chatID, key string)  { d.count(d.keys, chatID+"\n"+key) }
func (d *debugCounts) faulted(source string) int { return d.count(d.faults, source) }

// debugTurn is one turn as tests see it.
type debugTurn struct {
	TurnID string `json:"turn_id"`
	ChatID string `json:"chat_id"`
	Key    string `json:"idempotency_key"`
	Status status `json:"status"`
	// Requests counts the message requests that carried the key, Aborts the abort requests that came
	// while this was the newest turn of its chat.
	Requests int       `json:"requests"`
	Aborts   int       `json:"aborts"`
	Tools    []toolRun `json:"tools"`
	Events   int       `json:"events"`
}

func (s *Service) debugTurns(w http.ResponseWriter, _ *http.Request, _ *faults) *apiError {
	s.mu.Lock()
	var turns []*turn
	for _, c := range s.chats {
		turns = append(turns, slices.Collect(maps.Values(c.turns))...)
	}
	s.mu.Unlock()
	slices.SortFunc(turns, func(a, b *turn) int {
		if order := a.created.Compare(b.created); order != 0 {
			return order
		}
		return strings.Compare(a.id, b.id)
	})
	shown := make([]debugTurn, 0, len(turns))
	for _, t := range turns {
		s.debug.mu.Lock()
		requests := s.debug.keys[t.chatID+"\n"+t.key]
		s.debug.mu.Unlock()
		t.mu.Lock()
		shown = append(shown, debugTurn{
			TurnID: t.id, ChatID: t.chatID, Key: t.key, Status: t.shown,
			Requests: requests, Aborts: t.aborts, Tools: append([]toolRun{}, t.tools...), Events: len(t.events),
		})
		t.mu.Unlock()
	}
	writeJSON(w, http.StatusOK, shown)
	return nil
}

func (s *Service) debugRequests(w http.ResponseWriter, _ *http.Request, _ *faults) *apiError {
	s.debug.mu.Lock()
	counts := maps.Clone(s.debug.requests)
	s.debug.mu.Unlock()
	writeJSON(w, http.StatusOK, counts)
	return nil
}
