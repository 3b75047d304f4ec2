package proxy_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-76f09577/turnwire/internal/blobstore"
	"github.com/seed-76f09577/turnwire/internal/builtin"
	"github.com/seed-76f09577/turnwire/internal/service"
	"github.com/seed-76f09577/turnwire/proxy"
)

const (
	// canary is the service's key: whatever leaves the proxy, other than for the service, must not hold it.
	canary = "sk-canary-7Hq2"
	page   = "https://app.example"
)

var secret = []byte("a secret of the tests, 32 bytes or more")

// sink keeps what is written to it, and wakes those who wait for a part of it.
type sink struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{}
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
	return s.text.Write(p)
}

func (s *sink) now() (string, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String(), s.changed
}

// has waits until something holds the text.
func (s *sink) has(t *testing.T, part string) {
	t.Helper()
	for {
		text, changed := s.now()
		if strings.Contains(text, part) {
			return
		}
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatalf("the log never held %s", part)
		}
	}
}

// house is a proxy before a service, each behind a real connection.
type house struct {
	t       *testing.T
	proxy   *proxy.Proxy
	server  *httptest.Server
	service string
	logs    *sink
	// seen is all that any caller got.
	seen   *sink
	client *http.Client
	tokens *proxy.Tokens
}

func config(t *testing.T, address string, logs io.Writer, tokens *proxy.Tokens) proxy.Config {
	t.Helper()
	transport := proxy.NewTransport()
	t.Cleanup(transport.CloseIdleConnections)
	return proxy.Config{
		Service: address, Key: canary, Workspaces: map[string][]string{"demo": {"assistant"}},
		Secrets: [][]byte{secret}, Authorize: tokens.Authorize, Origins: []string{page}, Transport: transport,
		Rate: 1e6, Burst: 1e6, Streams: 10_000,
		Log: slog.New(slog.NewJSONHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
}

// front puts a proxy before a service at an address.
func front(t *testing.T, address string, change ...func(*proxy.Config)) *house {
	t.Helper()
	tokens, err := proxy.NewTokens(time.Hour, secret)
	require.NoError(t, err)
	h := &house{t: t, service: address, logs: &sink{changed: make(chan struct{})}, seen: &sink{changed: make(chan struct{})}, tokens: tokens}
	cfg := config(t, address, h.logs, tokens)
	for _, c := range change {
		c(&cfg)
	}
	h.proxy, err = proxy.New(cfg)
	require.NoError(t, err)
	h.server = httptest.NewUnstartedServer(h.proxy)
	h.server.Config.ErrorLog = slog.NewLogLogger(slog.NewTextHandler(h.logs, nil), slog.LevelError)
	h.server.Config.ReadHeaderTimeout = 10 * time.Second
	h.server.Config.MaxHeaderBytes = 16 << 10
	h.server.Start()
	transport := &http.Transport{MaxIdleConnsPerHost: 100}
	h.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		h.server.Close()
		h.proxy.Wait()
		for what, s := range map[string]*sink{"the log": h.logs, "an answer": h.seen} {
			text, _ := s.now()
			assert.NotContains(t, text, canary, "the key is in %s", what)
			assert.NotContains(t, text, string(secret), "a secret is in %s", what)
		}
		text, _ := h.logs.now()
		for _, hidden := range []string{"sig=", "What is 6 times 7"} {
			assert.NotContains(t, text, hidden, "the log")
		}
	})
	return h
}

// whole is a proxy before the reference service.
func whole(t *testing.T, change ...func(*proxy.Config)) *house {
	t.Helper()
	storage, err := blobstore.Open(blobstore.Config{})
	require.NoError(t, err)
	svc, err := service.New(t.Context(), service.Config{
		Keys: []string{canary}, Workspaces: []string{"demo", "other"}, Agents: map[string]string{"assistant": "m", "hidden": "m"},
		Agent: &builtin.Agent{}, Storage: storage, Faults: true, MaxRunning: 4096,
	})
	require.NoError(t, err)
	listener := httptest.NewServer(svc)
	t.Cleanup(func() {
		now, cancel := context.WithCancel(context.Background())
		cancel()
		require.NoError(t, svc.Close(now))
		listener.Close()
		require.NoError(t, storage.Close())
	})
	return front(t, listener.URL, append([]func(*proxy.Config){func(c *proxy.Config) { c.PassHeaders = []string{"X-Fault"} }}, change...)...)
}

// answer is a whole answer.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) code(t *testing.T) string {
	t.Helper()
	var body struct {
		Error struct {
			Type, Code, Message string
			RequestID           string `json:"request_id"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &body), "the service's error form: %q", a.body)
	require.NotEmpty(t, body.Error.Type)
	require.NotEmpty(t, body.Error.Message)
	require.Equal(t, a.header.Get("X-Request-Id"), body.Error.RequestID)
	return body.Error.Code
}

func (a answer) field(t *testing.T, name string) string {
	t.Helper()
	var record map[string]any
	require.NoError(t, json.Unmarshal([]byte(a.body), &record), a.body)
	text, _ := record[name].(string)
	require.NotEmpty(t, text, "%s in %s", name, a.body)
	return text
}

// request makes one; headers are name, value, name, value …, and "" takes one away.
func (h *house) request(ctx context.Context, caller, method, path, body string, headers ...string) *http.Request {
	h.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(ctx, method, h.server.URL+path, reader)
	require.NoError(h.t, err)
	if caller != "" {
		r.Header.Set("Authorization", "Bearer "+h.tokens.Issue(caller))
	}
	r.Header.Set("Origin", page)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Del(headers[i])
		if headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	return r
}

func (h *house) do(caller, method, path, body string, headers ...string) answer {
	h.t.Helper()
	res, err := h.client.Do(h.request(h.t.Context(), caller, method, path, body, headers...))
	require.NoError(h.t, err)
	return h.take(res)
}

func (h *house) take(res *http.Response) answer {
	h.t.Helper()
	body, err := io.ReadAll(res.Body)
	require.NoError(h.t, errors.Join(err, res.Body.Close()))
	_ = res.Header.Write(h.seen)
	_, _ = h.seen.Write(body)
	return answer{res.StatusCode, res.Header, string(body)}
}

// raw writes bytes to the proxy as they are, and gives the answer.
func (h *house) raw(text string) answer {
	h.t.Helper()
	conn, err := (&net.Dialer{}).DialContext(h.t.Context(), "tcp", h.server.Listener.Addr().String())
	require.NoError(h.t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, text)
	require.NoError(h.t, err)
	method, _, _ := strings.Cut(text, " ")
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	require.NoError(h.t, err)
	return h.take(res)
}

const newChat = `{"agent_id":"assistant"}`

func (h *house) chat(caller string) string {
	h.t.Helper()
	made := h.do(caller, "POST", "/v1/workspaces/demo/chats", newChat)
	require.Equal(h.t, 200, made.status/100*100, made.body)
	return made.field(h.t, "chat_id")
}

func message(text string) string {
	body, err := json.Marshal(map[string]any{"parts": []any{map[string]any{"type": "text", "text": text}}})
	if err != nil {
		panic(err)
	}
	return string(body)
}

// debug reads what the reference service counted.
func (h *house) debug(path string, into any) {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), "GET", h.service+path, nil)
	require.NoError(h.t, err)
	res, err := h.client.Do(r)
	require.NoError(h.t, err)
	defer res.Body.Close()
	require.NoError(h.t, json.NewDecoder(res.Body).Decode(into))
}
