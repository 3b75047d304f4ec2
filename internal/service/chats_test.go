package service_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-76f09577/turnwire/internal/service"
)

func TestCreateChat(t *testing.T) {
	s := serve(t)
	const path = "/v1/workspaces/demo/chats"
	cases := map[string]struct {
		method, path, body string
		headers            []string
		status             int
		code               string
	}{
		"created":                 {body: `{"agent_id":"assistant"}`, status: 201},
		"temporary":               {body: `{"agent_id":"assistant","is_temporary":true}`, status: 201},
		"unknown field":           {body: `{"agent_id":"assistant","colour":"red"}`, status: 201},
		"charset":                 {body: `{"agent_id":"assistant"}`, headers: []string{"Content-Type", "application/json; charset=utf-8"}, status: 201},
		"no key":                  {body: `{}`, headers: []string{"Authorization", ""}, status: 401, code: "missing_api_key"},
		"key of another scheme":   {body: `{}`, headers: []string{"Authorization", "Basic " + key}, status: 401, code: "missing_api_key"},
		"wrong key":               {body: `{}`, headers: []string{"Authorization", "Bearer other"}, status: 401, code: "invalid_api_key"},
		"unknown workspace":       {path: "/v1/workspaces/other/chats", body: `{"agent_id":"assistant"}`, status: 404, code: "workspace_not_found"},
		"unknown agent":           {body: `{"agent_id":"nobody"}`, status: 404, code: "agent_not_found"},
		"no agent":                {body: `{}`, status: 422, code: "invalid_field"},
		"agent not a string":      {body: `{"agent_id":7}`, status: 422, code: "invalid_field"},
		"agent null":              {body: `{"agent_id":null}`, status: 422, code: "invalid_field"},
		"temporary not boolean":   {body: `{"agent_id":"assistant","is_temporary":"yes"}`, status: 422, code: "invalid_field"},
		"temporary null":          {body: `{"agent_id":"assistant","is_temporary":null}`, status: 422, code: "invalid_field"},
		"not JSON":                {body: `{"agent_id"`, status: 400, code: "invalid_json"},
		"not an object":           {body: `["assistant"]`, status: 400, code: "invalid_json"},
		"null":                    {body: `null`, status: 400, code: "invalid_json"},
		"not UTF-8":               {body: "{\"agent_id\":\"\xff\"}", status: 400, code: "invalid_json"},
		"too large":               {body: `{"agent_id":"` + strings.Repeat("a", 5<<20) + `"}`, status: 413, code: "body_too_large"},
		"form":                    {body: `agent_id=assistant`, headers: []string{"Content-Type", "application/x-www-form-urlencoded"}, status: 415, code: "unsupported_media_type"},
		"no content type":         {body: `{"agent_id":"assistant"}`, headers: []string{"Content-Type", ""}, status: 415, code: "unsupported_media_type"},
		"wrong method":            {method: "GET", status: 405, code: "method_not_allowed"},
		"unknown path":            {path: "/v1/nothing", body: `{}`, status: 404, code: "unknown_path"},
		"workspace percent-coded": {path: "/v1/workspaces/%64emo/chats", body: `{"agent_id":"assistant"}`, status: 201},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			method, at := c.method, c.path
			if method == "" {
				method = "POST"
			}
			if at == "" {
				at = path
			}
			resp, body := s.call(method, at, c.body, c.headers...)
			require.Equal(t, c.status, resp.StatusCode, body)
			if c.status != http.StatusCreated {
				require.Equal(t, c.code, errorCode(t, resp, body))
				return
			}
			var record map[string]any
			require.NoError(t, json.Unmarshal([]byte(body), &record))
			require.NotEmpty(t, record["chat_id"])
			require.Equal(t, "assistant", record["agent_id"])
			require.Equal(t, name == "temporary", record["is_temporary"])
		})
	}
}

func TestTemporaryChatEnds(t *testing.T) {
	clock := &fakeClock{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	s := serve(t, func(cfg *service.Config) { cfg.Now = clock.now })
	kept, temporary := s.chat(), s.chat(`,"is_temporary":true`)

	clock.advance(59 * time.Minute)
	running := s.send(temporary, "k1", "count to 3", "X-Fault", forEver)
	running.next()
	clock.advance(48 * time.Hour)
	s.abort(temporary) // found: a stream is open
	running.whole()
	s.ended(running)

	clock.advance(59 * time.Minute)
	second := s.send(temporary, "k2", "count to 3")
	second.whole()
	s.ended(second)
	clock.advance(time.Hour)
	status, code := s.refused(temporary, "k3", message("still there?"))
	require.Equal(t, 404, status)
	require.Equal(t, "chat_not_found", code)
	s.abort(kept)
	for _, turn := range s.turns() {
		require.NotEqual(t, temporary, turn.ChatID)
	}
}

func TestTemporaryChatIsSweptByTheNext(t *testing.T) {
	clock := &fakeClock{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	s := serve(t, func(cfg *service.Config) { cfg.Now = clock.now })
	chat := s.chat(`,"is_temporary":true`)
	stream := s.send(chat, "k", "count to 3")
	stream.whole()
	s.ended(stream)
	require.Len(t, s.turns(), 1)
	clock.advance(time.Hour)
	s.chat()
	require.Empty(t, s.turns())
}
