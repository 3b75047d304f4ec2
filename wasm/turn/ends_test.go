package turn

import (
	"strings"
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	hello    = "data: {\"type\":\"text_delta\",\"data\":{\"chunk\":\"Hello\"}}\n\n"
	thinking = "data: {\"type\":\"reasoning_delta\",\"data\":{\"chunk\":\"Hm\"}}\n\n"
	complete = "data: {\"type\":\"turn_complete\",\"data\":{\"usage\":7}}\n\n"
	wrong    = "data: {\"type\":\"error\",\"data\":{\"code\":\"overloaded\",\"message\":\"try later\"}}\n\n"
)

// TestEnds has a case for each row of the profile's table "The end of a turn", in each way that leads there.
func TestEnds(t *testing.T) {
	cases := []struct {
		name   string
		inputs func(p *page)
		status Status
		code   string // of the error
		kind   api.Kind
		text   string
	}{
		{"turn_complete", func(p *page) { p.feed(hello + complete) }, Completed, "", "", "Hello"},
		{"turn_complete and nothing else", func(p *page) { p.feed(complete) }, Completed, "", "", ""},
		{"turn_complete without its blank line", func(p *page) { p.feed(hello + strings.TrimSpace(complete)); p.end(true) }, Completed, "", "", "Hello"},
		{"turn_complete without its blank line, broken", func(p *page) { p.feed(hello + strings.TrimSpace(complete)); p.end(false) }, Interrupted, "stream_broken", api.KindConnection, "Hello"},
		{"turn_complete cut", func(p *page) { p.feed(hello + complete[:40]); p.end(true) }, Interrupted, "stream_closed", api.KindConnection, "Hello"},
		{"an end after turn_complete", func(p *page) { p.feed(complete); p.end(false) }, Completed, "", "", ""},
		{"abort after turn_complete", func(p *page) { p.feed(complete); p.abort() }, Completed, "", "", ""},
		{"disconnect after turn_complete", func(p *page) { p.feed(complete); p.disconnect() }, Completed, "", "", ""},
		{"abort", func(p *page) { p.feed(hello); p.abort() }, Cancelled, "", "", "Hello"},
		{"abort at once", func(p *page) { p.abort() }, Cancelled, "", "", ""},
		{"disconnect", func(p *page) { p.feed(hello); p.disconnect() }, Interrupted, "disconnected", api.KindConnection, "Hello"},
		{"error event", func(p *page) { p.feed(hello + wrong) }, Failed, "overloaded", api.KindTurn, "Hello"},
		{"error event, then turn_complete", func(p *page) { p.feed(hello + wrong + complete) }, Failed, "overloaded", api.KindTurn, "Hello"},
		{"closed", func(p *page) { p.feed(hello); p.end(true) }, Interrupted, "stream_closed", api.KindConnection, "Hello"},
		{"closed at once", func(p *page) { p.end(true) }, Interrupted, "stream_closed", api.KindConnection, ""},
		{"closed after [DONE]", func(p *page) { p.feed(hello + "data: [DONE]\n\n"); p.end(true) }, Interrupted, "stream_closed", api.KindConnection, "Hello"},
		{"closed inside [DONE]", func(p *page) { p.feed(hello + "data: [DONE]"); p.end(true) }, Interrupted, "stream_closed", api.KindConnection, "Hello"},
		{"broken", func(p *page) { p.feed(hello); p.end(false) }, Interrupted, "stream_broken", api.KindConnection, "Hello"},
		{"broken at once", func(p *page) { p.end(false) }, Interrupted, "stream_broken", api.KindConnection, ""},
		{"stalled", func(p *page) { p.feed(hello); p.advance(idleTimeout) }, Interrupted, "idle_timeout", api.KindTimeout, "Hello"},
		{"stalled at once", func(p *page) { p.advance(idleTimeout) }, Interrupted, "idle_timeout", api.KindTimeout, ""},
		{"not JSON", func(p *page) { p.feed(hello + "data: <html>\n\n" + complete) }, Interrupted, "event_not_json", api.KindProtocol, "Hello"},
		{"too long", func(p *page) { p.feed(hello + "data: {\"a\":\""); flood(p, 17<<20) }, Interrupted, "event_too_long", api.KindProtocol, "Hello"},
	}
	for _, c := range cases {
		for name, byBatch := range map[string]bool{"": false, " by batch": true} {
			t.Run(c.name+name, func(t *testing.T) {
				p := streaming(t)
				p.byBatch = byBatch
				c.inputs(p)
				require.True(t, p.over(), "status %s", p.status)
				assert.Equal(t, c.status, p.outcome.Status)
				assert.Equal(t, c.text, string(p.m.Text()))
				if c.code == "" {
					assert.Nil(t, p.outcome.Err)
				} else {
					assert.Equal(t, c.code, p.outcome.Err.Code)
					assert.Equal(t, c.kind, p.outcome.Err.Kind)
				}
				aborts := 0
				if c.status == Cancelled {
					aborts = 1
				}
				assert.Equal(t, aborts, p.aborts)
			})
		}
	}
}

// TestEndsBeforeTheStream has the ends of a turn that no stream was opened for.
func TestEndsBeforeTheStream(t *testing.T) {
	html := &api.Response{Status: 200, ContentType: "text/html; charset=utf-8"}
	refused := func(status int) func(p *page) {
		return func(p *page) {
			p.headers(&api.Response{Status: status})
			p.answer(`{"error":{"message":"no"}}`)
		}
	}
	cases := []struct {
		name   string
		inputs func(p *page)
		status Status
		code   string
		kind   api.Kind
		sends  int
	}{
		{"refused", refused(404), Failed, "not_found", api.KindAPI, 1},
		{"refused, body cut", func(p *page) { p.headers(&api.Response{Status: 404}); p.failed() }, Failed, "not_found", api.KindAPI, 1},
		{"refused, body stalls", func(p *page) { p.headers(&api.Response{Status: 404}); p.advance(timeout) }, Failed, "not_found", api.KindAPI, 1},
		{"refused three times", func(p *page) {
			for range 3 {
				refused(503)(p)
				p.advance(8000)
			}
		}, Failed, "server_error", api.KindAPI, 3},
		{"no connection, three times", func(p *page) {
			for range 3 {
				p.failed()
				p.advance(8000)
			}
		}, Interrupted, "connection_failed", api.KindConnection, 3},
		{"no head", func(p *page) { p.advance(timeout) }, Interrupted, "response_timeout", api.KindTimeout, 1},
		{"no key", func(p *page) {
			p.m.Abandon(&api.Error{Kind: api.KindClient, Code: "api_key_failed", Message: "no key"})
			p.settle()
		}, Failed, "api_key_failed", api.KindClient, 1},
		{"another content type", func(p *page) { p.headers(html); p.answer("<!doctype html>") }, Interrupted, "not_an_event_stream", api.KindProtocol, 1},
		{"another content type, body cut", func(p *page) { p.headers(html); p.failed() }, Interrupted, "not_an_event_stream", api.KindProtocol, 1},
		{"another content type, body stalls", func(p *page) { p.headers(html); p.advance(timeout) }, Interrupted, "not_an_event_stream", api.KindProtocol, 1},
		{"no content type", func(p *page) { p.headers(&api.Response{Status: 204}); p.answer("") }, Interrupted, "not_an_event_stream", api.KindProtocol, 1},
		{"abort", func(p *page) { p.abort() }, Cancelled, "", "", 1},
		{"abort in a refusal", func(p *page) { p.headers(&api.Response{Status: 503}); p.abort() }, Cancelled, "", "", 1},
		{"abort while waiting", func(p *page) { refused(503)(p); p.abort() }, Cancelled, "", "", 1},
		{"abort in another content type", func(p *page) { p.headers(html); p.abort() }, Cancelled, "", "", 1},
		{"disconnect", func(p *page) { p.disconnect() }, Interrupted, "disconnected", api.KindConnection, 1},
		{"disconnect while waiting", func(p *page) { refused(503)(p); p.disconnect() }, Interrupted, "disconnected", api.KindConnection, 1},
		{"disconnect in another content type", func(p *page) { p.headers(html); p.disconnect() }, Interrupted, "disconnected", api.KindConnection, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, config())
			c.inputs(p)
			require.True(t, p.over(), "status %s", p.status)
			assert.Equal(t, c.status, p.outcome.Status)
			assert.Len(t, p.sends, c.sends)
			if c.code == "" {
				assert.Nil(t, p.outcome.Err)
			} else {
				assert.Equal(t, c.code, p.outcome.Err.Code)
				assert.Equal(t, c.kind, p.outcome.Err.Kind)
			}
		})
	}
}

// flood feeds n bytes of one event in chunks as large as the bridge's.
func flood(p *page, n int) {
	chunk := []byte(strings.Repeat("x", 64<<10))
	for ; n > 0 && !p.over(); n -= len(chunk) {
		p.feedBytes(chunk)
	}
}

func TestLargestEvent(t *testing.T) {
	p := streaming(t)
	p.feed("data: {\"type\":\"text_delta\",\"data\":{\"chunk\":\"")
	flood(p, 16<<20-64<<10)
	p.feed("\"}}\n\n" + complete)
	assert.Equal(t, Completed, p.outcome.Status)
	assert.Len(t, p.m.Text(), 16<<20-64<<10)
}

func TestWhatAnEndCarries(t *testing.T) {
	t.Run("turn_complete", func(t *testing.T) {
		p := streaming(t)
		p.feed(complete)
		assert.Equal(t, `{"usage":7}`, string(p.outcome.Complete))
	})
	t.Run("turn_complete without a payload", func(t *testing.T) {
		p := streaming(t)
		p.feed("data: {\"type\":\"turn_complete\"}\n\n")
		assert.Equal(t, `{}`, string(p.outcome.Complete))
	})
	t.Run("error event", func(t *testing.T) {
		for data, want := range map[string][2]string{
			`{"code":"c","message":"m"}`:                {"c", "m"},
			`{"error":{"code":"c","message":"m"}}`:      {"c", "m"},
			`{"error":{"type":"t","message":"m"}}`:      {"t", "m"},
			`{"error":"m"}`:                             {"turn_failed", "m"},
			`{"detail":"m"}`:                            {"turn_failed", "m"},
			`{}`:                                        {"turn_failed", "the turn failed at the service"},
			`{"message":{"no":"string"},"code":500}`:    {"turn_failed", "the turn failed at the service"},
			`{"message":"a\nb","code":"caf\u00e9_bad"}`: {"café_bad", "a\nb"},
		} {
			p := streaming(t)
			p.feed("event: error\ndata: " + data + "\n\n")
			require.True(t, p.over())
			assert.Equal(t, Failed, p.outcome.Status)
			assert.Equal(t, want, [2]string{p.outcome.Err.Code, p.outcome.Err.Message})
			assert.Equal(t, data, string(p.outcome.Err.EventPayload))
		}
	})
	t.Run("broken JSON", func(t *testing.T) {
		p := streaming(t)
		p.feed(hello + "data: [DONE]\n\n" + hello + "data: {\"broken\":" + strings.Repeat("é", 300) + "\n\n")
		assert.Contains(t, p.outcome.Err.Message, "event 4 ")
		assert.Contains(t, p.outcome.Err.Message, `{"broken":`+strings.Repeat("é", 190)+"…")
		assert.NotContains(t, p.outcome.Err.Message, strings.Repeat("é", 191))
	})
	t.Run("another content type", func(t *testing.T) {
		p := open(t, config())
		p.headers(&api.Response{Status: 200, ContentType: "text/html", RequestID: "r"})
		assert.Equal(t, 4096, p.body)
		p.answer("<title>Sign in</title>")
		assert.Contains(t, p.outcome.Err.Message, "text/html")
		assert.Contains(t, p.outcome.Err.Message, "<title>Sign in</title>")
		assert.Equal(t, "r", p.outcome.Err.RequestID)
	})
	t.Run("too long", func(t *testing.T) {
		p := streaming(t)
		p.feed(hello + "data: ")
		flood(p, 17<<20)
		assert.Contains(t, p.outcome.Err.Message, "event 2 ")
		assert.Contains(t, p.outcome.Err.Message, "16 MiB")
	})
	t.Run("a broken connection's own words", func(t *testing.T) {
		p := streaming(t)
		p.end(false)
		assert.Contains(t, p.outcome.Err.Message, "(TypeError: network error)")
		assert.Equal(t, "req-1", p.outcome.Err.RequestID)
	})
}

// TestNothingAfterTheEnd tells an ended turn all that a connection let go may still bring.
func TestNothingAfterTheEnd(t *testing.T) {
	for name, end := range map[string]func(p *page){
		"completed":    func(p *page) { p.feed(complete) },
		"failed":       func(p *page) { p.feed(wrong) },
		"cancelled":    func(p *page) { p.abort() },
		"interrupted":  func(p *page) { p.end(false) },
		"disconnected": func(p *page) { p.disconnect() },
		"not JSON":     func(p *page) { p.feed("data: x\n\n") },
		"stalled":      func(p *page) { p.advance(idleTimeout) },
	} {
		t.Run(name, func(t *testing.T) {
			p := streaming(t)
			p.feed(hello)
			end(p)
			events, aborts, outcome := len(p.got), p.aborts, *p.outcome
			bother(p)
			assert.Len(t, p.got, events)
			assert.Equal(t, aborts, p.aborts)
			assert.Equal(t, outcome, *p.outcome)
			assert.Equal(t, "Hello", string(p.m.Text()))
		})
	}
}

// bother tells everything that may come too late.
func bother(p *page) {
	p.m.Start()
	p.headers(eventStream)
	p.headers(&api.Response{Status: 503})
	p.headers(&api.Response{Status: 200, ContentType: "text/html"})
	p.answer("{}")
	p.failed()
	p.feed(hello + complete)
	p.hold(true)
	p.m.TimerFired(p.now + 10*idleTimeout)
	p.end(true)
	p.end(false)
	p.m.Abandon(&api.Error{Code: "late"})
	p.settle()
	p.disconnect()
	p.abort()
	p.abort()
}

func TestAfterTheStreamsEnd(t *testing.T) {
	p := streaming(t)
	p.m.StreamEnded(true, "")
	p.m.Feed(p.now, []byte(complete))
	p.m.StreamEnded(false, "again")
	p.drain()
	assert.Equal(t, "stream_closed", p.code())
	assert.Empty(t, p.got)
}
