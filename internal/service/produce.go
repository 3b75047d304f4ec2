package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"
)

// maxEvents and maxTurnBytes bound the log of one turn.
const (
	maxEvents    = 250_000
	maxTurnBytes = 64 << 20
)

var errFault = errors.New("fault asked for by the request")

// produce runs a turn to its end, in a goroutine of its own: a client that leaves does not stop it.
func (s *Service) produce(t *turn, m Message) {
	defer s.turns.Done()
	defer close(t.done)
	defer t.cancel()
	started := s.cfg.Now()
	s.log.Info("turn started", "turn", t.id, "chat", t.chatID, "model", t.model)

	to := &sink{service: s, turn: t}
	err := to.run(m)
	verdict := statusCompleted
	if err != nil {
		verdict = statusFailed
	}
	ended := t.settle(verdict)

	var last []Event
	switch ended {
	case statusCompleted:
		last = []Event{t.completion()}
	case statusFailed:
		last = []Event{failureEvent(err)}
	}
	first, rest := t.unsaved()
	if !t.temporary {
		// Recorded before it is shown: what a client saw as complete stays complete after a crash.
		if err := s.journal.saveTurn(context.Background(), t, ended, first, append(rest, last...)); err != nil {
			s.log.Error("turn not saved", "turn", t.id, "error", err)
		}
	}
	// Before it is shown, for the chat's next message may come then.
	s.mu.Lock()
	if c := s.chats[t.chatID]; c != nil {
		c.answered(t)
	}
	s.mu.Unlock()
	t.show(ended, last...)
	s.mu.Lock()
	s.running--
	s.keep(t)
	s.mu.Unlock()
	s.log.Info("turn finished", "turn", t.id, "chat", t.chatID, "status", string(ended),
		"events", t.length(), "tools", len(t.toolRuns()), "ms", s.cfg.Now().Sub(started).Milliseconds())
}

func (t *turn) completion() Event {
	e, err := encodeEvent(TurnComplete, map[string]any{
		"turn_id": t.id,
		"model":   t.model,
		"usage":   t.usage(),
	})
	if err != nil {
		panic(err) // strings and integers always encode
	}
	return e
}

func failureEvent(err error) Event {
	data := map[string]any{"code": "agent_failed", "message": "the agent failed: " + err.Error()}
	var told *Failure
	switch {
	case errors.Is(err, errFault):
		data = map[string]any{"code": "model_overloaded", "message": "the model is overloaded, try again later"}
	case errors.As(err, &told):
		data = map[string]any{"code": told.Code, "message": told.Message}
		if told.RetryAfter > 0 {
			data["retry_after"] = math.Ceil(told.RetryAfter.Seconds())
		}
	}
	e, err := encodeEvent(ErrorEvent, data)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return e
}

func encodeEvent(kind Kind, data any) (Event, error) {
	encoded, err := encodeJSON(data)
	if err != nil {
		return Event{}, fmt.Errorf("encode %s: %w", kind, err)
	}
	return Event{Kind: kind, Data: encoded}, nil
}

// encodeJSON leaves < > & as they are: the answer is no HTML, and a replay from disk must have the
// bytes of the first stream.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// sink is the Sink of one turn.
type sink struct {
	service *Service
	turn    *turn
	emitted int
}

func (k *sink) run(m Message) (err error) {
	defer func() {
		if p := recover(); p != nil {
			k.service.log.Error("agent panicked", "turn", k.turn.id, "panic", fmt.Sprint(p))
			err = errors.New("internal error")
		}
	}()
	return k.service.cfg.Agent.Run(k.turn.ctx, m, k)
}

func (k *sink) Emit(ctx context.Context, kind Kind, data any) error {
	if kind == TurnComplete || kind == ErrorEvent {
		return fmt.Errorf("an agent must not emit %s: the service does", kind)
	}
	e, err := encodeEvent(kind, data)
	if err != nil {
		return err
	}
	if k.emitted > 0 {
		if err := k.wait(ctx); err != nil {
			return err
		}
	}
	t := k.turn
	switch {
	case k.emitted == t.failAfter:
		return errFault
	case k.emitted >= maxEvents || t.bytes+len(e.Data) > maxTurnBytes:
		return fmt.Errorf("the turn is larger than %d events or %d bytes", maxEvents, maxTurnBytes)
	}
	if err := t.add(e); err != nil {
		return err
	}
	k.emitted++
	// A call that is about to act is on disk before it acts; text can wait for the next such moment.
	if (kind == ToolCall || kind == ToolResult) && !t.temporary {
		first, events := t.unsaved()
		if err := k.service.journal.saveTurn(ctx, t, statusRunning, first, events); err != nil {
			return fmt.Errorf("save events: %w", err)
		}
	}
	return nil
}

func (k *sink) RunTool(ctx context.Context, callID, name string, run func(context.Context) (any, error)) (any, error) {
	if err := k.wait(ctx); err != nil {
		return nil, err
	}
	t := k.turn
	if err := t.ran(toolRun{CallID: callID, Name: name}); err != nil {
		return nil, err
	}
	log := k.service.log.With("turn", t.id, "tool", name, "call", callID)
	log.Info("tool started")
	result, err := run(ctx)
	log.Info("tool finished", "ok", err == nil)
	return result, err
}

func (k *sink) Spend(t Tokens) { k.turn.spend(t) }

// wait lets the turn's pace go by.
func (k *sink) wait(ctx context.Context) error {
	if k.turn.pace <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(k.turn.pace)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
