package proxy_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-76f09577/turnwire/proxy"
)

// TestRoundTrip uses every endpoint of the real service, with identifiers that are sealed and with such as a store keeps.
func TestRoundTrip(t *testing.T) {
	for name, change := range map[string]func(*proxy.Config){
		"sealed": func(*proxy.Config) {},
		"stored": func(c *proxy.Config) { c.Store = &memory{} },
	} {
		t.Run(name, func(t *testing.T) {
			h := whole(t, change)
			chat := h.chat("alice")
			turn := h.do("alice", "POST", "/v1/chats/"+chat+"/messages", message("What is 6 times 7?"), "Idempotency-Key", "k1")
			require.Equal(t, http.StatusOK, turn.status, turn.body)
			assert.Contains(t, turn.body, "42")
			assert.Contains(t, turn.body, "turn_complete")
			assert.Equal(t, "text/event-stream; charset=utf-8", turn.header.Get("Content-Type"))
			assert.Equal(t, http.StatusNoContent, h.do("alice", "POST", "/v1/chats/"+chat+"/abort", "").status)

			const ticket = `{"name":"a.txt","size":5,"content_type":"text/plain"}`
			made := h.do("alice", "POST", "/v1/workspaces/demo/files/upload-url", ticket)
			file := made.field(t, "file_id")
			renewed := h.do("alice", "POST", "/v1/workspaces/demo/files/upload-url", `{"name":"a.txt","size":5,"content_type":"text/plain","file_id":"`+file+`"}`)
			assert.Equal(t, file, renewed.field(t, "file_id"), renewed.body)
			put, err := http.NewRequestWithContext(t.Context(), "PUT", renewed.field(t, "upload_url"), strings.NewReader("hello"))
			require.NoError(t, err)
			put.Header.Set("Content-Type", "text/plain")
			put.Header.Set("X-Ms-Blob-Type", "BlockBlob")
			stored, err := h.client.Do(put)
			require.NoError(t, err)
			require.NoError(t, stored.Body.Close())
			require.Equal(t, 2, stored.StatusCode/100)
			report := h.do("alice", "PATCH", "/v1/files/"+file, `{"status":"uploaded","size":5}`)
			assert.Equal(t, file, report.field(t, "file_id"), report.body)
			assert.Equal(t, file, h.do("alice", "GET", "/v1/files/"+file, "").field(t, "file_id"))
			brought := h.do("alice", "POST", "/v1/chats/"+chat+"/messages", `{"parts":[{"type":"file","file_id":"`+file+`"}]}`, "Idempotency-Key", "k2")
			assert.Equal(t, http.StatusOK, brought.status, brought.body)

			for what, r := range map[string]answer{
				"message": h.do("bob", "POST", "/v1/chats/"+chat+"/messages", message("hi"), "Idempotency-Key", "k"),
				"abort":   h.do("bob", "POST", "/v1/chats/"+chat+"/abort", ""),
				"report":  h.do("bob", "PATCH", "/v1/files/"+file, `{"status":"upload_failed"}`),
				"read":    h.do("bob", "GET", "/v1/files/"+file, ""),
				"renewal": h.do("bob", "POST", "/v1/workspaces/demo/files/upload-url", `{"name":"a","size":5,"file_id":"`+file+`"}`),
				"part":    h.do("bob", "POST", "/v1/chats/"+h.chat("bob")+"/messages", `{"parts":[{"type":"file","file_id":"`+file+`"}]}`, "Idempotency-Key", "k"),
			} {
				assert.Equal(t, http.StatusNotFound, r.status, "%s of another caller's", what)
				assert.Contains(t, r.code(t), "_not_found")
			}
			requests := map[string]int{}
			h.debug("/debug/requests", &requests)
			assert.Equal(t, 3, requests["POST /v1/chats/{chat_id}/messages"]+requests["POST /v1/chats/{chat_id}/abort"], "what of bob's reached the service")
		})
	}
}

// TestIdempotencyKeys has two callers choose the same key: the service, which knows one caller, must see two.
func TestIdempotencyKeys(t *testing.T) {
	var keys []string
	svc := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/messages") {
			keys = append(keys, r.Header.Get("Idempotency-Key"))
		}
		_, _ = io.WriteString(w, `{"chat_id":"c"}`)
	}))
	t.Cleanup(svc.Close)
	h := front(t, svc.URL)
	for _, caller := range []string{"alice", "bob", "alice"} {
		h.do(caller, "POST", "/v1/chats/"+h.chat(caller)+"/messages", message("hi"), "Idempotency-Key", "mine")
	}
	require.Len(t, keys, 3)
	assert.NotEqual(t, keys[0], keys[1])
	assert.Equal(t, keys[0], keys[2], "the same operation of the same caller")
	assert.True(t, strings.HasPrefix(keys[0], "mine."))
}

// TestFirstEventComesAtOnce sees an event while the service has not said the second.
func TestFirstEventComesAtOnce(t *testing.T) {
	next := make(chan struct{})
	svc := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/chats") {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"data":{"id":"c"}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		for range 3 {
			<-next
			_, _ = io.WriteString(w, "data: 1\n\n")
			_ = http.NewResponseController(w).Flush()
		}
	}))
	t.Cleanup(svc.Close)
	h := front(t, svc.URL)
	made := h.do("alice", "POST", "/v1/workspaces/demo/chats", newChat)
	chat := strings.TrimSuffix(strings.TrimPrefix(made.body, `{"data":{"id":"`), `"}}`)
	res, err := h.client.Do(h.request(t.Context(), "alice", "POST", "/v1/chats/"+chat+"/messages", message("hi"), "Idempotency-Key", "k"))
	require.NoError(t, err, "the head comes before the first event")
	lines := bufio.NewReader(res.Body)
	for range 3 {
		next <- struct{}{}
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		assert.Equal(t, "data: 1\n", line)
		_, err = lines.ReadString('\n')
		require.NoError(t, err)
	}
	require.NoError(t, res.Body.Close())
}

// TestLeaving counts the aborts that the service gets when a caller goes.
func TestLeaving(t *testing.T) {
	leave := func(t *testing.T, h *house, chat, message string, until string) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		res, err := h.client.Do(h.request(ctx, "alice", "POST", "/v1/chats/"+chat+"/messages", message, "Idempotency-Key", "k", "X-Fault", "pace_ms=86400000"))
		require.NoError(t, err)
		lines := bufio.NewReader(res.Body)
		for {
			line, err := lines.ReadString('\n')
			require.NoError(t, err)
			if strings.Contains(line, until) {
				break
			}
		}
		cancel()
		require.NoError(t, res.Body.Close())
		h.logs.has(t, `"end":"left"`)
	}
	type turn struct {
		ChatID string `json:"chat_id"`
		Aborts int
		Status string
	}
	for name, test := range map[string]struct {
		option bool
		aborts int
	}{"told": {true, 1}, "not asked for": {false, 0}} {
		t.Run(name, func(t *testing.T) {
			h := whole(t, func(c *proxy.Config) { c.AbortOnLeave = test.option })
			chat := h.chat("alice")
			leave(t, h, chat, message("count to 1000"), "reasoning_delta")
			h.proxy.Wait()
			var turns []turn
			h.debug("/debug/turns", &turns)
			require.Len(t, turns, 1)
			assert.Equal(t, test.aborts, turns[0].Aborts)
			// The chat goes on with another message, which nothing of the former turn stops.
			if test.option {
				next := h.do("alice", "POST", "/v1/chats/"+chat+"/messages", message("What is 6 times 7?"), "Idempotency-Key", "k2")
				assert.Contains(t, next.body, "turn_complete")
			}
		})
	}
	t.Run("after the end", func(t *testing.T) {
		aborts := make(chan string, 10)
		svc := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case strings.HasSuffix(r.URL.Path, "/abort"):
				aborts <- r.URL.Path
			case strings.HasSuffix(r.URL.Path, "/messages"):
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, "data: {\"type\":\"text_delta\",\"data\":{\"chunk\":\"turn_complete\"}}\n\ndata: {\"type\":\"turn_complete\"}\n\n")
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			default:
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"chat_id":"c"}`)
			}
		}))
		t.Cleanup(svc.Close)
		h := front(t, svc.URL, func(c *proxy.Config) { c.AbortOnLeave = true })
		leave(t, h, h.chat("alice"), message("hi"), `"type":"turn_complete"`)
		h.proxy.Wait()
		assert.Empty(t, aborts)
	})
}
