package service

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

const (
	maxBody = 4 << 20
	// keptMessages and keptRunes bound what a chat remembers of its own messages, and of their answers.
	keptMessages = 20
	keptRunes    = 8000
)

// chat is one conversation. Its fields are guarded by Service.mu.
type chat struct {
	id, workspace, agent string
	temporary            bool
	created              time.Time
	// messages counts the messages ever taken, recent holds the newest.
	messages int
	recent   []Exchange
	turns    map[string]*turn // by Idempotency-Key
	newest   *turn
	// streams counts open streams; idleSince is when the last one ended.
	streams   int
	idleSince time.Time
}

func (c *chat) gone(now time.Time) bool {
	return c.temporary && c.streams == 0 && (c.newest == nil || c.newest.over()) && now.Sub(c.idleSince) >= temporaryFor
}

func (c *chat) remember(text string) {
	c.messages++
	c.recent = append(c.recent, Exchange{Text: beginning(text)})
	if len(c.recent) > keptMessages {
		c.recent = slices.Clone(c.recent[1:])
	}
}

// answered takes the answer to the newest message from its turn. Service.mu must be held.
func (c *chat) answered(t *turn) {
	if n := len(c.recent); n > 0 {
		c.recent[n-1].Answer = t.answer()
	}
}

// beginning is as much of a text as a chat remembers.
func beginning(text string) string {
	if r := []rune(text); len(r) > keptRunes {
		return string(r[:keptRunes]) + "…"
	}
	return text
}

// find returns a chat that exists. Service.mu must be held.
func (s *Service) find(id string) (*chat, *apiError) {
	c := s.chats[id]
	if c != nil && c.gone(s.cfg.Now()) {
		s.forget(c)
		c = nil
	}
	if c == nil {
		return nil, failure(http.StatusNotFound, "chat_not_found", "there is no such chat, or it was temporary and is over")
	}
	return c, nil
}

// forget drops a chat and its turns. Service.mu must be held.
func (s *Service) forget(c *chat) {
	delete(s.chats, c.id)
	s.kept.drop(c.id)
}

// createChat is endpoint 1 of the spec.
func (s *Service) createChat(w http.ResponseWriter, r *http.Request, f *faults) *apiError {
	workspace := r.PathValue("workspace_id")
	if !slices.Contains(s.cfg.Workspaces, workspace) {
		return failure(http.StatusNotFound, "workspace_not_found", "there is no such workspace")
	}
	fields, _, problem := readObject(w, r)
	if problem != nil {
		return problem
	}
	var agent string
	if problem := stringField(fields, "agent_id", true, &agent); problem != nil {
		return problem
	}
	var temporary bool
	if raw, ok := fields["is_temporary"]; ok {
		if json.Unmarshal(raw, &temporary) != nil || string(raw) == "null" {
			return invalid("is_temporary", "is_temporary must be a boolean")
		}
	}
	if _, ok := s.cfg.Agents[agent]; !ok {
		return failure(http.StatusNotFound, "agent_not_found", "there is no such agent in this workspace")
	}

	now := s.cfg.Now().UTC()
	c := &chat{
		id: newID("chat"), workspace: workspace, agent: agent, temporary: temporary,
		created: now, idleSince: now, turns: map[string]*turn{},
	}
	if !temporary {
		if err := s.journal.saveChat(r.Context(), c); err != nil {
			s.log.Error("chat not saved", "error", err)
			return failure(http.StatusInternalServerError, "storage_failed", "the chat could not be saved")
		}
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return shuttingDown()
	}
	for _, other := range s.chats {
		if other.gone(now) {
			s.forget(other)
		}
	}
	s.chats[c.id] = c
	s.mu.Unlock()

	f.writeChat(w, c.id, map[string]any{
		"chat_id":      c.id,
		"workspace_id": workspace,
		"agent_id":     agent,
		"is_temporary": temporary,
		"created_at":   now.Format(time.RFC3339Nano),
	})
	return nil
}

func shuttingDown() *apiError {
	return unavailable("shutting_down", "the service is shutting down")
}
