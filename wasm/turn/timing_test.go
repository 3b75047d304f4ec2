package turn

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIdle(t *testing.T) {
	cases := []struct {
		name   string
		inputs func(p *page)
		ends   int64 // the moment of idle_timeout, 0 for none
	}{
		{"silence", func(p *page) { p.advance(10 * idleTimeout) }, idleTimeout},
		{"not yet", func(p *page) { p.advance(idleTimeout - 1) }, 0},
		{"data, then silence", func(p *page) { p.advance(100_000); p.feed(hello); p.advance(10 * idleTimeout) }, 100_000 + idleTimeout},
		{"part of an event counts", func(p *page) { p.advance(100_000); p.feed("d"); p.advance(10 * idleTimeout) }, 100_000 + idleTimeout},
		{"a comment counts", func(p *page) { p.advance(100_000); p.feed(": x\n\n"); p.advance(10 * idleTimeout) }, 100_000 + idleTimeout},
		{"data at the last moment", func(p *page) { p.advance(idleTimeout - 1); p.feed(hello); p.advance(idleTimeout - 1) }, 0},
		{"data forever", func(p *page) {
			for range 100 {
				p.advance(idleTimeout - 1)
				p.feed(": x\n\n")
			}
		}, 0},
		{"on hold", func(p *page) { p.hold(true); p.advance(10 * idleTimeout) }, 0},
		{"after a hold", func(p *page) { p.hold(true); p.advance(500_000); p.hold(false); p.advance(10 * idleTimeout) }, 500_000 + idleTimeout},
		{"before a hold does not count", func(p *page) {
			p.advance(idleTimeout - 1)
			p.hold(true)
			p.advance(1000)
			p.hold(false)
			p.advance(idleTimeout - 1)
		}, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := streaming(t)
			ended := int64(0)
			c.inputs(p)
			if p.over() {
				ended = p.ended
				assert.Equal(t, "idle_timeout", p.code())
				assert.Contains(t, p.outcome.Err.Message, "120000 ms")
			}
			assert.Equal(t, c.ends, ended)
		})
	}
}

func TestNoIdleLimit(t *testing.T) {
	c := config()
	c.IdleTimeout = 0
	p := open(t, c)
	p.headers(eventStream)
	assert.Equal(t, int64(-1), p.due)
	p.advance(1 << 40)
	p.feed(complete)
	assert.Equal(t, Completed, p.outcome.Status)
}

func TestNoLimitOnAnotherContentType(t *testing.T) {
	c := config()
	c.Policy.Timeout = 0
	p := open(t, c)
	p.headers(&api.Response{Status: 200})
	assert.Equal(t, int64(-1), p.due)
	p.answer("")
	assert.Equal(t, "not_an_event_stream", p.code())
}

// TestBatches shows where a batch ends, so that a listener finds the turn as of its event and an abort comes in time.
func TestBatches(t *testing.T) {
	ping := "data: {\"type\":\"ping\"}\n\n"
	cases := []struct {
		name, stream string
		want         []int
	}{
		{"text only", hello + hello + thinking + ping + hello, []int{5}},
		{"a tool event begins one", hello + started(`{}`) + hello + hello, []int{1, 3}},
		{"each tool event", started(`{}`) + delta(`{}`) + called(`{}`) + result(`{}`), []int{1, 1, 1, 1}},
		{"turn_complete is alone", hello + hello + complete + hello, []int{2, 1}},
		{"an error is alone", hello + wrong + hello, []int{1, 1}},
		{"an unreadable event", hello + hello + "data: x\n\n" + hello, []int{2}},
	}
	for _, c := range cases {
		for name, byBatch := range map[string]bool{"": false, " by batch": true} {
			t.Run(c.name+name, func(t *testing.T) {
				p := streaming(t)
				p.byBatch = byBatch
				p.feed(c.stream)
				assert.Equal(t, c.want, p.batches)
			})
		}
	}
	t.Run("text before the stream's end", func(t *testing.T) {
		p := streaming(t)
		p.feed(strings.TrimSpace(hello))
		p.end(true)
		assert.Equal(t, []int{1}, p.batches)
		assert.Equal(t, "stream_closed", p.code())
	})
}

// TestLargeBatches passes the limits of one batch, in number and in bytes.
func TestLargeBatches(t *testing.T) {
	p := streaming(t)
	p.byBatch = true
	p.feed(strings.Repeat(hello, 2*BatchEvents+1))
	assert.Equal(t, []int{BatchEvents, BatchEvents, 1}, p.batches)

	p = streaming(t)
	p.byBatch = true
	long := strings.Repeat("é", 40_000)
	p.feed(strings.Repeat(`data: {"type":"text_delta","data":{"chunk":"`+long+"\"}}\n\n", 10) + complete)
	assert.Equal(t, 11, len(p.got))
	assert.GreaterOrEqual(t, len(p.batches), 3)
	assert.Equal(t, strings.Repeat(long, 10), string(p.m.Text()))
	p.checkBatchMemory(2 << 20)
}

func (p *page) checkBatchMemory(most int) {
	p.Helper()
	var b Batch
	q := streaming(p.TB)
	q.byBatch = true
	q.feed(`data: {"type":"text_delta","data":{"chunk":"` + strings.Repeat("x", most+1) + "\"}}\n\n")
	q.feed(hello)
	q.m.Batch(&b)
	assert.LessOrEqual(p, cap(q.events.JSON), most, "the buffer of a large event is let go")
}

// TestHeldBack asks as the bridge does: what is not first in its batch is pending until it is.
func TestHeldBack(t *testing.T) {
	for name, c := range map[string]struct {
		stream string
		status Status // after it
	}{
		"tool":     {called(`{"id":"a"}`), Streaming},
		"complete": {complete, Completed},
		"error":    {wrong, Failed},
	} {
		t.Run(name, func(t *testing.T) {
			m := New(config())
			m.Start()
			m.Sent()
			m.Headers(0, eventStream)
			m.Feed(0, []byte(hello+c.stream))
			_, ok := m.next(true)
			require.True(t, ok)
			for range 3 {
				_, ok = m.next(false)
				require.False(t, ok)
				require.True(t, m.pending())
				require.Equal(t, Streaming, m.status)
				require.Equal(t, "[]", string(m.AppendToolCalls(nil)))
			}
			_, ok = m.next(true)
			require.True(t, ok)
			require.Equal(t, c.status, m.status)
			require.False(t, m.pending())
		})
	}
}

// TestStartsNothingTwice shows that heads which come twice or out of turn open no second stream.
func TestStartsNothingTwice(t *testing.T) {
	p := streaming(t)
	p.headers(eventStream)
	p.headers(&api.Response{Status: 500})
	p.answer("")
	p.failed()
	assert.Equal(t, Streaming, p.status)
	assert.Len(t, p.sends, 1)
	assert.True(t, slices.Equal(p.batches, nil))
}
