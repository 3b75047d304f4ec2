package service

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// maxKey bounds an Idempotency-Key in bytes; the spec does not.
const maxKey = 255

// sendMessage is endpoint 2 of the spec. A key seen before replays its turn from the first event, or
// from after Last-Event-ID where that names an event of the turn.
func (s *Service) sendMessage(w http.ResponseWriter, r *http.Request, f *faults) *apiError {
	chatID := r.PathValue("chat_id")
	s.mu.Lock()
	_, problem := s.find(chatID)
	s.mu.Unlock()
	if problem != nil {
		return problem
	}
	key := r.Header.Get("Idempotency-Key")
	switch {
	case key == "":
		return failure(http.StatusBadRequest, "idempotency_key_missing", "the header Idempotency-Key is missing")
	case len(key) > maxKey:
		return failure(http.StatusBadRequest, "idempotency_key_too_long", fmt.Sprintf("Idempotency-Key must not be longer than %d bytes", maxKey))
	}
	fields, digest, problem := readObject(w, r)
	if problem != nil {
		return problem
	}
	m, problem := parseMessage(fields)
	if problem != nil {
		return problem
	}
	t, replay, problem := s.turnFor(r.Context(), chatID, key, digest, m, f)
	if problem != nil {
		return problem
	}
	defer s.streamEnded(chatID)
	s.stream(w, r, t, f, replay)
	return nil
}

// turnFor finds the turn of a key or starts one, and counts one stream more on its chat.
func (s *Service) turnFor(ctx context.Context, chatID, key, digest string, m Message, f *faults) (t *turn, replay bool, problem *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, problem := s.find(chatID)
	if problem != nil {
		return nil, false, problem
	}
	if t := c.turns[key]; t != nil {
		if t.digest != digest {
			return nil, false, failure(http.StatusConflict, "idempotency_key_reused", "this Idempotency-Key was used with another body")
		}
		c.streams++
		return t, true, nil
	}
	switch {
	case s.closed:
		return nil, false, shuttingDown()
	case c.newest != nil && !c.newest.over():
		return nil, false, failure(http.StatusConflict, "turn_in_progress", "this chat is producing a turn; abort it or wait for its end")
	case m.Model != "" && len(s.cfg.Models) > 0 && !slices.Contains(s.cfg.Models, m.Model):
		problem := failure(http.StatusUnprocessableEntity, "unknown_model",
			fmt.Sprintf("there is no model %q here: model must be one of %s, or be left out", m.Model, strings.Join(s.cfg.Models, ", ")))
		problem.Param = "model"
		return nil, false, problem
	case s.running >= s.cfg.MaxRunning:
		return nil, false, unavailable("overloaded", fmt.Sprintf("%d turns are running", s.cfg.MaxRunning))
	}

	m.WorkspaceID, m.ChatID, m.TurnID = c.workspace, c.id, newID("turn")
	m.Earlier = slices.Clone(c.recent)
	if m.Overridden = m.Model != ""; !m.Overridden {
		m.Model = s.cfg.Agents[c.agent]
	}
	c.remember(m.Text)
	m.Number = c.messages
	t = newTurn(m, key, digest, s.cfg.Now().UTC())
	t.temporary = c.temporary
	t.pace = f.durationOr(faultPace, s.cfg.Pace)
	t.failAfter = f.number(faultErrorEvents)
	// The record is durable before anything runs: a key must not run a tool twice, whatever dies.
	if !c.temporary {
		if err := s.journal.startTurn(ctx, c, t); err != nil {
			s.log.Error("turn not saved", "error", err)
			return nil, false, failure(http.StatusInternalServerError, "storage_failed", "the turn could not be saved")
		}
	}
	c.turns[key], c.newest = t, t
	c.streams++
	s.running++
	s.turns.Add(1)
	go s.produce(t, m)
	return t, false, nil
}

func (s *Service) streamEnded(chatID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.chats[chatID]; c != nil {
		c.streams--
		c.idleSince = s.cfg.Now().UTC()
	}
}

// parseMessage reads the body of the spec's section "Message request".
func parseMessage(fields map[string]json.RawMessage) (Message, *apiError) {
	var m Message
	if problem := stringField(fields, "model", false, &m.Model); problem != nil {
		return m, problem
	}
	var parts []map[string]json.RawMessage
	if json.Unmarshal(fields["parts"], &parts) != nil || len(parts) == 0 {
		return m, invalid("parts", "parts must be an array of at least one object")
	}
	var texts []string
	for i, part := range parts {
		var kind, text string
		if json.Unmarshal(part["type"], &kind) != nil || kind == "" {
			return m, invalid(fmt.Sprintf("parts[%d].type", i), "type must be a string that is not empty")
		}
		// Only text is shown in the spec; what else may come is taken and left to the agent.
		if kind != "text" {
			m.OtherParts = append(m.OtherParts, kind)
			continue
		}
		raw := part["text"]
		if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
			return m, invalid(fmt.Sprintf("parts[%d].text", i), "text must be a string")
		}
		texts = append(texts, text)
	}
	m.Text = strings.Join(texts, "\n\n")
	return m, nil
}

// abort is endpoint 3 of the spec. It answers when the turn has stopped: no tool starts after the 204.
func (s *Service) abort(w http.ResponseWriter, r *http.Request, _ *faults) *apiError {
	s.mu.Lock()
	c, problem := s.find(r.PathValue("chat_id"))
	var t *turn
	if c != nil {
		t = c.newest
	}
	s.mu.Unlock()
	if problem != nil {
		return problem
	}
	if t != nil {
		if t.abort() {
			s.log.Info("turn aborted", "turn", t.id, "chat", t.chatID)
		}
		select {
		case <-t.done:
		case <-r.Context().Done():
		}
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
