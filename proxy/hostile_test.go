package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-76f09577/turnwire/proxy"
)

// TestHostileRequests sends what must not pass, as bytes of its own: none of it reaches the service.
func TestHostileRequests(t *testing.T) {
	var reached atomic.Int32
	svc := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"chat_id":"chat_1","file_id":"file_1"}`)
	}))
	t.Cleanup(svc.Close)
	now := time.Now()
	h := front(t, svc.URL, func(c *proxy.Config) {
		c.MaxBody, c.BodyTimeout, c.MaxFile, c.Models = 1000, time.Second, 100, []string{"small"}
		c.Now = func() time.Time { return now }
		authorize := c.Authorize
		c.Authorize = func(r *http.Request) (string, error) {
			caller, err := authorize(r)
			if caller == "banned" {
				return "", fmt.Errorf("%w: banned", proxy.ErrForbidden)
			}
			return caller, err
		}
	})
	chat := h.chat("alice")
	file := h.do("alice", "POST", "/v1/workspaces/demo/files/upload-url", `{"size":1}`).field(t, "file_id")
	bobs := h.chat("bob")
	now = now.Add(-31 * 24 * time.Hour)
	expired := h.chat("alice")
	now = now.Add(31 * 24 * time.Hour)
	flip := func(text string, at int) string {
		b := []byte(text)
		at = (at + len(b)) % len(b)
		b[at] = map[bool]byte{true: 'B', false: 'A'}[b[at] == 'A']
		return string(b)
	}
	tokens, err := proxy.NewTokens(time.Hour, []byte("another secret, which this proxy does not have"))
	require.NoError(t, err)
	short, err := proxy.NewTokens(time.Nanosecond, secret)
	require.NoError(t, err)
	bearer := "Authorization: Bearer " + h.tokens.Issue("alice")
	reached.Store(0)

	type attack struct {
		line    string
		headers []string
		body    string
		status  int
		code    string
	}
	json := func(line, body string, status int, code string, headers ...string) attack {
		return attack{line, append([]string{bearer, "Origin: " + page, "Content-Type: application/json", fmt.Sprintf("Content-Length: %d", len(body))}, headers...), body, status, code}
	}
	get := func(line string, status int, code string, headers ...string) attack {
		return attack{line, append([]string{bearer}, headers...), "", status, code}
	}
	messages := "POST /v1/chats/" + chat + "/messages"
	hi := message("hi")
	for name, a := range map[string]attack{
		"the root":                    get("GET /", 404, "unknown_path"),
		"another path":                get("GET /v1/models", 404, "unknown_path"),
		"another version":             get("GET /v2/files/"+file, 404, "unknown_path"),
		"listing chats":               get("GET /v1/workspaces/demo/chats", 405, "method_not_allowed"),
		"deleting a file":             get("DELETE /v1/files/"+file, 405, "method_not_allowed"),
		"HEAD":                        get("HEAD /v1/files/"+file, 405, ""),
		"TRACE":                       get("TRACE /v1/files/"+file, 405, "method_not_allowed"),
		"a method of its own":         get("G%ET /v1/files/"+file, 405, "method_not_allowed"),
		"a lower-case method":         get("get /v1/files/"+file, 405, "method_not_allowed"),
		"method by header":            get("GET /v1/workspaces/demo/chats", 405, "method_not_allowed", "X-HTTP-Method-Override: POST"),
		"a trailing slash":            get("GET /v1/files/"+file+"/", 404, "unknown_path"),
		"a double slash":              get("GET /v1//files/"+file, 404, "unknown_path"),
		"a network path":              get("GET //evil.example/v1/files/"+file, 404, "unknown_path"),
		"dots":                        get("GET /v1/files/../files/"+file, 404, "unknown_path"),
		"dots as identifier":          get("GET /v1/files/..", 400, "invalid_path"),
		"encoded dots":                get("GET /v1/files/%2e%2e", 400, "invalid_path"),
		"dots encoded twice":          get("GET /v1/files/%252e%252e", 400, "invalid_path"),
		"an encoded slash":            get("GET /v1/files/"+file+"%2f..%2fother", 400, "invalid_path"),
		"an encoded backslash":        get("GET /v1/files/"+file+"%5c..", 400, "invalid_path"),
		"a backslash":                 get(`GET /v1/files/..\..\x`, 400, "invalid_path"),
		"an encoded NUL":              get("GET /v1/files/"+file+"%00", 400, "invalid_path"),
		"an encoded line feed":        get("GET /v1/files/"+file+"%0d%0aX-Evil:%201", 400, "invalid_path"),
		"no UTF-8":                    get("GET /v1/files/%ff%fe", 400, "invalid_path"),
		"a broken escape":             get("GET /v1/files/%zz", 400, ""),
		"an encoded word":             get("GET /v1/%66iles/"+file, 404, "unknown_path"),
		"a matrix parameter":          get("GET /v1/files/"+file+";v=1", 400, "invalid_path"),
		"a fragment":                  get("GET /v1/files/"+file+"%23x", 400, "invalid_path"),
		"a query":                     get("GET /v1/files/"+file+"?key=1", 400, "query_not_allowed"),
		"an empty query":              get("GET /v1/files/"+file+"?", 400, "query_not_allowed"),
		"an endless identifier":       get("GET /v1/files/"+strings.Repeat("a", 2000), 400, "invalid_path"),
		"an absolute target":          get("GET http://evil.example/v1/files/"+file, 400, "invalid_target"),
		"an absolute target of here":  get("GET http://"+h.server.Listener.Addr().String()+"/v1/files/"+file, 400, "invalid_target"),
		"CONNECT":                     {"CONNECT evil.example:443", nil, "", 405, "method_not_allowed"},
		"OPTIONS of everything":       get("OPTIONS *", 200, ""),
		"an upgrade":                  get("GET /v1/files/"+file, 400, "upgrade_not_allowed", "Connection: Upgrade", "Upgrade: websocket"),
		"an upgrade to h2c":           get("GET /v1/files/"+file, 400, "upgrade_not_allowed", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"),
		"two lengths":                 json(messages, hi, 400, "", "Content-Length: 5"),
		"length and chunks":           {messages, []string{bearer, "Content-Type: application/json", "Content-Length: 4", "Transfer-Encoding: chunked"}, "0\r\n\r\n", 400, "invalid_json"},
		"an odd coding":               {messages, []string{bearer, "Transfer-Encoding: xchunked"}, "0\r\n\r\n", 501, ""},
		"a space before the colon":    get("GET /v1/files/"+file, 400, "", "X-A : b"),
		"a folded header":             get("GET /v1/files/"+file, 401, "not_authorized", " folded: 1"),
		"two hosts":                   get("GET /v1/files/"+file, 400, "", "Host: evil.example"),
		"two keys":                    get("GET /v1/files/"+file, 400, "duplicate_header", bearer),
		"two idempotency keys":        json(messages, hi, 400, "duplicate_header", "Idempotency-Key: a", "Idempotency-Key: b"),
		"two types":                   json(messages, hi, 400, "duplicate_header", "Content-Type: text/plain"),
		"a long idempotency key":      json(messages, hi, 431, "header_too_large", "Idempotency-Key: "+strings.Repeat("k", 5000)),
		"too many headers":            get("GET /v1/files/"+file, 431, "", "X-A: "+strings.Repeat("a", 40<<10)),
		"trailers":                    {messages, []string{bearer, "Content-Type: application/json", "Transfer-Encoding: chunked", "Trailer: X-Evil"}, "2\r\n{}\r\n0\r\nX-Evil: 1\r\n\r\n", 400, "trailer_not_allowed"},
		"no token":                    {"GET /v1/files/" + file, nil, "", 401, "not_authorized"},
		"the key itself, guessed":     {"GET /v1/files/" + file, []string{"Authorization: Bearer dev-key"}, "", 401, "not_authorized"},
		"another scheme":              {"GET /v1/files/" + file, []string{"Authorization: Basic YTpi"}, "", 401, "not_authorized"},
		"a token by another secret":   {"GET /v1/files/" + file, []string{"Authorization: Bearer " + tokens.Issue("alice")}, "", 401, "not_authorized"},
		"a token changed":             {"GET /v1/files/" + file, []string{"Authorization: Bearer " + flip(h.tokens.Issue("alice"), -3)}, "", 401, "not_authorized"},
		"a token for another":         {"GET /v1/files/" + file, []string{"Authorization: Bearer " + flip(h.tokens.Issue("alice"), 1)}, "", 401, "not_authorized"},
		"an expired token":            {"GET /v1/files/" + file, []string{"Authorization: Bearer " + short.Issue("alice")}, "", 401, "not_authorized"},
		"a chat as a token":           {"GET /v1/files/" + file, []string{"Authorization: Bearer " + chat}, "", 401, "not_authorized"},
		"two cookies":                 {"GET /v1/files/" + file, []string{"Cookie: __Host-turnwire=" + h.tokens.Issue("alice") + "; __Host-turnwire=" + h.tokens.Issue("bob")}, "", 401, "not_authorized"},
		"a caller who may not":        {"GET /v1/files/" + file, []string{"Authorization: Bearer " + h.tokens.Issue("banned")}, "", 403, "not_allowed"},
		"a foreign origin":            get("GET /v1/files/"+file, 403, "origin_not_allowed", "Origin: https://evil.example"),
		"the proxy's own host":        get("GET /v1/files/"+file, 403, "origin_not_allowed", "Origin: "+h.server.URL),
		"the null origin":             get("GET /v1/files/"+file, 403, "origin_not_allowed", "Origin: null"),
		"an empty origin":             get("GET /v1/files/"+file, 403, "origin_not_allowed", "Origin:"),
		"a longer origin":             get("GET /v1/files/"+file, 403, "origin_not_allowed", "Origin: "+page+".evil.example"),
		"two origins":                 get("GET /v1/files/"+file, 403, "origin_not_allowed", "Origin: "+page, "Origin: "+page),
		"another site without origin": get("GET /v1/files/"+file, 403, "origin_not_allowed", "Sec-Fetch-Site: cross-site"),
		"a foreign preflight":         {"OPTIONS /v1/files/" + file, []string{"Origin: https://evil.example", "Access-Control-Request-Method: PATCH"}, "", 403, "origin_not_allowed"},
		"another workspace":           json("POST /v1/workspaces/other/chats", newChat, 404, "workspace_not_found"),
		"a file's other workspace":    json("POST /v1/workspaces/other/files/upload-url", `{"size":1}`, 404, "workspace_not_found"),
		"another agent":               json("POST /v1/workspaces/demo/chats", `{"agent_id":"hidden"}`, 404, "agent_not_found"),
		"no agent":                    json("POST /v1/workspaces/demo/chats", `{}`, 422, "invalid_field"),
		"the agent last of two":       json("POST /v1/workspaces/demo/chats", `{"agent_id":"assistant","agent_id":"hidden"}`, 404, "agent_not_found"),
		"the agent in other letters":  json("POST /v1/workspaces/demo/chats", `{"agent_id":"assistant","AGENT_ID":"hidden"}`, 422, "invalid_field"),
		"the workspace in the body":   json("POST /v1/workspaces/demo/chats", `{"agent_id":"assistant","workspace_id":"other"}`, 422, "invalid_field"),
		"another caller's chat":       json("POST /v1/chats/"+bobs+"/messages", hi, 404, "chat_not_found"),
		"another caller's abort":      get("POST /v1/chats/"+bobs+"/abort", 404, "chat_not_found", "Content-Length: 0"),
		"a chat without its seal":     json("POST /v1/chats/chat_1/messages", hi, 404, "chat_not_found"),
		"a seal of another chat":      json("POST /v1/chats/chat_2"+strings.TrimPrefix(chat, "chat_1")+"/messages", hi, 404, "chat_not_found"),
		"a forged seal":               json("POST /v1/chats/"+flip(chat, -5)+"/messages", hi, 404, "chat_not_found"),
		"a later end":                 json("POST /v1/chats/"+flip(chat, len("chat_1.")+2)+"/messages", hi, 404, "chat_not_found"),
		"a cut seal":                  json("POST /v1/chats/"+chat[:len(chat)-1]+"/messages", hi, 404, "chat_not_found"),
		"a file as a chat":            json("POST /v1/chats/"+file+"/messages", hi, 404, "chat_not_found"),
		"a chat as a file":            get("GET /v1/files/"+chat, 404, "file_not_found"),
		"an expired chat":             json("POST /v1/chats/"+expired+"/messages", hi, 404, "chat_expired"),
		"a file in a part":            json(messages, `{"parts":[{"type":"file","file_id":"file_1"}]}`, 404, "file_not_found"),
		"a file deep in a part":       json(messages, `{"parts":[{"type":"text","text":"x","a":[{"b":{"file_id":"file_1"}}]}]}`, 404, "file_not_found"),
		"a file that is no string":    json(messages, `{"parts":[{"type":"file","file_id":["file_1"]}]}`, 422, "invalid_field"),
		"a part of another type":      json(messages, `{"parts":[{"type":"image_url","url":"http://169.254.169.254/"}]}`, 422, "invalid_field"),
		"parts that are none":         json(messages, `{"parts":"hi"}`, 422, "invalid_field"),
		"a part that is none":         json(messages, `{"parts":["hi"]}`, 422, "invalid_field"),
		"another model":               json(messages, `{"parts":[],"model":"huge"}`, 422, "invalid_field"),
		"a file too large":            json("POST /v1/workspaces/demo/files/upload-url", `{"size":101}`, 413, "file_too_large"),
		"a size that is no number":    json("POST /v1/workspaces/demo/files/upload-url", `{"size":"1"}`, 422, "invalid_field"),
		"a size beyond numbers":       json("POST /v1/workspaces/demo/files/upload-url", `{"size":1e99}`, 413, "file_too_large"),
		"no JSON":                     json(messages, `{"parts":`, 400, "invalid_json"),
		"JSON and more":               json(messages, hi+hi, 400, "invalid_json"),
		"an array":                    json(messages, `[]`, 400, "invalid_json"),
		"null":                        json(messages, `null`, 400, "invalid_json"),
		"JSON that is no UTF-8":       json(messages, "{\"parts\":[{\"type\":\"text\",\"text\":\"\xff\"}]}", 400, "invalid_json"),
		"endless depth":               json(messages, strings.Repeat("[", 900), 400, "invalid_json"),
		"a form":                      {messages, []string{bearer, "Origin: " + page, "Content-Type: application/x-www-form-urlencoded", "Content-Length: 2"}, "{}", 415, "unsupported_media_type"},
		"JSON as text":                {messages, []string{bearer, "Origin: " + page, "Content-Type: text/plain", "Content-Length: 2"}, "{}", 415, "unsupported_media_type"},
		"a body too large":            json(messages, message(strings.Repeat("x", 1000)), 413, "body_too_large"),
		"a body without end":          {messages, []string{bearer, "Content-Type: application/json", "Transfer-Encoding: chunked"}, "7d0\r\n" + strings.Repeat("x", 2000) + "\r\n", 413, "body_too_large"},
		"a body too slow":             {messages, []string{bearer, "Content-Type: application/json", "Content-Length: 100"}, "{", 408, "body_too_slow"},
		"a body on an abort":          json("POST /v1/chats/"+chat+"/abort", `{"chat":"x"}`, 400, "body_not_allowed"),
		"a body on a read":            json("GET /v1/files/"+file, `{}`, 400, "body_not_allowed"),
	} {
		t.Run(name, func(t *testing.T) {
			host := "Host: proxy.example\r\n"
			text := a.line + " HTTP/1.1\r\n" + host + strings.Join(append(a.headers, "", ""), "\r\n") + a.body
			got := h.raw(text)
			assert.Equal(t, a.status, got.status, got.body)
			if a.code != "" {
				assert.Equal(t, a.code, got.code(t), got.body)
				assert.Equal(t, "nosniff", got.header.Get("X-Content-Type-Options"))
			}
			if a.status == 403 {
				assert.Empty(t, got.header.Get("Access-Control-Allow-Origin"), "a page that may not ask may not read")
			}
			if a.status == 405 {
				assert.NotEmpty(t, got.header.Get("Allow"))
			}
		})
	}
	assert.Zero(t, reached.Load(), "requests that reached the service")
}

// TestHostileAnswers has the service say what must not reach a page.
func TestHostileAnswers(t *testing.T) {
	type said struct {
		status int
		header http.Header
		body   string
	}
	event := http.Header{"Content-Type": {"text/event-stream"}}
	json := http.Header{"Content-Type": {"application/json"}}
	for name, test := range map[string]struct {
		said   said
		status int
		code   string
		body   string
	}{
		"headers of its own": {said: said{200, http.Header{"Content-Type": {"text/event-stream"}, "Set-Cookie": {"a=b"}, "Access-Control-Allow-Origin": {"*"},
			"Access-Control-Allow-Credentials": {"true"}, "Server": {"x"}, "Strict-Transport-Security": {"max-age=1"}, "Clear-Site-Data": {`"*"`},
			"Refresh": {"0;url=//evil"}, "X-Internal": {"10.0.0.1"}, "Link": {"<//evil>;rel=preload"}, "Service-Worker-Allowed": {"/"}}, "data: 1\n\n"}, status: 200, body: "data: 1\n\n"},
		"a key in a header":          {said: said{200, http.Header{"Content-Type": {"text/event-stream"}, "X-Request-Id": {"for " + canary}}, "data: 1\n\n"}, status: 200, body: "data: 1\n\n"},
		"a key in the stream":        {said: said{200, event, "data: your " + canary + "!\n\n"}, status: 200, body: "data: your " + strings.Repeat("*", len(canary)) + "!\n\n"},
		"most of a key":              {said: said{200, event, "data: " + canary[:8] + "\n\n" + canary[:13]}, status: 200, body: "data: " + canary[:8] + "\n\n" + canary[:13]},
		"a key in an error":          {said: said{403, json, `{"error":{"message":"key sk\u002dcanary-7Hq2 may not"}}`}, status: 403, body: `{"error":{"message":"key ` + strings.Repeat("*", len(canary)) + ` may not"}}`},
		"the key refused":            {said: said{401, json, `{"error":{"message":"key ` + canary + `"}}`}, status: 502, code: "service_refused_key"},
		"a redirect":                 {said: said{302, http.Header{"Location": {"http://evil.example/?key=" + canary}}, ""}, status: 502, code: "service_answer_invalid"},
		"a page":                     {said: said{200, http.Header{"Content-Type": {"text/html"}}, "<script>alert(1)</script>"}, status: 502, code: "service_answer_invalid"},
		"a page that says an error":  {said: said{503, http.Header{"Content-Type": {"text/html"}, "Retry-After": {"7"}}, "<script>" + canary}, status: 503, code: "service_error"},
		"a page that says it's JSON": {said: said{500, json, "<script>"}, status: 500, code: "service_error"},
		"a compressed answer":        {said: said{200, http.Header{"Content-Type": {"text/event-stream"}, "Content-Encoding": {"br"}}, "xx"}, status: 502, code: "service_answer_invalid"},
		"a protocol of its own":      {said: said{101, http.Header{"Upgrade": {"websocket"}, "Connection": {"Upgrade"}}, ""}, status: 502, code: "service_answer_invalid"},
		"an answer without end":      {said: said{200, json, `"` + strings.Repeat("x", 17<<20) + `"`}, status: 502, code: "service_answer_too_large"},
		"trailers":                   {said: said{200, http.Header{"Content-Type": {"text/event-stream"}, "Trailer": {"Set-Cookie"}, http.TrailerPrefix + "X-Late": {"1"}, "Set-Cookie": {"late=1"}}, "data: 1\n\n"}, status: 200, body: "data: 1\n\n"},
		"early hints":                {said: said{-200, event, "data: 1\n\n"}, status: 200, body: "data: 1\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			svc := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, "Bearer "+canary, r.Header.Get("Authorization"))
				for name := range r.Header {
					assert.Contains(t, []string{"Authorization", "Content-Type", "Content-Length", "Accept-Encoding", "User-Agent", "Idempotency-Key"}, name, "a header that reached the service")
				}
				if strings.HasSuffix(r.URL.Path, "/chats") {
					w.Header().Set("Content-Type", "application/json")
					_, _ = io.WriteString(w, `{"id": "chat_1", "text": "\"chat_1\\", "n": 12345678901234567890, "chat": {"chat_id": "chat_1"}}`)
					return
				}
				if test.said.status < 0 {
					w.Header().Set("Set-Cookie", "early=1")
					w.Header().Set("Link", "</x>;rel=preload")
					w.WriteHeader(http.StatusEarlyHints)
					w.Header().Del("Set-Cookie")
					test.said.status = -test.said.status
				}
				for name, values := range test.said.header {
					w.Header()[name] = values
				}
				w.WriteHeader(test.said.status)
				for i := range len(test.said.body) { // byte by byte, so that a key comes in pieces
					if len(test.said.body) > 1000 {
						_, _ = io.WriteString(w, test.said.body)
						break
					}
					_, _ = io.WriteString(w, test.said.body[i:i+1])
					_ = http.NewResponseController(w).Flush()
				}
			}))
			t.Cleanup(svc.Close)
			h := front(t, svc.URL)
			made := h.do("alice", "POST", "/v1/workspaces/demo/chats", newChat, "X-Forwarded-For", "1.2.3.4", "Cookie", "a=b", "Te", "trailers", "X-Evil", "1", "Accept-Language", "de")
			chat := made.field(t, "id")
			assert.Equal(t, `{"id": "`+chat+`", "text": "\"chat_1\\", "n": 12345678901234567890, "chat": {"chat_id": "`+chat+`"}}`, made.body, "all else is as it was")
			got := h.do("alice", "POST", "/v1/chats/"+chat+"/messages", message("hi"), "Idempotency-Key", "k")
			assert.Equal(t, test.status, got.status, got.body)
			if test.code != "" {
				assert.Equal(t, test.code, got.code(t))
			} else {
				assert.Equal(t, test.body, got.body)
			}
			for name := range got.header {
				assert.Contains(t, []string{"Access-Control-Allow-Credentials", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Cache-Control",
					"Content-Length", "Content-Type", "Date", "Retry-After", "Vary", "X-Accel-Buffering", "X-Content-Type-Options", "X-Request-Id"}, name, "a header that reached the page")
			}
			assert.Equal(t, []string{page}, got.header.Values("Access-Control-Allow-Origin"))
			assert.Len(t, got.header.Values("X-Request-Id"), 1)
		})
	}
}
