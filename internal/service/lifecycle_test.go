package service_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-76f09577/turnwire/internal/service"
)

func TestCloseWaitsForTurns(t *testing.T) {
	steps := make(chan struct{})
	s := serve(t, withAgent(stepper(steps)))
	chat := s.chat()
	stream := s.send(chat, "k", "go")
	steps <- struct{}{}
	stream.next()

	closed := make(chan error)
	go func() { closed <- s.svc.Close(context.Background()) }()
	// A replay is still answered, a new turn is not.
	for {
		status, code := s.refused(chat, "k2", message("go"))
		if status == 503 {
			require.Equal(t, "shutting_down", code)
			break
		}
		require.Equal(t, 409, status)
	}
	resp, _ := s.call("POST", "/v1/workspaces/demo/chats", `{"agent_id":"assistant"}`)
	require.Equal(t, 503, resp.StatusCode)
	require.Equal(t, "1", resp.Header.Get("Retry-After"))

	replay := s.send(chat, "k", "go")
	require.Equal(t, "1", replay.next().id)
	close(steps)
	require.Equal(t, []string{"turn_complete"}, kinds(t, stream.whole()))
	require.NoError(t, <-closed)
}

func TestCloseInterruptsWhatIsLeft(t *testing.T) {
	s := serve(t)
	stream := s.send(s.chat(), "k", "count to 4", "X-Fault", forEver)
	stream.next()
	s.stop()
	require.Empty(t, stream.whole())
	s.logs.wait(t, "turn finished", map[string]any{"status": "interrupted"})
}

func TestTooManyTurns(t *testing.T) {
	s := serve(t, func(cfg *service.Config) { cfg.MaxRunning = 2 })
	one, two, three := s.chat(), s.chat(), s.chat()
	for _, chat := range []string{one, two} {
		s.send(chat, "k", "count to 4", "X-Fault", forEver).next()
	}
	status, code := s.refused(three, "k", message("count to 4"))
	require.Equal(t, 503, status)
	require.Equal(t, "overloaded", code)
	s.abort(one)
	s.send(three, "k", "count to 4").whole()
}

func TestOldTurnsMakeRoom(t *testing.T) {
	dir := t.TempDir()
	small := func(cfg *service.Config) { cfg.Dir, cfg.MaxKept = dir, 20_000 }
	s := serve(t, small)
	chat := s.chat()
	for _, k := range []string{"a", "b", "c"} {
		s.send(chat, k, "write 90 words").whole()
		s.logs.wait(t, "turn finished", map[string]any{"turn": s.newest().TurnID})
	}
	var keys []string
	for _, turn := range s.turns() {
		keys = append(keys, turn.Key)
	}
	require.Equal(t, []string{"b", "c"}, keys)
	s.stop()
	require.Len(t, serve(t, small).turns(), 2)
}

func (s *server) newest() debugTurn {
	s.t.Helper()
	turns := s.turns()
	require.NotEmpty(s.t, turns)
	return turns[len(turns)-1]
}

func TestTurnsAreBounded(t *testing.T) {
	s := serve(t, withAgent(func(ctx context.Context, _ service.Message, to service.Sink) error {
		chunk := map[string]string{"chunk": strings.Repeat("x", 8<<20)}
		for {
			if err := to.Emit(ctx, service.TextDelta, chunk); err != nil {
				return err
			}
		}
	}))
	chat := s.chat()
	s.send(chat, "k", "without end").leave()
	record := s.logs.wait(t, "turn finished", map[string]any{"status": "failed"})
	beforeLast := strconv.Itoa(int(record["events"].(float64)) - 1)
	_, data := s.send(chat, "k", "without end", "Last-Event-ID", beforeLast).next().typed(t)
	require.Contains(t, data["message"], "the turn is larger than")
}
