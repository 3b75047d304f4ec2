package service_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-76f09577/turnwire/internal/blobstore"
	"github.com/seed-76f09577/turnwire/internal/builtin"
	"github.com/seed-76f09577/turnwire/internal/service"
)

const key = "a-key-of-the-tests"

// forEver is a pace at which a turn stands still after its first event.
const forEver = "pace_ms=86400000"

// script is an agent in one function.
type script func(ctx context.Context, m service.Message, to service.Sink) error

func (s script) Run(ctx context.Context, m service.Message, to service.Sink) error {
	return s(ctx, m, to)
}

// fakeClock is a clock that only moves when told.
type fakeClock struct {
	mu sync.Mutex
	at time.Time
}

func (c *fakeClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// server is a service behind a real connection.
type server struct {
	t      *testing.T
	svc    *service.Service
	url    string
	client *http.Client
	logs   *logs
	stop   func()
}

func serve(t *testing.T, change ...func(*service.Config)) *server {
	t.Helper()
	records := &logs{changed: make(chan struct{})}
	storage, err := blobstore.Open(blobstore.Config{})
	require.NoError(t, err)
	cfg := service.Config{
		Keys:       []string{key},
		Workspaces: []string{"demo"},
		Agents:     map[string]string{"assistant": "model-of-the-agent"},
		Agent:      &builtin.Agent{},
		Storage:    storage,
		Faults:     true,
		Log:        slog.New(slog.NewJSONHandler(records, nil)),
	}
	for _, f := range change {
		f(&cfg)
	}
	svc, err := service.New(t.Context(), cfg)
	require.NoError(t, err)
	listener := httptest.NewServer(svc)
	transport := &http.Transport{DisableKeepAlives: true}
	s := &server{t: t, svc: svc, url: listener.URL, client: &http.Client{Transport: transport}, logs: records}
	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s.stop = sync.OnceFunc(func() {
		now, cancel := context.WithCancel(context.Background())
		cancel()
		require.NoError(t, svc.Close(now))
		listener.Close()
		require.NoError(t, storage.Close())
		transport.CloseIdleConnections()
	})
	t.Cleanup(s.stop)
	return s
}

func withAgent(a script) func(*service.Config) {
	return func(cfg *service.Config) { cfg.Agent = a }
}

// do sends a request with the key; headers are name, value, name, value … and "" takes one away.
func (s *server) do(ctx context.Context, method, path, body string, headers ...string) (*http.Response, error) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	require.NoError(s.t, err)
	r.Header.Set("Authorization", "Bearer "+key)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		} else {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	return s.client.Do(r)
}

// call sends a request and reads the whole answer.
func (s *server) call(method, path, body string, headers ...string) (*http.Response, string) {
	s.t.Helper()
	resp, err := s.do(s.t.Context(), method, path, body, headers...)
	require.NoError(s.t, err)
	return resp, read(s.t, resp)
}

func read(t *testing.T, resp *http.Response) string {
	t.Helper()
	defer resp.Body.Close()
	whole, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(whole)
}

func (s *server) chat(fields ...string) string {
	s.t.Helper()
	body := `{"agent_id":"assistant"` + strings.Join(fields, "") + `}`
	resp, read := s.call("POST", "/v1/workspaces/demo/chats", body)
	require.Equal(s.t, http.StatusCreated, resp.StatusCode, read)
	var record struct {
		ChatID string `json:"chat_id"`
	}
	require.NoError(s.t, json.Unmarshal([]byte(read), &record))
	return record.ChatID
}

func message(text string) string {
	encoded, err := json.Marshal(map[string]any{"parts": []any{map[string]string{"type": "text", "text": text}}})
	if err != nil {
		panic(err)
	}
	return string(encoded)
}

// send sends a message whose answer must be a stream.
func (s *server) send(chat, idempotencyKey, text string, headers ...string) *stream {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	headers = append([]string{"Idempotency-Key", idempotencyKey}, headers...)
	resp, err := s.do(ctx, "POST", "/v1/chats/"+chat+"/messages", message(text), headers...)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { cancel(); resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(resp.Body)
		s.t.Fatalf("status %d: %s", resp.StatusCode, body)
	}
	return &stream{t: s.t, resp: resp, lines: bufio.NewReader(resp.Body), leave: func() { cancel(); resp.Body.Close() }}
}

// refused sends a message that must be answered with an error, and gives its status and code.
func (s *server) refused(chat, idempotencyKey, body string, headers ...string) (int, string) {
	s.t.Helper()
	headers = append([]string{"Idempotency-Key", idempotencyKey}, headers...)
	resp, read := s.call("POST", "/v1/chats/"+chat+"/messages", body, headers...)
	return resp.StatusCode, errorCode(s.t, resp, read)
}

// ended waits until the service is through with a stream.
func (s *server) ended(of *stream) {
	s.t.Helper()
	s.logs.wait(s.t, "request", map[string]any{"request_id": of.resp.Header.Get("X-Request-Id")})
}

func (s *server) abort(chat string) {
	s.t.Helper()
	resp, body := s.call("POST", "/v1/chats/"+chat+"/abort", "")
	require.Equal(s.t, http.StatusNoContent, resp.StatusCode)
	require.Empty(s.t, body)
}

// errorCode checks the shape that every error has, and gives its code.
func errorCode(t *testing.T, resp *http.Response, body string) string {
	t.Helper()
	var shape struct {
		Error struct {
			Code, Message, Type string
			RequestID           string `json:"request_id"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(body), &shape), body)
	require.NotEmpty(t, shape.Error.Message)
	require.NotEmpty(t, shape.Error.Type)
	require.NotEmpty(t, resp.Header.Get("X-Request-Id"))
	require.Equal(t, resp.Header.Get("X-Request-Id"), shape.Error.RequestID)
	return shape.Error.Code
}

type debugTurn struct {
	TurnID   string `json:"turn_id"`
	ChatID   string `json:"chat_id"`
	Key      string `json:"idempotency_key"`
	Status   string
	Requests int
	Aborts   int
	Tools    []struct {
		CallID string `json:"call_id"`
		Name   string
	}
	Events int
}

func (s *server) turns() []debugTurn {
	s.t.Helper()
	_, body := s.call("GET", "/debug/turns", "")
	var turns []debugTurn
	require.NoError(s.t, json.Unmarshal([]byte(body), &turns))
	return turns
}

// frame is one event as it came.
type frame struct {
	id, event, data string
	comment         bool
}

// typed reads a frame of either encoding.
func (f frame) typed(t *testing.T) (kind string, data map[string]any) {
	t.Helper()
	if f.event != "" {
		require.NoError(t, json.Unmarshal([]byte(f.data), &data), f.data)
		return f.event, data
	}
	var whole struct {
		Type string
		Data map[string]any
	}
	require.NoError(t, json.Unmarshal([]byte(f.data), &whole), f.data)
	return whole.Type, whole.Data
}

// stream is an answer that is being read.
type stream struct {
	t     *testing.T
	resp  *http.Response
	lines *bufio.Reader
	leave func()
}

// read returns the next frame, or the error that ended the stream: io.EOF for a clean end.
func (s *stream) read() (frame, error) {
	var f frame
	seen := false
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			if seen && err == io.EOF {
				return f, io.ErrUnexpectedEOF
			}
			return f, err
		}
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			return f, nil
		}
		seen = true
		name, value, _ := strings.Cut(line, ": ")
		switch name {
		case "id":
			f.id = value
		case "event":
			f.event = value
		case "data":
			f.data = value
		default:
			f.comment = true
		}
	}
}

// next returns the next event; there must be one.
func (s *stream) next() frame {
	s.t.Helper()
	for {
		f, err := s.read()
		require.NoError(s.t, err)
		if !f.comment {
			return f
		}
	}
}

// rest reads to the end and returns the events and how it ended, nil for a clean end.
func (s *stream) rest() ([]frame, error) {
	var frames []frame
	for {
		f, err := s.read()
		if err == io.EOF {
			return frames, nil
		}
		if err != nil {
			return frames, err
		}
		if !f.comment {
			frames = append(frames, f)
		}
	}
}

// whole reads an answer that must end cleanly.
func (s *stream) whole() []frame {
	s.t.Helper()
	frames, err := s.rest()
	require.NoError(s.t, err)
	return frames
}

func kinds(t *testing.T, frames []frame) []string {
	t.Helper()
	var out []string
	for _, f := range frames {
		kind, _ := f.typed(t)
		out = append(out, kind)
	}
	return out
}

// text joins the chunks of one kind.
func text(t *testing.T, frames []frame, of service.Kind) string {
	t.Helper()
	var b strings.Builder
	for _, f := range frames {
		if kind, data := f.typed(t); kind == string(of) {
			b.WriteString(data["chunk"].(string))
		}
	}
	return b.String()
}

// logs collects log records.
type logs struct {
	mu      sync.Mutex
	buffer  bytes.Buffer
	changed chan struct{}
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.changed)
	l.changed = make(chan struct{})
	return l.buffer.Write(p)
}

// wait returns the first record that has the message and all the attributes.
func (l *logs) wait(t *testing.T, msg string, attrs map[string]any) map[string]any {
	t.Helper()
	for {
		l.mu.Lock()
		all, changed := l.buffer.String(), l.changed
		l.mu.Unlock()
		for line := range strings.Lines(all) {
			var record map[string]any
			require.NoError(t, json.Unmarshal([]byte(line), &record))
			if record["msg"] == msg && contains(record, attrs) {
				return record
			}
		}
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatalf("no record %q %v in:\n%s", msg, attrs, all)
		}
	}
}

func contains(record, attrs map[string]any) bool {
	for name, value := range attrs {
		if record[name] != value {
			return false
		}
	}
	return true
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.String()
}
