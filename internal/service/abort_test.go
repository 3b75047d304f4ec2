package service_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-76f09577/turnwire/internal/service"
)

func TestAbortRefusals(t *testing.T) {
	s := serve(t)
	chat := s.chat()
	cases := map[string]struct {
		chat, authorization string
		status              int
		code                string
	}{
		"unknown chat": {"chat_none", "Bearer " + key, 404, "chat_not_found"},
		"no key":       {chat, "", 401, "missing_api_key"},
		"wrong key":    {chat, "Bearer other", 401, "invalid_api_key"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			resp, body := s.call("POST", "/v1/chats/"+c.chat+"/abort", "", "Authorization", c.authorization)
			require.Equal(t, c.status, resp.StatusCode)
			require.Equal(t, c.code, errorCode(t, resp, body))
		})
	}
}

func TestAbortWhenNothingRuns(t *testing.T) {
	s := serve(t)
	chat := s.chat()
	s.abort(chat)
	frames := s.send(chat, "k", "count to 3").whole()
	s.abort(chat)
	s.abort(chat)
	require.Equal(t, frames, s.send(chat, "k", "count to 3").whole())
	require.Equal(t, "completed", s.turns()[0].Status)
}

func TestAbortInTheText(t *testing.T) {
	s := serve(t)
	chat := s.chat()
	one := s.send(chat, "k", "count to 5", "X-Fault", forEver)
	two := s.send(chat, "k", "count to 5")
	first := one.next()
	require.Equal(t, first, two.next())
	s.abort(chat)
	s.abort(chat)
	require.Empty(t, one.whole())
	require.Empty(t, two.whole())

	turns := s.turns()
	require.Equal(t, "cancelled", turns[0].Status)
	require.Equal(t, 2, turns[0].Aborts)
	s.logs.wait(t, "turn aborted", map[string]any{"turn": turns[0].TurnID})
	s.logs.wait(t, "turn finished", map[string]any{"turn": turns[0].TurnID, "status": "cancelled"})
	require.Equal(t, []frame{first}, s.send(chat, "k", "count to 5").whole())
	s.send(chat, "k2", "count to 5").whole()
}

func TestAbortBetweenTools(t *testing.T) {
	inTool := make(chan struct{})
	noTool := func(context.Context) (any, error) { return nil, nil }
	var after error
	ended := make(chan struct{})
	s := serve(t, withAgent(func(ctx context.Context, _ service.Message, to service.Sink) error {
		defer close(ended)
		if _, err := to.RunTool(ctx, "call_1", "slow", func(ctx context.Context) (any, error) {
			close(inTool)
			<-ctx.Done() // a tool stops on abort
			return nil, ctx.Err()
		}); err == nil {
			t.Error("the tool was not stopped")
		}
		// Even an agent that goes on with another context runs no tool and shows no event.
		_, after = to.RunTool(context.Background(), "call_2", "late", noTool)
		if err := to.Emit(context.Background(), service.TextDelta, map[string]string{"chunk": "late"}); err == nil {
			t.Error("an event was taken after the abort")
		}
		return nil
	}))
	chat := s.chat()
	stream := s.send(chat, "k", "go")
	<-inTool
	s.abort(chat)
	<-ended
	require.Error(t, after)
	require.Empty(t, stream.whole())
	turns := s.turns()
	require.Equal(t, "cancelled", turns[0].Status)
	require.Zero(t, turns[0].Events)
	require.Len(t, turns[0].Tools, 1)
	require.Equal(t, "call_1", turns[0].Tools[0].CallID)
}

func TestAbortBeforeTheToolRuns(t *testing.T) {
	called := make(chan struct{})
	s := serve(t, withAgent(func(ctx context.Context, _ service.Message, to service.Sink) error {
		if err := to.Emit(ctx, service.ToolCall, map[string]string{"tool_call_id": "call_1"}); err != nil {
			return err
		}
		close(called)
		_, err := to.RunTool(ctx, "call_1", "never", func(context.Context) (any, error) {
			t.Error("the tool ran")
			return nil, nil
		})
		return err
	}))
	chat := s.chat()
	stream := s.send(chat, "k", "go", "X-Fault", forEver)
	kind, _ := stream.next().typed(t)
	require.Equal(t, "tool_call", kind)
	<-called
	s.abort(chat)
	require.Empty(t, stream.whole())
	require.Empty(t, s.turns()[0].Tools)
}

func TestAbortAStreamThatIsBehind(t *testing.T) {
	s := serve(t)
	chat := s.chat()
	// The turn is far ahead of what this stream has written, and then stands still.
	stream := s.send(chat, "k", "count to 100000", "X-Fault", "slow_chunks_ms=600000&pace_ms=1")
	s.abort(chat)
	frames, _ := stream.rest()
	require.Empty(t, frames)
	require.Equal(t, http.StatusOK, stream.resp.StatusCode)
}
