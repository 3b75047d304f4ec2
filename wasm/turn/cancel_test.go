package turn

import (
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// points are the moments of a turn at which a caller may stop it.
var points = map[string]func(p *page){
	"sent":                 func(p *page) {},
	"refused":              func(p *page) { p.headers(&api.Response{Status: 503}) },
	"waiting":              func(p *page) { p.headers(&api.Response{Status: 503}); p.answer("") },
	"sent again":           func(p *page) { p.headers(&api.Response{Status: 503}); p.answer(""); p.advance(1000) },
	"another content type": func(p *page) { p.headers(&api.Response{Status: 200}) },
	"opened":               func(p *page) { p.headers(eventStream) },
	"in mid-stream":        func(p *page) { p.headers(eventStream); p.feed(hello + hello) },
	"in an event":          func(p *page) { p.headers(eventStream); p.feed(hello + hello[:20]) },
	"after a tool call":    func(p *page) { p.headers(eventStream); p.feed(hello + called(`{"id":"a"}`)) },
	"on hold":              func(p *page) { p.headers(eventStream); p.feed(hello); p.hold(true) },
	"idle":                 func(p *page) { p.headers(eventStream); p.feed(hello); p.advance(idleTimeout - 1) },
	"ended, not drained":   func(p *page) { p.headers(eventStream); p.feed(hello); p.m.StreamEnded(true, "") },
}

func TestStopAtEachPoint(t *testing.T) {
	for name, reach := range points {
		t.Run("abort/"+name, func(t *testing.T) {
			p := open(t, config())
			reach(p)
			events, sends := len(p.got), len(p.sends)
			p.abort()
			require.True(t, p.over())
			assert.Equal(t, Outcome{Status: Cancelled}, *p.outcome)
			assert.Equal(t, 1, p.aborts)
			p.abort()
			p.disconnect()
			bother(p)
			assert.Equal(t, 1, p.aborts, "aborting twice sends nothing more")
			assert.Len(t, p.got, events, "nothing is delivered after")
			assert.Len(t, p.sends, sends)
			assert.Equal(t, Cancelled, p.m.status)
		})
		t.Run("disconnect/"+name, func(t *testing.T) {
			p := open(t, config())
			reach(p)
			events, sends := len(p.got), len(p.sends)
			p.disconnect()
			require.True(t, p.over())
			assert.Equal(t, Interrupted, p.outcome.Status)
			assert.Equal(t, "disconnected", p.code())
			p.disconnect()
			p.abort()
			bother(p)
			assert.Zero(t, p.aborts, "disconnecting tells the service nothing")
			assert.Len(t, p.got, events, "nothing is delivered after")
			assert.Len(t, p.sends, sends)
			assert.Equal(t, Interrupted, p.m.status)
		})
	}
}

func TestAbortRequest(t *testing.T) {
	m := New(config())
	m.Start()
	m.Sent()
	m.Abort()
	effects := m.Take()
	assert.Equal(t, []any{Finish{Outcome{Status: Cancelled}}, SendAbort{}}, []any{effects[len(effects)-2], effects[len(effects)-1]})
	assert.True(t, aborted.Keepalive, "it has to survive the page")
}

// TestStopBeforeTheMessageLeft stops a turn of which the service can't know: it is told nothing.
func TestStopBeforeTheMessageLeft(t *testing.T) {
	for name, reach := range map[string]func(m *Machine){
		"before the start":  func(*Machine) {},
		"asking for a key":  func(m *Machine) { m.Start() },
		"waiting for leave": func(m *Machine) { m.Start(); m.Keyed() },
	} {
		t.Run(name, func(t *testing.T) {
			m := New(config())
			reach(m)
			m.Take()
			m.Abort()
			m.Start()
			m.Sent()
			for _, e := range m.Take() {
				switch e.(type) {
				case retry.Send, SendAbort:
					assert.Fail(t, "the service is told", "%T", e)
				}
			}
			assert.Equal(t, Cancelled, m.status)
		})
	}
}

func TestKeyThatNeverComes(t *testing.T) {
	c := config()
	c.Policy.RenewKey = true
	p := &page{TB: t, m: New(c), config: c, due: -1, status: Queued, ranks: map[*call]int{}, keyless: true}
	p.m.Start()
	p.settle()
	p.advance(timeout)
	require.True(t, p.over())
	assert.Equal(t, "api_key_timeout", p.code())
	assert.Equal(t, Failed, p.outcome.Status, "nothing was sent")
}

// TestStopFromListener stops at each event of one chunk: what the module has read already is not delivered.
func TestStopFromListener(t *testing.T) {
	stream := hello + hello + thinking + started(`{"id":"a"}`) + hello + result(`{"id":"a"}`) + hello + complete + hello
	all := []string{"text_delta", "text_delta", "reasoning_delta", "tool_call_started", "text_delta", "tool_result", "text_delta", "turn_complete"}
	for _, byBatch := range []bool{false, true} {
		for at := range all {
			for name, stop := range map[string]func(p *page){"abort": (*page).abort, "disconnect": (*page).disconnect} {
				p := streaming(t)
				p.byBatch = byBatch
				p.listener = func(seen) {
					if len(p.got) == at+1 {
						stop(p)
					}
				}
				p.feed(stream)
				assert.Equal(t, all[:at+1], p.types(), "%s at event %d", name, at)
				want, aborts := Cancelled, 1
				if name == "disconnect" {
					want, aborts = Interrupted, 0
				}
				if at == len(all)-1 {
					want, aborts = Completed, 0
				}
				assert.Equal(t, want, p.outcome.Status, "%s at event %d", name, at)
				assert.Equal(t, aborts, p.aborts, "%s at event %d", name, at)
			}
		}
	}
}
