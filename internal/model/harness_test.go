package model_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-76f09577/turnwire/internal/builtin"
	"github.com/seed-76f09577/turnwire/internal/library"
	"github.com/seed-76f09577/turnwire/internal/model"
	"github.com/seed-76f09577/turnwire/internal/service"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const canary = "sk-canary-0123456789"

// answer is what the model's server does with one request.
type answer func(w http.ResponseWriter, r *http.Request)

// upstream is a server with the interface for chat completions that answers by a script, and keeps what it was asked.
type upstream struct {
	*httptest.Server
	mu      sync.Mutex
	asked   []request
	keys    []string
	script  []answer
	hanging chan struct{} // an answer hangs
	left    chan struct{} // its client has gone
}

type request struct {
	Model         string
	Stream        bool
	StreamOptions map[string]bool `json:"stream_options"`
	Messages      []struct {
		Role, Content string
		Reasoning     string `json:"reasoning_content"`
		ToolCallID    string `json:"tool_call_id"`
		ToolCalls     []struct {
			ID       string
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
	}
	Tools []struct {
		Function struct {
			Name       string
			Parameters map[string]any
		}
	}
}

func scripted(t *testing.T, script ...answer) *upstream {
	u := &upstream{script: script, hanging: make(chan struct{}, 1), left: make(chan struct{}, 1)}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var asked request
		_ = json.Unmarshal(body, &asked)
		u.mu.Lock()
		n := len(u.asked)
		u.asked = append(u.asked, asked)
		u.keys = append(u.keys, r.Header.Get("Authorization"))
		u.mu.Unlock()
		if r.URL.Path != "/v1/chat/completions" || n >= len(u.script) {
			http.Error(w, `{"error":{"message":"the script has no answer to this"}}`, http.StatusTeapot)
			return
		}
		u.script[n](w, r)
	}))
	t.Cleanup(u.Close)
	return u
}

func (u *upstream) requests() []request {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.asked
}

// hang tells that an answer stands still, and waits until its client has gone.
func (u *upstream) hang(_ http.ResponseWriter, r *http.Request) {
	u.hanging <- struct{}{}
	<-r.Context().Done()
	u.left <- struct{}{}
}

// says streams events, each the data of one.
func says(events ...string) answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for _, e := range events {
			fmt.Fprintf(w, "data: %s\n\n", e)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// then does one after the other in the same answer.
func then(parts ...answer) answer {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, part := range parts {
			part(w, r)
		}
	}
}

// raw writes bytes as they are, at once.
func raw(text string) answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, text)
		_ = http.NewResponseController(w).Flush()
	}
}

// fails answers a status; headers are name, value …
func fails(status int, body string, headers ...string) answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// cutOff breaks the connection.
func cutOff(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func delta(fields string) string {
	return `{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{` + fields + `},"finish_reason":null}]}`
}

func text(s string) string { return delta(`"content":` + quoted(s)) }

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// fragment is a piece of a tool call; id and name come with the first one.
func fragment(index int, id, name, arguments string) string {
	function := `"arguments":` + quoted(arguments)
	if name != "" {
		function = `"name":` + quoted(name) + `,` + function
	}
	if id != "" {
		id = `"id":` + quoted(id) + `,"type":"function",`
	}
	return delta(fmt.Sprintf(`"tool_calls":[{"index":%d,%s"function":{%s}}]`, index, id, function))
}

func finish(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":` + quoted(reason) + `}]}`
}

func usage(input, output, reasoning int) string {
	return fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"completion_tokens_details":{"reasoning_tokens":%d}}}`,
		input, output, input+output, reasoning)
}

const done = "[DONE]"

func replies(s string) answer { return says(text(s), finish("stop"), done) }

// house is the service with a model behind it.
type house struct {
	t    *testing.T
	url  string
	http *http.Client
	log  *bytes.Buffer
	stop func()
	keys int
}

func open(t *testing.T, u *upstream, change ...func(*model.Config, *service.Config)) *house {
	t.Helper()
	h := &house{t: t, log: &bytes.Buffer{}, http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	logger := slog.New(slog.NewJSONHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	texts, err := library.Open("")
	require.NoError(t, err)
	cfg := model.Config{URL: u.URL + "/v1", Key: canary, KeyEnv: "THE_KEY", Files: texts, Log: logger,
		Now: func() time.Time { return time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC) }}
	serve := service.Config{Keys: []string{"key"}, Workspaces: []string{"demo"}, Agents: map[string]string{"assistant": "small"},
		Models: []string{"small", "large"}, Log: logger}
	for _, f := range change {
		f(&cfg, &serve)
	}
	agent, err := model.New(cfg)
	require.NoError(t, err)
	serve.Agent = agent
	svc, err := service.New(t.Context(), serve)
	require.NoError(t, err)
	listener := httptest.NewServer(svc)
	h.url = listener.URL
	h.stop = sync.OnceFunc(func() {
		now, cancel := context.WithCancel(context.Background())
		cancel()
		require.NoError(t, svc.Close(now))
		listener.Close()
		require.NoError(t, agent.Close())
		require.NoError(t, texts.Close())
	})
	t.Cleanup(h.stop)
	return h
}

func (h *house) post(path, body, key string) *http.Response {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), "POST", h.url+path, strings.NewReader(body))
	require.NoError(h.t, err)
	for name, value := range map[string]string{"Authorization": "Bearer key", "Content-Type": "application/json", "Idempotency-Key": key} {
		r.Header.Set(name, value)
	}
	response, err := h.http.Do(r)
	require.NoError(h.t, err)
	h.t.Cleanup(func() { response.Body.Close() })
	return response
}

func (h *house) chat() string {
	h.t.Helper()
	var made struct {
		ChatID string `json:"chat_id"`
	}
	require.NoError(h.t, json.NewDecoder(h.post("/v1/workspaces/demo/chats", `{"agent_id":"assistant"}`, "").Body).Decode(&made))
	return made.ChatID
}

func (h *house) send(chat, message, key string) *http.Response {
	h.t.Helper()
	return h.post("/v1/chats/"+chat+"/messages", `{"parts":[{"type":"text","text":`+quoted(message)+`}]}`, key)
}

// ask sends a message under a key of its own and reads the whole answer.
func (h *house) ask(chat, message string) *told {
	h.t.Helper()
	h.keys++
	return read(h.t, h.send(chat, message, fmt.Sprint("key-", h.keys)))
}

// told is a turn as its stream showed it.
type told struct {
	text, thought string
	steps         []string // kind and tool_call_id of tool events, equal neighbours once
	calls         map[string]any
	results       map[string]any
	streamed      map[string]string // arguments as they came
	last          string
	end           map[string]any
	raw           string
}

func read(t *testing.T, response *http.Response) *told {
	t.Helper()
	require.Equal(t, http.StatusOK, response.StatusCode)
	out := &told{calls: map[string]any{}, results: map[string]any{}, streamed: map[string]string{}}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		out.raw += lines.Text() + "\n"
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type string
			Data map[string]any
		}
		require.NoError(t, json.Unmarshal([]byte(data), &e))
		out.last, out.end = e.Type, e.Data
		id, _ := e.Data["tool_call_id"].(string)
		if id != "" {
			id = id[strings.LastIndex(id, "_")+1:]
			step := strings.TrimPrefix(e.Type, "tool_") + " " + id
			if n := len(out.steps); n == 0 || out.steps[n-1] != step {
				out.steps = append(out.steps, step)
			}
		}
		switch service.Kind(e.Type) {
		case service.TextDelta:
			out.text += e.Data["chunk"].(string)
		case service.ReasoningDelta:
			out.thought += e.Data["chunk"].(string)
		case service.ToolCallDelta:
			out.streamed[id] += e.Data["delta"].(string)
		case service.ToolCall:
			out.calls[id] = e.Data["arguments"]
		case service.ToolResult:
			out.results[id] = e.Data["result"]
		}
	}
	require.NoError(t, lines.Err())
	return out
}

var _ builtin.Files = (*library.Library)(nil)
