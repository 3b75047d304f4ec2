package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-76f09577/turnwire/internal/service"
)

func TestMessageValidation(t *testing.T) {
	s := serve(t)
	chat := s.chat()
	cases := map[string]struct {
		chat, body string
		headers    []string
		status     int
		code       string
	}{
		"no idempotency key":     {headers: []string{"Idempotency-Key", ""}, status: 400, code: "idempotency_key_missing"},
		"long idempotency key":   {headers: []string{"Idempotency-Key", strings.Repeat("k", 256)}, status: 400, code: "idempotency_key_too_long"},
		"no API key":             {headers: []string{"Authorization", ""}, status: 401, code: "missing_api_key"},
		"wrong API key":          {headers: []string{"Authorization", "Bearer nothing"}, status: 401, code: "invalid_api_key"},
		"unknown chat":           {chat: "chat_none", status: 404, code: "chat_not_found"},
		"not JSON":               {body: `{`, status: 400, code: "invalid_json"},
		"two values":             {body: `{"parts":[]} {}`, status: 400, code: "invalid_json"},
		"no parts":               {body: `{}`, status: 422, code: "invalid_field"},
		"empty parts":            {body: `{"parts":[]}`, status: 422, code: "invalid_field"},
		"parts not an array":     {body: `{"parts":"hello"}`, status: 422, code: "invalid_field"},
		"part not an object":     {body: `{"parts":["hello"]}`, status: 422, code: "invalid_field"},
		"part null":              {body: `{"parts":[null]}`, status: 422, code: "invalid_field"},
		"part without type":      {body: `{"parts":[{"text":"hello"}]}`, status: 422, code: "invalid_field"},
		"part of type number":    {body: `{"parts":[{"type":1}]}`, status: 422, code: "invalid_field"},
		"text missing":           {body: `{"parts":[{"type":"text"}]}`, status: 422, code: "invalid_field"},
		"text null":              {body: `{"parts":[{"type":"text","text":null}]}`, status: 422, code: "invalid_field"},
		"text a number":          {body: `{"parts":[{"type":"text","text":5}]}`, status: 422, code: "invalid_field"},
		"model not a string":     {body: `{"parts":[{"type":"text","text":"x"}],"model":{}}`, status: 422, code: "invalid_field"},
		"model null":             {body: `{"parts":[{"type":"text","text":"x"}],"model":null}`, status: 422, code: "invalid_field"},
		"model empty":            {body: `{"parts":[{"type":"text","text":"x"}],"model":""}`, status: 422, code: "invalid_field"},
		"unsupported media type": {headers: []string{"Content-Type", "text/plain"}, status: 415, code: "unsupported_media_type"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			at, body := chat, message("count to 1")
			if c.chat != "" {
				at = c.chat
			}
			if c.body != "" {
				body = c.body
			}
			status, code := s.refused(at, "key-"+name, body, c.headers...)
			require.Equal(t, c.status, status)
			require.Equal(t, c.code, code)
		})
	}
	require.Empty(t, s.turns())
}

func TestStreamShape(t *testing.T) {
	s := serve(t, func(cfg *service.Config) { cfg.Faults = false })
	stream := s.send(s.chat(), "k", "What is 6 * 7?")
	h := stream.resp.Header
	require.Equal(t, "text/event-stream; charset=utf-8", h.Get("Content-Type"))
	require.Equal(t, "no-store", h.Get("Cache-Control"))
	require.Equal(t, "no", h.Get("X-Accel-Buffering"))
	require.NotEmpty(t, h.Get("X-Request-Id"))

	frames := stream.whole()
	var result map[string]any
	for i, f := range frames {
		require.Equal(t, strconv.Itoa(i+1), f.id)
		kind, data := f.typed(t)
		if kind == "tool_result" {
			result = data
		}
	}
	require.Equal(t, map[string]any{"value": 42.0}, result["result"])
	kind, data := frames[len(frames)-1].typed(t)
	require.Equal(t, "turn_complete", kind)
	require.NotEmpty(t, data["turn_id"])
	require.Equal(t, "model-of-the-agent", data["model"])
	require.Equal(t, map[string]any{"events": float64(len(frames)), "tool_calls": 1.0}, data["usage"])
	require.Contains(t, text(t, frames, service.TextDelta), "**42**")

	record := s.logs.wait(t, "turn finished", map[string]any{"status": "completed"})
	for _, msg := range []string{"turn started", "tool started", "tool finished"} {
		require.Equal(t, record["turn"], s.logs.wait(t, msg, nil)["turn"])
	}
	s.ended(stream)
	require.NotContains(t, s.logs.String(), key)
}

func TestModelOverride(t *testing.T) {
	s := serve(t)
	chat := s.chat()
	resp, body := s.call("POST", "/v1/chats/"+chat+"/messages",
		`{"parts":[{"type":"text","text":"count to 2"}],"model":"a-larger-model"}`, "Idempotency-Key", "k")
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Contains(t, body, `"model":"a-larger-model"`)
	require.Contains(t, body, `\"a-larger-model\"`)
	last := s.send(chat, "k2", "count to 2").whole()
	_, data := last[len(last)-1].typed(t)
	require.Equal(t, "model-of-the-agent", data["model"])
}

func TestUnknownPartsReachTheAgent(t *testing.T) {
	got := make(chan service.Message, 1)
	s := serve(t, withAgent(func(_ context.Context, m service.Message, _ service.Sink) error {
		got <- m
		return nil
	}))
	resp, _ := s.call("POST", "/v1/chats/"+s.chat()+"/messages",
		`{"parts":[{"type":"image","url":"x"},{"type":"text","text":"one"},{"type":"text","text":"two"}],"more":1}`, "Idempotency-Key", "k")
	require.Equal(t, http.StatusOK, resp.StatusCode)
	m := <-got
	require.Equal(t, "one\n\ntwo", m.Text)
	require.Equal(t, []string{"image"}, m.OtherParts)
	require.Equal(t, 1, m.Number)
}

func TestAgentRemembersMessages(t *testing.T) {
	got := make(chan service.Message, 1)
	s := serve(t, withAgent(func(_ context.Context, m service.Message, _ service.Sink) error {
		got <- m
		return nil
	}))
	chat := s.chat()
	for i := range 25 {
		s.send(chat, fmt.Sprint(i), fmt.Sprint("message ", i)).whole()
		m := <-got
		require.Equal(t, i+1, m.Number)
		require.Len(t, m.Earlier, min(i, 20))
		if i > 0 {
			require.Equal(t, fmt.Sprint("message ", i-1), m.Earlier[len(m.Earlier)-1].Text)
		}
	}
}

func TestAgentFailures(t *testing.T) {
	cases := map[string]struct {
		agent   script
		message string
	}{
		"error": {func(context.Context, service.Message, service.Sink) error { return errors.New("no luck") }, "the agent failed: no luck"},
		"panic": {func(context.Context, service.Message, service.Sink) error { panic("secret state") }, "the agent failed: internal error"},
		"its own end": {func(ctx context.Context, _ service.Message, to service.Sink) error {
			return to.Emit(ctx, service.TurnComplete, nil)
		}, "the agent failed: an agent must not emit turn_complete: the service does"},
		"data without a JSON": {func(ctx context.Context, _ service.Message, to service.Sink) error {
			return to.Emit(ctx, service.TextDelta, make(chan int))
		}, "the agent failed: encode text_delta: json: unsupported type: chan int"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, withAgent(c.agent))
			chat := s.chat()
			frames := s.send(chat, "k", "hello").whole()
			require.Len(t, frames, 1)
			kind, data := frames[0].typed(t)
			require.Equal(t, "error", kind)
			require.Equal(t, map[string]any{"code": "agent_failed", "message": c.message}, data)
			s.logs.wait(t, "turn finished", map[string]any{"status": "failed"})
			s.send(chat, "k2", "the chat goes on").whole()
		})
	}
}

func TestOneTurnAtATime(t *testing.T) {
	s := serve(t)
	chat, other := s.chat(), s.chat()
	running := s.send(chat, "k1", "count to 3", "X-Fault", forEver)
	running.next()
	status, code := s.refused(chat, "k2", message("count to 4"))
	require.Equal(t, 409, status)
	require.Equal(t, "turn_in_progress", code)
	s.send(other, "k2", "count to 4").whole()
	s.abort(chat)
	s.send(chat, "k2", "count to 4").whole()
}

func TestHeartbeats(t *testing.T) {
	cases := map[string]struct {
		heartbeat time.Duration
		headers   []string
	}{
		"of the service": {heartbeat: time.Millisecond, headers: []string{"X-Fault", forEver}},
		"of the request": {headers: []string{"X-Fault", forEver + "&heartbeat_ms=1"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(cfg *service.Config) { cfg.Heartbeat = c.heartbeat })
			stream := s.send(s.chat(), "k", "count to 3", c.headers...)
			stream.next()
			for range 3 {
				f, err := stream.read()
				require.NoError(t, err)
				require.True(t, f.comment)
			}
		})
	}
}

func TestCORS(t *testing.T) {
	for name, faults := range map[string]bool{"with faults": true, "without faults": false} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(cfg *service.Config) { cfg.Faults, cfg.Origins = faults, []string{"https://page.example"} })
			for _, path := range []string{"/v1/workspaces/demo/chats", "/v1/chats/any/messages", "/v1/chats/any/abort"} {
				resp, body := s.call("OPTIONS", path, "", "Authorization", "", "Origin", "https://page.example",
					"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,content-type,idempotency-key")
				h := resp.Header
				require.Equal(t, http.StatusNoContent, resp.StatusCode)
				require.Empty(t, body)
				require.Equal(t, "https://page.example", h.Get("Access-Control-Allow-Origin"))
				require.Equal(t, "POST", h.Get("Access-Control-Allow-Methods"))
				require.Equal(t, "600", h.Get("Access-Control-Max-Age"))
				allowed := "Authorization, Content-Type, Idempotency-Key, Last-Event-ID"
				if faults {
					allowed += ", X-Fault"
				}
				require.Equal(t, allowed, h.Get("Access-Control-Allow-Headers"))

				resp, _ = s.call("POST", path, "{}", "Authorization", "", "Origin", "https://page.example")
				require.Equal(t, http.StatusUnauthorized, resp.StatusCode)
				require.Equal(t, "https://page.example", resp.Header.Get("Access-Control-Allow-Origin"))
				require.Equal(t, "x-request-id, retry-after", resp.Header.Get("Access-Control-Expose-Headers"))
			}
		})
	}
}

func TestDebugIsOffWithoutFaults(t *testing.T) {
	s := serve(t, func(cfg *service.Config) { cfg.Faults = false })
	for _, path := range []string{"/debug/turns", "/debug/requests"} {
		resp, body := s.call("GET", path, "")
		require.Equal(t, http.StatusNotFound, resp.StatusCode)
		require.Equal(t, "unknown_path", errorCode(t, resp, body))
	}
	resp, _ := s.call("POST", "/v1/workspaces/demo/chats", `{"agent_id":"assistant"}`, "X-Fault", "status=503")
	require.Equal(t, http.StatusCreated, resp.StatusCode)
}

func TestDebug(t *testing.T) {
	s := serve(t)
	chat := s.chat()
	s.send(chat, "k", "1+1").whole()
	s.send(chat, "k", "1+1").whole()
	s.abort(chat)
	s.call("OPTIONS", "/v1/chats/"+chat+"/abort", "")

	turns := s.turns()
	require.Len(t, turns, 1)
	require.Equal(t, "completed", turns[0].Status)
	require.Equal(t, chat, turns[0].ChatID)
	require.Equal(t, "k", turns[0].Key)
	require.Equal(t, 2, turns[0].Requests)
	require.Equal(t, 1, turns[0].Aborts)
	require.Len(t, turns[0].Tools, 1)
	require.Equal(t, "calculator", turns[0].Tools[0].Name)
	require.NotZero(t, turns[0].Events)

	_, body := s.call("GET", "/debug/requests", "")
	var counts map[string]int
	require.NoError(t, json.Unmarshal([]byte(body), &counts))
	require.Equal(t, map[string]int{
		"POST /v1/workspaces/{workspace_id}/chats": 1,
		"POST /v1/chats/{chat_id}/messages":        2,
		"POST /v1/chats/{chat_id}/abort":           1,
		"OPTIONS /v1/chats/{chat_id}/abort":        1,
	}, counts)
}
