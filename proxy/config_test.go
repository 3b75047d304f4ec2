package proxy_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-76f09577/turnwire/proxy"
)

func TestConfig(t *testing.T) {
	tokens, err := proxy.NewTokens(time.Hour, secret)
	require.NoError(t, err)
	for field, changes := range map[string][]func(*proxy.Config){
		"Service": {func(c *proxy.Config) { c.Service = "" }, func(c *proxy.Config) { c.Service = "ftp://x" }, func(c *proxy.Config) { c.Service = "https://a:" + canary + "@x" }, func(c *proxy.Config) { c.Service = "https://x/?a" }},
		"Key":     {func(c *proxy.Config) { c.Key = "" }, func(c *proxy.Config) { c.Key = " " + canary }, func(c *proxy.Config) { c.Key = canary + "\r\nX: y" }, func(c *proxy.Config) { c.Key = strings.Repeat("k", 5000) }},
		"Workspaces": {func(c *proxy.Config) { c.Workspaces = nil }, func(c *proxy.Config) { c.Workspaces = map[string][]string{"..": {"a"}} }, func(c *proxy.Config) { c.Workspaces = map[string][]string{"w": nil} },
			func(c *proxy.Config) { c.Workspaces = map[string][]string{"w": {""}} }},
		"Secrets":     {func(c *proxy.Config) { c.Secrets = nil }, func(c *proxy.Config) { c.Secrets = [][]byte{secret, []byte("short")} }},
		"Authorize":   {func(c *proxy.Config) { c.Authorize = nil }},
		"Origins":     {func(c *proxy.Config) { c.Origins = []string{"*"} }, func(c *proxy.Config) { c.Origins = []string{"https://a.example/"} }, func(c *proxy.Config) { c.Origins = []string{"https://A.example"} }, func(c *proxy.Config) { c.Origins = []string{"https://a.example:443"} }},
		"PassHeaders": {func(c *proxy.Config) { c.PassHeaders = []string{"cookie"} }, func(c *proxy.Config) { c.PassHeaders = []string{"X-Forwarded-For"} }, func(c *proxy.Config) { c.PassHeaders = []string{"a b"} }},
		"GrantFor":    {func(c *proxy.Config) { c.GrantFor = -1 }},
		"MaxBody":     {func(c *proxy.Config) { c.MaxBody = -1 }},
		"Rate":        {func(c *proxy.Config) { c.Rate = -1 }},
	} {
		for _, change := range changes {
			cfg := config(t, "https://service.example", io.Discard, tokens)
			change(&cfg)
			_, err := proxy.New(cfg)
			var wrong *proxy.FieldError
			require.ErrorAs(t, err, &wrong)
			assert.Contains(t, wrong.Field, field)
			assert.NotContains(t, err.Error(), canary)
		}
	}
}

// TestVisitors gives a browser a name, lets it use the proxy by it, and keeps it the next time.
func TestVisitors(t *testing.T) {
	h := whole(t)
	visit := func(method, origin, cookie string) answer {
		r := httptest.NewRequest(method, "/visit", nil)
		r.Header.Set("Origin", origin)
		r.Header.Set("Cookie", cookie)
		w := httptest.NewRecorder()
		h.proxy.Visit(h.tokens)(w, r)
		return h.take(w.Result())
	}
	caller := func(a answer) (name, cookie string) {
		set, err := http.ParseSetCookie(a.header.Get("Set-Cookie"))
		require.NoError(t, err)
		assert.True(t, set.Secure && set.HttpOnly && set.SameSite == http.SameSiteLaxMode && set.Path == "/" && set.Domain == "")
		name, err = h.tokens.Caller(set.Value)
		require.NoError(t, err)
		return name, set.Name + "=" + set.Value
	}
	one, cookie := caller(visit("POST", page, ""))
	again, _ := caller(visit("POST", page, cookie))
	assert.Equal(t, one, again)
	other, _ := caller(visit("POST", page, cookie+"x"))
	assert.NotEqual(t, one, other)
	assert.Equal(t, 403, visit("POST", "https://evil.example", "").status)
	assert.Equal(t, 405, visit("GET", page, "").status)
	made := h.do("", "POST", "/v1/workspaces/demo/chats", newChat, "Cookie", cookie)
	require.Equal(t, 200, made.status/100*100, made.body)
	assert.Equal(t, 404, h.do("bob", "POST", "/v1/chats/"+made.field(t, "chat_id")+"/abort", "").status)
}

// TestReplacedSecrets lets in what was signed by a former secret, and refuses it when that is gone.
func TestReplacedSecrets(t *testing.T) {
	second := []byte(strings.Repeat("n", 32))
	old := whole(t)
	chat := old.chat("alice")
	for name, test := range map[string]struct {
		secrets [][]byte
		status  int
	}{"both": {[][]byte{second, secret}, 204}, "the new one alone": {[][]byte{second}, 404}} {
		t.Run(name, func(t *testing.T) {
			h := front(t, old.service, func(c *proxy.Config) { c.Secrets = test.secrets })
			assert.Equal(t, test.status, h.do("alice", "POST", "/v1/chats/"+chat+"/abort", "").status)
		})
	}
}

func TestPreflight(t *testing.T) {
	h := whole(t)
	got := h.do("", "OPTIONS", "/v1/files/x", "", "Access-Control-Request-Method", "PATCH")
	assert.Equal(t, 204, got.status)
	assert.Equal(t, page, got.header.Get("Access-Control-Allow-Origin"))
	assert.Equal(t, "PATCH, GET", got.header.Get("Access-Control-Allow-Methods"))
	assert.Equal(t, "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, X-Fault", got.header.Get("Access-Control-Allow-Headers"))
}

// TestServiceAway tells what never left from what may have arrived.
func TestServiceAway(t *testing.T) {
	svc := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	lost := front(t, svc.URL)
	got := lost.do("alice", "POST", "/v1/workspaces/demo/chats", newChat)
	assert.Equal(t, 502, got.status)
	assert.Equal(t, "service_lost", got.code(t))
	svc.Close()
	got = lost.do("alice", "POST", "/v1/workspaces/demo/chats", newChat)
	assert.Equal(t, 503, got.status)
	assert.Equal(t, "service_unreachable", got.code(t))
	assert.Equal(t, "1", got.header.Get("Retry-After"))

	answering := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-answering:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(silent.Close)
	t.Cleanup(func() { close(answering) })
	late := front(t, silent.URL, func(c *proxy.Config) { c.AnswerTimeout = time.Millisecond })
	got = late.do("alice", "POST", "/v1/workspaces/demo/chats", newChat)
	assert.Equal(t, 504, got.status)
	assert.Equal(t, "service_timeout", got.code(t))
}

// TestReady follows the store and the stop.
func TestReady(t *testing.T) {
	away := &broken{}
	h := whole(t, func(c *proxy.Config) { c.Store = away })
	status := func(handler http.HandlerFunc) int {
		w := httptest.NewRecorder()
		handler(w, httptest.NewRequest("GET", "/readyz", nil))
		return w.Code
	}
	assert.Equal(t, 204, status(h.proxy.Ready))
	away.err = errors.New("no store, key " + canary)
	assert.Equal(t, 503, status(h.proxy.Ready))
	made := h.do("alice", "POST", "/v1/workspaces/demo/chats", newChat)
	assert.Equal(t, "grant_failed", made.code(t))
	used := h.do("alice", "POST", "/v1/chats/x/abort", "")
	assert.Equal(t, "store_unavailable", used.code(t))
	away.err = nil
	h.proxy.Stop()
	assert.Equal(t, 503, status(h.proxy.Ready))
	assert.Equal(t, 204, status(h.proxy.Healthy))
	assert.Equal(t, 200, h.do("alice", "POST", "/v1/workspaces/demo/chats", newChat).status/100*100)
}
