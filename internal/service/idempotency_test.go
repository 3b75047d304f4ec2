package service_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-76f09577/turnwire/internal/service"
)

// stepper is an agent that emits one number for every value it is given, runs a tool first, and ends
// when the channel is closed.
func stepper(steps <-chan struct{}) script {
	return func(ctx context.Context, _ service.Message, to service.Sink) error {
		if _, err := to.RunTool(ctx, "call_1", "hammer", func(context.Context) (any, error) { return nil, nil }); err != nil {
			return err
		}
		for n := 1; ; n++ {
			select {
			case _, more := <-steps:
				if !more {
					return nil
				}
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := to.Emit(ctx, service.TextDelta, map[string]string{"chunk": strconv.Itoa(n) + " "}); err != nil {
				return err
			}
		}
	}
}

func TestReplayOfARunningTurn(t *testing.T) {
	steps := make(chan struct{})
	s := serve(t, withAgent(stepper(steps)))
	chat := s.chat()
	first := s.send(chat, "k", "go")
	steps <- struct{}{}
	steps <- struct{}{}
	first.next()
	first.next()
	first.leave() // a client that leaves stops nothing

	second := s.send(chat, "k", "go")
	require.Equal(t, "1", second.next().id)
	require.Equal(t, "2", second.next().id)
	third := s.send(chat, "k", "go", "Last-Event-ID", "2")
	steps <- struct{}{}
	require.Equal(t, "3", second.next().id)
	require.Equal(t, "3", third.next().id)
	close(steps)
	require.Equal(t, []string{"turn_complete"}, kinds(t, second.whole()))
	require.Equal(t, []string{"turn_complete"}, kinds(t, third.whole()))

	turns := s.turns()
	require.Len(t, turns, 1)
	require.Equal(t, 3, turns[0].Requests)
	require.Len(t, turns[0].Tools, 1)
}

func TestReplayOfAFinishedTurn(t *testing.T) {
	s := serve(t)
	chat := s.chat()
	first := s.send(chat, "k", "What is 2 * 3 and what time is it in Asia/Tokyo?").whole()
	s.send(chat, "another", "count to 2").whole()
	cases := map[string]struct {
		last string
		from int
	}{
		"whole":               {last: "", from: 0},
		"after an event":      {last: "5", from: 5},
		"after the end":       {last: strconv.Itoa(len(first)), from: len(first)},
		"beyond the end":      {last: strconv.Itoa(len(first) + 1), from: 0},
		"id of another kind":  {last: "abc", from: 0},
		"zero":                {last: "0", from: 0},
		"negative":            {last: "-3", from: 0},
		"larger than any int": {last: "99999999999999999999", from: 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			again := s.send(chat, "k", "What is 2 * 3 and what time is it in Asia/Tokyo?", "Last-Event-ID", c.last).whole()
			require.Equal(t, first[c.from:], append([]frame{}, again...))
		})
	}
	require.Len(t, s.turns()[0].Tools, 2)
}

func TestKeyWithAnotherBody(t *testing.T) {
	s := serve(t)
	chat, other := s.chat(), s.chat()
	running := s.send(chat, "running", "count to 3", "X-Fault", forEver)
	running.next()
	s.send(other, "finished", "count to 3").whole()
	cases := map[string]struct {
		chat, key, body string
		same            bool
	}{
		"running, other text":   {chat, "running", message("count to 4"), false},
		"finished, other text":  {other, "finished", message("count to 4"), false},
		"finished, other model": {other, "finished", `{"parts":[{"type":"text","text":"count to 3"}],"model":"m"}`, false},
		"finished, other bytes": {other, "finished", ` { "parts" : [ {"text":"count to 3", "type":"text"} ] } `, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.same {
				resp, _ := s.call("POST", "/v1/chats/"+c.chat+"/messages", c.body, "Idempotency-Key", c.key)
				require.Equal(t, 200, resp.StatusCode)
				return
			}
			status, code := s.refused(c.chat, c.key, c.body)
			require.Equal(t, 409, status)
			require.Equal(t, "idempotency_key_reused", code)
		})
	}
	t.Run("same key in another chat", func(t *testing.T) {
		s.send(other, "running", "count to 9").whole()
	})
}

func TestSameKeyAtTheSameTime(t *testing.T) {
	s := serve(t)
	chat := s.chat()
	var wg sync.WaitGroup
	answers, errs := make([]string, 8), make([]error, 8)
	for i := range answers {
		wg.Go(func() {
			resp, err := s.do(t.Context(), "POST", "/v1/chats/"+chat+"/messages", message("1+1, 2+2, 3+3"), "Idempotency-Key", "k")
			if err != nil {
				errs[i] = err
				return
			}
			defer resp.Body.Close()
			read, err := io.ReadAll(resp.Body)
			answers[i], errs[i] = string(read), err
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	require.Contains(t, answers[0], "turn_complete")
	for _, answer := range answers {
		require.Equal(t, answers[0], answer)
	}
	turns := s.turns()
	require.Len(t, turns, 1)
	require.Equal(t, len(answers), turns[0].Requests)
	require.Len(t, turns[0].Tools, 3)
}

func TestRestart(t *testing.T) {
	dir := t.TempDir()
	onDisk := func(cfg *service.Config) { cfg.Dir = dir }
	before := serve(t, onDisk)
	chat, temporary := before.chat(), before.chat(`,"is_temporary":true`)
	done := before.send(chat, "done", "What is 1/3? Say <b>it</b> & more").whole()
	before.send(temporary, "k", "count to 2").whole()
	gone := before.send(chat, "aborted", "count to 5", "X-Fault", forEver)
	gone.next()
	before.abort(chat)
	failed := before.send(chat, "failed", "count to 5", "X-Fault", "error_events=2").whole()
	cut := before.send(chat, "cut", "count to 7", "X-Fault", forEver)
	first := cut.next()
	before.stop()
	rest, _ := cut.rest()
	require.Empty(t, rest)

	after := serve(t, onDisk)
	require.Equal(t, done, after.send(chat, "done", "What is 1/3? Say <b>it</b> & more").whole())
	require.Len(t, after.send(chat, "aborted", "count to 5").whole(), 1)
	require.Equal(t, failed, after.send(chat, "failed", "count to 5").whole())
	require.Equal(t, []frame{first}, after.send(chat, "cut", "count to 7").whole())
	status, _ := after.refused(chat, "done", message("something else"))
	require.Equal(t, 409, status)
	status, _ = after.refused(temporary, "k", message("count to 2"))
	require.Equal(t, 404, status)

	var statuses []string
	for _, turn := range after.turns() {
		statuses = append(statuses, fmt.Sprint(turn.Key, " ", turn.Status, " ", len(turn.Tools)))
	}
	require.Equal(t, []string{"done completed 1", "aborted cancelled 0", "failed failed 0", "cut interrupted 0"}, statuses)
	frames := after.send(chat, "next", "hello").whole()
	require.Contains(t, text(t, frames, service.TextDelta), "message **5** of this chat")
}

func TestRestartAfterACrash(t *testing.T) {
	dir, copied := t.TempDir(), t.TempDir()
	standing := make(chan struct{})
	before := serve(t, func(cfg *service.Config) {
		cfg.Dir = dir
		cfg.Agent = script(func(ctx context.Context, _ service.Message, to service.Sink) error {
			if _, err := to.RunTool(ctx, "call_1", "hammer", func(context.Context) (any, error) { return nil, nil }); err != nil {
				return err
			}
			for _, kind := range []service.Kind{service.ToolCall, service.ToolResult, service.TextDelta} {
				if err := to.Emit(ctx, kind, map[string]string{"tool_call_id": "call_1"}); err != nil {
					return err
				}
			}
			close(standing)
			<-ctx.Done()
			return ctx.Err()
		})
	})
	chat := before.chat()
	before.send(chat, "k", "go")
	<-standing
	// What a crash at this moment would leave behind.
	require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))

	after := serve(t, func(cfg *service.Config) {
		cfg.Dir = copied
		cfg.Agent = script(func(context.Context, service.Message, service.Sink) error {
			t.Error("the turn was run again")
			return nil
		})
	})
	replay := after.send(chat, "k", "go").whole()
	require.Equal(t, []string{"tool_call", "tool_result"}, kinds(t, replay), "what was not recorded is not shown")
	turns := after.turns()
	require.Len(t, turns, 1)
	require.Equal(t, "interrupted", turns[0].Status)
	require.Len(t, turns[0].Tools, 1)
}

func TestFailingStorage(t *testing.T) {
	dir := t.TempDir()
	entered, goOn := make(chan struct{}), make(chan struct{})
	s := serve(t, func(cfg *service.Config) {
		cfg.Dir = dir
		cfg.Agent = script(func(ctx context.Context, _ service.Message, to service.Sink) error {
			close(entered)
			<-goOn
			return to.Emit(ctx, service.ToolCall, map[string]string{})
		})
	})
	chat := s.chat()
	stream := s.send(chat, "k", "hello")
	<-entered
	require.NoError(t, s.svc.BreakStorage())
	close(goOn)
	frames, err := stream.rest()
	require.NoError(t, err)
	require.Equal(t, "error", kinds(t, frames)[len(frames)-1])
	status, code := s.refused(chat, "k2", message("again"))
	require.Equal(t, 500, status)
	require.Equal(t, "storage_failed", code)
	resp, body := s.call("POST", "/v1/workspaces/demo/chats", `{"agent_id":"assistant"}`)
	require.Equal(t, "storage_failed", errorCode(t, resp, body))
}

func TestConfigIsChecked(t *testing.T) {
	full := service.Config{Keys: []string{"k"}, Workspaces: []string{"w"}, Agents: map[string]string{"a": "m"}, Agent: script(nil)}
	cases := map[string]struct {
		change func(*service.Config)
		says   string
	}{
		"no keys":       {func(c *service.Config) { c.Keys = nil }, "Keys"},
		"empty key":     {func(c *service.Config) { c.Keys = []string{""} }, "key must not be empty"},
		"no workspaces": {func(c *service.Config) { c.Workspaces = nil }, "Workspaces"},
		"no agents":     {func(c *service.Config) { c.Agents = nil }, "Agents"},
		"no agent":      {func(c *service.Config) { c.Agent = nil }, "Agent"},
		"no folder":     {func(c *service.Config) { c.Dir = "/dev/null/x" }, "open /dev/null/x"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cfg := full
			c.change(&cfg)
			_, err := service.New(t.Context(), cfg)
			require.ErrorContains(t, err, c.says)
		})
	}
	s, err := service.New(t.Context(), full)
	require.NoError(t, err)
	require.NoError(t, s.Close(t.Context()))
	require.NoError(t, s.Close(t.Context()))
}
