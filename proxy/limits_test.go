package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-76f09577/turnwire/proxy"
)

// TestRate has one caller ask too often, and another who does not pay for it.
func TestRate(t *testing.T) {
	var now atomic.Int64
	h := whole(t, func(c *proxy.Config) {
		c.Rate, c.Burst = 0.1, 2
		c.Now = func() time.Time { return time.Unix(1e9+now.Load(), 0) }
	})
	chat := h.chat("alice")
	abort := func(caller string) answer { return h.do(caller, "POST", "/v1/chats/"+chat+"/abort", "") }
	assert.Equal(t, 204, abort("alice").status)
	for range 3 { // asking again makes no wait longer
		refused := abort("alice")
		assert.Equal(t, 429, refused.status)
		assert.Equal(t, "too_many_requests", refused.code(t))
		assert.Equal(t, "10", refused.header.Get("Retry-After"))
	}
	assert.Equal(t, 404, abort("bob").status)
	now.Add(10)
	assert.Equal(t, 204, abort("alice").status)
}

// counting is a service whose streams say who they are for, number by number, as each is allowed to.
func counting(t *testing.T, events int) (address string, open *atomic.Int32, begin chan struct{}) {
	open, begin = &atomic.Int32{}, make(chan struct{})
	var made atomic.Int32
	svc := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/messages") {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"chat_id":"chat-%d"}`, made.Add(1))
			return
		}
		open.Add(1)
		defer open.Add(-1)
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-begin:
		case <-r.Context().Done():
			return
		}
		for i := range events {
			_, _ = fmt.Fprintf(w, "data: %d %s %s\n", i, strings.Split(r.URL.Path, "/")[3], body)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	t.Cleanup(svc.Close)
	return svc.URL, open, begin
}

// TestStreamsOfACaller opens as many as are allowed, is refused one more, and gets it once another is over.
func TestStreamsOfACaller(t *testing.T) {
	address, _, begin := counting(t, 1)
	h := front(t, address, func(c *proxy.Config) { c.Streams = 2 })
	chat := h.chat("alice")
	send := func(ctx context.Context) *http.Response {
		res, err := h.client.Do(h.request(ctx, "alice", "POST", "/v1/chats/"+chat+"/messages", message("hi"), "Idempotency-Key", "k"))
		require.NoError(t, err)
		return res
	}
	ctx, leave := context.WithCancel(t.Context())
	first, second := send(ctx), send(t.Context())
	refused := h.take(send(t.Context()))
	assert.Equal(t, 429, refused.status)
	assert.Equal(t, "too_many_streams", refused.code(t))
	assert.Equal(t, "1", refused.header.Get("Retry-After"))
	leave()
	require.NoError(t, first.Body.Close())
	h.logs.has(t, `"end":"left"`)
	close(begin)
	assert.Equal(t, 200, h.take(send(t.Context())).status)
	assert.Equal(t, 200, h.take(second).status)
}

// TestManyStreams has a thousand streams open at once, each with a chat and a caller of its own: all of them get what is
// theirs, all of it, in order. What is kept for an open one is small.
func TestManyStreams(t *testing.T) {
	const streams, events = 1000, 20
	address, open, begin := counting(t, events)
	h := front(t, address)
	h.client.Transport.(*http.Transport).MaxIdleConnsPerHost = streams
	var before, during runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var answering, all sync.WaitGroup
	answering.Add(streams)
	wrong := make(chan string, streams)
	for i := range streams {
		all.Go(func() {
			caller := fmt.Sprintf("caller-%d", i)
			chat := h.chat(caller)
			res, err := h.client.Do(h.request(t.Context(), caller, "POST", "/v1/chats/"+chat+"/messages", message("of "+caller), "Idempotency-Key", "k"))
			answering.Done()
			if err != nil {
				wrong <- err.Error()
				return
			}
			body, err := io.ReadAll(res.Body)
			if err == nil {
				err = res.Body.Close()
			}
			want := strings.Builder{}
			for n := range events {
				fmt.Fprintf(&want, "data: %d %s %s\n\n", n, chat[:strings.LastIndexByte(chat, '.')], message("of "+caller))
			}
			if err != nil || string(body) != want.String() {
				wrong <- fmt.Sprintf("%s: %v %.200q", caller, err, body)
			}
		})
	}
	answering.Wait()
	assert.EqualValues(t, streams, open.Load())
	runtime.GC()
	runtime.ReadMemStats(&during)
	// Caller, proxy and service are all in this process.
	perStream := (during.HeapInuse + during.StackInuse - before.HeapInuse - before.StackInuse) / streams
	assert.Less(t, perStream, uint64(400<<10), "bytes for one open stream")
	t.Logf("%d bytes for one open stream: caller, proxy and service", perStream)
	close(begin)
	all.Wait()
	close(wrong)
	for w := range wrong {
		t.Error(w)
	}
}
