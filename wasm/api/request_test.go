package api

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRequests has each endpoint of the interface that a turn needs, as it goes out.
func TestRequests(t *testing.T) {
	yes, no := true, false
	cases := map[string]struct {
		request   *Request
		line      string
		header    []Field
		body      string
		keepalive bool
	}{
		"create a chat": {CreateChat("w-1", "a-1", nil), "POST /v1/workspaces/w-1/chats",
			[]Field{{"Content-Type", "application/json"}, {"Accept", "application/json"}}, `{"agent_id":"a-1"}`, false},
		"create a temporary chat": {CreateChat("w-1", "a-1", &yes), "POST /v1/workspaces/w-1/chats",
			[]Field{{"Content-Type", "application/json"}, {"Accept", "application/json"}}, `{"agent_id":"a-1","is_temporary":true}`, false},
		"create a lasting chat": {CreateChat("w-1", "a-1", &no), "POST /v1/workspaces/w-1/chats",
			[]Field{{"Content-Type", "application/json"}, {"Accept", "application/json"}}, `{"agent_id":"a-1","is_temporary":false}`, false},
		"an agent's id is quoted": {CreateChat("w", "a\"\n", nil), "POST /v1/workspaces/w/chats",
			[]Field{{"Content-Type", "application/json"}, {"Accept", "application/json"}}, `{"agent_id":"a\"\u000a"}`, false},
		"send a message": {SendMessage("c-1", "k-1", `[{"type":"text","text":"hi"}]`, ""), "POST /v1/chats/c-1/messages",
			[]Field{{"Content-Type", "application/json"}, {"Accept", "text/event-stream"}, {"Idempotency-Key", "k-1"}}, `{"parts":[{"type":"text","text":"hi"}]}`, false},
		"send a message to a model": {SendMessage("c-1", "k-1", `[]`, `m"1`), "POST /v1/chats/c-1/messages",
			[]Field{{"Content-Type", "application/json"}, {"Accept", "text/event-stream"}, {"Idempotency-Key", "k-1"}}, `{"parts":[],"model":"m\"1"}`, false},
		"abort a turn":            {AbortChat("c-1"), "POST /v1/chats/c-1/abort", nil, "", true},
		"identifiers are encoded": {AbortChat("a/b?c#d e%é"), "POST /v1/chats/a%2Fb%3Fc%23d%20e%25%C3%A9/abort", nil, "", true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.line, c.request.Method+" "+c.request.Path)
			assert.Equal(t, c.header, c.request.Header)
			assert.Equal(t, c.body, string(c.request.Body))
			assert.Equal(t, c.keepalive, c.request.Keepalive)
			if c.body == "" {
				assert.Nil(t, c.request.Body)
			} else {
				assert.True(t, json.Valid(c.request.Body))
			}
		})
	}
}

func TestSegment(t *testing.T) {
	const kept = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.!~*'()"
	assert.Equal(t, kept, segment(kept))
	for c := range 128 {
		in := string(rune(c))
		out := segment(in)
		if strings.Contains(kept, in) {
			assert.Equal(t, in, out)
		} else {
			assert.Regexp(t, "^%[0-9A-F]{2}$", out)
		}
		back, err := url.PathUnescape(out)
		require.NoError(t, err)
		assert.Equal(t, in, back)
	}
	assert.Equal(t, "%F0%9F%98%80", segment("😀"))
}

func TestFind(t *testing.T) {
	fields := []Field{{"X-One", "1"}, {"x-two", "2"}, {"X-TWO", "3"}}
	cases := []struct {
		name, value string
		ok          bool
	}{
		{"X-One", "1", true}, {"x-one", "1", true}, {"X-Two", "2", true}, {"x-on", "", false}, {"", "", false},
		{"x-\u212Aelvin", "", false},
	}
	for _, c := range cases {
		value, ok := Find(append(fields, Field{"x-kelvin", "4"}), c.name)
		assert.Equal(t, c.value, value, c.name)
		assert.Equal(t, c.ok, ok, c.name)
	}
}
