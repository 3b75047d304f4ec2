package turn

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// One event each of the streams below; with an id where id is not empty.
func line(id, json string) string {
	if id != "" {
		id = "id: " + id + "\n"
	}
	return id + "data: " + json + "\n\n"
}

func said(id, text string) string {
	return line(id, `{"type":"text_delta","data":{"chunk":"`+text+`"}}`)
}

const (
	toolBegan = `{"type":"tool_call_started","data":{"id":"t","name":"clock"}}`
	toolArgs  = `{"type":"tool_call_delta","data":{"id":"t","delta":"{\"zone\":"}}`
	toolMore  = `{"type":"tool_call_delta","data":{"id":"t","delta":"\"UTC\"}"}}`
	toolBoth  = `{"type":"tool_call_delta","data":{"id":"t","delta":"{\"zone\":\"UTC\"}"}}`
	finished  = `{"type":"turn_complete","data":{}}`
)

func TestReplay(t *testing.T) {
	whole := said("", "one ") + said("", "two ") + said("", "three") + line("", finished)
	cases := []struct {
		name    string
		streams []string // each but the last breaks off
		lastIDs []string // that the requests carried
		code    string
		text    string
		events  int
	}{
		{name: "from its first event", streams: []string{said("", "one "), whole}, lastIDs: []string{"", ""}, code: "completed", text: "one two three", events: 4},
		{name: "broken twice", streams: []string{said("", "one "), said("", "one ") + said("", "two "), whole}, lastIDs: []string{"", "", ""}, code: "completed", text: "one two three", events: 4},
		{name: "broken before it is new", streams: []string{said("", "one ") + said("", "two "), said("", "one "), whole}, lastIDs: []string{"", "", ""}, code: "completed", text: "one two three", events: 4},
		{name: "in other fragments", streams: []string{said("", "one t"), said("", "on") + said("", "e two ") + said("", "three") + line("", finished)},
			lastIDs: []string{"", ""}, code: "completed", text: "one two three", events: 4},
		{name: "another text", streams: []string{said("", "one "), said("", "uno ") + line("", finished)}, lastIDs: []string{"", ""}, code: "replay_mismatch", text: "one ", events: 1},
		{name: "a shorter text", streams: []string{said("", "one ") + said("", "two "), said("", "one ") + line("", finished)}, lastIDs: []string{"", ""}, code: "replay_mismatch", text: "one two ", events: 2},
		{name: "an error is news", streams: []string{said("", "one "), line("", `{"type":"error","data":{"code":"gone"}}`)}, lastIDs: []string{"", ""}, code: "gone", text: "one ", events: 2},

		{name: "by ids, after the last", streams: []string{said("1", "one ") + said("2", "two "), said("3", "three") + line("4", finished)},
			lastIDs: []string{"", "2"}, code: "completed", text: "one two three", events: 4},
		{name: "by ids, from the first", streams: []string{said("1", "one ") + said("2", "two "), said("1", "one ") + said("2", "two ") + said("3", "three") + line("4", finished)},
			lastIDs: []string{"", "2"}, code: "completed", text: "one two three", events: 4},
		{name: "by ids, another event under one", streams: []string{said("1", "one ") + said("2", "two "), said("1", "one ") + said("2", "due ") + line("3", finished)},
			lastIDs: []string{"", "2"}, code: "replay_mismatch", text: "one two ", events: 2},
		{name: "by ids, one left out", streams: []string{said("1", "one ") + said("2", "two "), said("1", "one ") + line("3", finished)},
			lastIDs: []string{"", "2"}, code: "replay_mismatch", text: "one two ", events: 2},

		{name: "arguments in other fragments", streams: []string{line("", toolBegan) + line("", toolArgs), line("", toolBegan) + line("", toolBoth) + line("", finished)},
			lastIDs: []string{"", ""}, code: "completed", events: 4},
		{name: "another tool", streams: []string{line("", toolBegan), line("", strings.Replace(toolBegan, "clock", "bomb", 1)) + line("", finished)},
			lastIDs: []string{"", ""}, code: "replay_mismatch", events: 1},
		{name: "new text before the tool is shown again", streams: []string{said("", "one ") + line("", toolBegan) + line("", toolArgs), said("", "one two") + line("", toolBegan)},
			lastIDs: []string{"", ""}, code: "replay_mismatch", text: "one ", events: 3},
		{name: "arguments that go on", streams: []string{line("", toolBegan) + line("", toolArgs), line("", toolBegan) + line("", toolArgs) + line("", toolMore) + line("", finished)},
			lastIDs: []string{"", ""}, code: "completed", events: 4},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			config := config()
			config.Replay, config.Offline = true, func() bool { return false }
			p := open(t, config)
			for i, stream := range c.streams {
				p.headers(eventStream)
				p.feed(stream)
				if i < len(c.streams)-1 {
					p.end(false)
					require.Equal(t, Streaming, p.status)
					p.advance(8_000)
				}
			}
			assert.Equal(t, c.code, p.code())
			assert.Equal(t, c.text, string(p.m.Text()))
			assert.Len(t, p.got, c.events)
			var lastIDs []string
			for _, send := range p.sends {
				id := ""
				for _, f := range send.Request.Header {
					if f.Name == "Last-Event-ID" {
						id = f.Value
					}
				}
				lastIDs = append(lastIDs, id)
				assert.Equal(t, config.Request.Body, send.Request.Body)
				assert.Contains(t, send.Request.Header, config.Request.Header[2], "the same key")
			}
			assert.Equal(t, c.lastIDs, lastIDs)
		})
	}
}

func TestReplayOffline(t *testing.T) {
	offline := false
	start := func(t *testing.T) *page {
		offline = false
		config := config()
		config.Replay, config.Offline = true, func() bool { return offline }
		p := open(t, config)
		p.headers(eventStream)
		p.feed(said("", "one "))
		return p
	}
	breakOff := func(p *page) {
		p.end(false)
	}
	t.Run("waits for the network, however short the back-off", func(t *testing.T) {
		p := start(t)
		offline = true
		breakOff(p)
		p.advance(60_000)
		assert.Len(t, p.sends, 1)
		offline = false
		p.m.Online()
		p.settle()
		assert.Len(t, p.sends, 2)
	})
	t.Run("costs no try", func(t *testing.T) {
		p := start(t)
		for range 5 {
			offline = true
			breakOff(p)
			offline = false
			p.m.Online()
			p.settle()
			p.headers(eventStream)
		}
		assert.Equal(t, Streaming, p.status)
		p.feed(said("", "one ") + line("", finished))
		assert.Equal(t, "completed", p.code())
	})
	t.Run("is not believed for ever", func(t *testing.T) {
		p := start(t)
		offline = true
		for p.status == Streaming && len(p.sends) < 10 {
			breakOff(p)
			p.advance(idleTimeout)
			if p.status == Streaming {
				p.headers(eventStream)
			}
		}
		assert.Equal(t, "stream_broken", p.code())
		assert.Len(t, p.sends, 3, "the message and two tries")
	})
	t.Run("abort ends the wait", func(t *testing.T) {
		p := start(t)
		offline = true
		breakOff(p)
		p.abort()
		assert.Equal(t, Cancelled, p.status)
		assert.Equal(t, 1, p.aborts)
	})
}
