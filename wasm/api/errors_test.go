package api

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

var message = SendMessage("c", "secret-idempotency-key", `[]`, "")

// TestErrorText has each shape of an error body (profile, "Responses").
func TestErrorText(t *testing.T) {
	cases := map[string]struct{ body, code, text string }{
		"error.message":              {`{"error":{"message":"m","code":"c","type":"t"}}`, "c", "m"},
		"error.type":                 {`{"error":{"message":"m","type":"t"}}`, "t", "m"},
		"message":                    {`{"message":"m","code":"c"}`, "c", "m"},
		"detail":                     {`{"detail":"m"}`, "", "m"},
		"error":                      {`{"error":"m"}`, "", "m"},
		"error and code":             {`{"error":"m","code":"c"}`, "c", "m"},
		"error.message first":        {`{"error":{"message":"m"},"message":"x","detail":"y"}`, "", "m"},
		"message before detail":      {`{"detail":"x","message":"m"}`, "", "m"},
		"detail before error":        {`{"error":"x","detail":"m"}`, "", "m"},
		"error.code first":           {`{"error":{"code":"c","type":"x"},"code":"y"}`, "c", ""},
		"code before error.type":     {`{"error":{"type":"x"},"code":"c"}`, "c", ""},
		"empty ones are passed over": {`{"error":{"message":"","code":""},"message":"m","code":"c"}`, "c", "m"},
		"numbers are passed over":    {`{"code":404,"error":{"code":4,"type":"t"},"message":{"x":1},"detail":"m"}`, "t", "m"},
		"a list of details":          {`{"detail":[{"loc":["body"],"msg":"required"}]}`, "", ""},
		"nothing":                    {`{}`, "", ""},
		"escapes":                    {`{"mess\u0061ge":"caf\u00e9\n"}`, "", "café\n"},
		"an array":                   {`[{"message":"m"}]`, "", ""},
		"a string":                   {`"m"`, "", ""},
		"null":                       {`{"error":null,"message":null}`, "", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			code, text := ErrorText([]byte(c.body))
			assert.Equal(t, c.code, code)
			assert.Equal(t, c.text, text)
		})
	}
}

func TestRefusal(t *testing.T) {
	t.Run("JSON", func(t *testing.T) {
		e := Refusal(message, &Response{Status: 422, ContentType: "application/json", RequestID: "r-1"}, []byte(`{"error":{"message":"parts is empty","code":"no_parts"}}`))
		assert.Equal(t, KindAPI, e.Kind)
		assert.Equal(t, "no_parts", e.Code)
		assert.Equal(t, "POST /v1/chats/c/messages answered 422: parts is empty", e.Message)
		assert.Equal(t, 422, e.Status)
		assert.Equal(t, "r-1", e.RequestID)
		assert.False(t, e.Retryable)
		assert.True(t, e.BodyIsJSON)
		assert.Equal(t, "no_parts: "+e.Message, e.Error())
	})
	t.Run("JSON under another name", func(t *testing.T) {
		e := Refusal(message, &Response{Status: 400, ContentType: "text/plain"}, []byte(`{"message":"m"}`))
		assert.True(t, e.BodyIsJSON)
		assert.Contains(t, e.Message, ": m")
	})
	t.Run("JSON that says nothing", func(t *testing.T) {
		e := Refusal(message, &Response{Status: 400}, []byte(`"no"`))
		assert.True(t, e.BodyIsJSON)
		assert.Contains(t, e.Message, "without saying why")
	})
	t.Run("text", func(t *testing.T) {
		e := Refusal(message, &Response{Status: 500, ContentType: "text/plain; charset=utf-8"}, []byte("  out of\n memory  "))
		assert.False(t, e.BodyIsJSON)
		assert.Equal(t, "server_error", e.Code)
		assert.Equal(t, "POST /v1/chats/c/messages answered 500: out of memory", e.Message)
		assert.Equal(t, "  out of\n memory  ", string(e.Body))
	})
	t.Run("HTML stays out of the message", func(t *testing.T) {
		page := "<!doctype html><title>502 Bad Gateway</title>"
		e := Refusal(message, &Response{Status: 502, ContentType: "text/html"}, []byte(page))
		assert.NotContains(t, e.Message, "<")
		assert.Equal(t, page, string(e.Body))
		assert.True(t, e.Retryable)
	})
	t.Run("no body", func(t *testing.T) {
		e := Refusal(message, &Response{Status: 404}, nil)
		assert.False(t, e.BodyIsJSON)
		assert.Empty(t, e.Body)
		assert.Equal(t, "POST /v1/chats/c/messages answered 404: the service answered without saying why", e.Message)
	})
	t.Run("a body of the limit", func(t *testing.T) {
		text := `{"message":"m","x":"` + strings.Repeat("x", BodyLimit-22) + `"}`
		e := Refusal(message, &Response{Status: 400}, []byte(text))
		assert.Len(t, e.Body, BodyLimit)
		assert.True(t, e.BodyIsJSON)
	})
	t.Run("a body over the limit is cut, and no JSON then", func(t *testing.T) {
		text := `{"message":"m","x":"` + strings.Repeat("x", BodyLimit) + `"}`
		e := Refusal(message, &Response{Status: 400}, []byte(text))
		assert.Len(t, e.Body, BodyLimit)
		assert.False(t, e.BodyIsJSON)
	})
	t.Run("what a reader can do", func(t *testing.T) {
		assert.Contains(t, Refusal(message, &Response{Status: 401}, nil).Message, "(check the client's apiKey)")
		assert.Contains(t, Refusal(message, &Response{Status: 403}, nil).Message, "(the key is not allowed to do this)")
	})
	t.Run("headers are in no message", func(t *testing.T) {
		e := Refusal(message, &Response{Status: 409}, nil)
		assert.NotContains(t, e.Message, "secret")
	})
}

func TestStatusCodes(t *testing.T) {
	for status, want := range map[int]string{
		300: "http_300", 304: "http_304", 400: "bad_request", 401: "unauthorized", 402: "http_402", 403: "forbidden", 404: "not_found", 405: "http_405", 408: "http_408",
		409: "conflict", 418: "http_418", 422: "unprocessable", 425: "http_425", 429: "rate_limited", 499: "http_499", 500: "server_error", 503: "server_error", 599: "server_error",
	} {
		assert.Equal(t, want, Refusal(message, &Response{Status: status}, nil).Code, status)
		assert.Equal(t, "theirs", Refusal(message, &Response{Status: status}, []byte(`{"code":"theirs"}`)).Code, status)
	}
	var transient []int
	for status := range 600 {
		if Transient(status) {
			transient = append(transient, status)
		}
	}
	assert.Equal(t, []int{408, 425, 429, 500, 502, 503, 504}, transient)
}

func TestOK(t *testing.T) {
	for status := range 600 {
		assert.Equal(t, status >= 200 && status <= 299, (&Response{Status: status}).OK(), status)
	}
}

func TestIsEventStream(t *testing.T) {
	for contentType, want := range map[string]bool{
		"text/event-stream":                  true,
		"text/event-stream; charset=utf-8":   true,
		"text/event-stream;charset=UTF-8":    true,
		"text/event-stream ; x=y; z":         true,
		"Text/Event-Stream":                  true,
		" text/event-stream\t":               true,
		"text/event-stream;":                 true,
		"":                                   false,
		"text/event-streams":                 false,
		"text/event":                         false,
		"application/json":                   false,
		"text/html; x=text/event-stream":     false,
		"text/event-stream, text/html":       false,
		"application/text/event-stream":      false,
		";text/event-stream":                 false,
		"text/event-stream+json":             false,
		"application/x-ndjson; charset=utf8": false,
	} {
		assert.Equal(t, want, (&Response{ContentType: contentType}).IsEventStream(), "%q", contentType)
	}
}

func TestNotEventStream(t *testing.T) {
	e := NotEventStream(message, &Response{Status: 200, ContentType: "text/html", RequestID: "r"}, []byte("<title>\n Sign in"))
	assert.Equal(t, KindProtocol, e.Kind)
	assert.Equal(t, "not_an_event_stream", e.Code)
	assert.Contains(t, e.Message, "Content-Type text/html")
	assert.True(t, strings.HasSuffix(e.Message, "It begins: <title> Sign in"), e.Message)
	assert.Equal(t, "r", e.RequestID)
	assert.False(t, e.Retryable)

	e = NotEventStream(message, &Response{Status: 204}, nil)
	assert.Contains(t, e.Message, "no Content-Type")
	assert.NotContains(t, e.Message, "begins")
}

func TestExcerpt(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		n    int
		want string
	}{
		"short":               {"abc", 5, "abc"},
		"exact":               {"abcde", 5, "abcde"},
		"long":                {"abcdef", 5, "abcde…"},
		"empty":               {"", 5, ""},
		"white space":         {" \n a \t b\r\n", 5, "a b"},
		"white space at n":    {"abcde \n", 5, "abcde"},
		"a word after n":      {"abcde f", 5, "abcde …"},
		"control characters":  {"a\x00\x1bb", 5, "a b"},
		"characters of bytes": {"ééééééé", 5, "ééééé…"},
		"of four bytes":       {"😀😀😀", 2, "😀😀…"},
		"not UTF-8":           {"a\xff\xfeb", 5, "a\uFFFD\uFFFDb"},
		"only white space":    {strings.Repeat(" ", 100), 5, ""},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, Excerpt([]byte(c.body), c.n)) })
	}
}

func TestWithoutQueries(t *testing.T) {
	for text, want := range map[string]string{
		"why? because":                           "why? because",
		"why?":                                   "why?",
		`["https://s.test/x?sig=a&b=c","next"]`:  `["https://s.test/x?…","next"]`,
		"at https://s.test/x?sig=secret today":   "at https://s.test/x?… today",
		"at https://s.test/x sig=secret today":   "at https://s.test/x sig=… today",
		"x v=1&sig=secret\">, y = 1 and z=\"q\"": "x v=…\">, y = 1 and z=\"q\"",
		"<a>?sig=x</a>":                          "<a>?…</a>",
	} {
		assert.Equal(t, want, WithoutQueries(text))
	}
}

func TestClass(t *testing.T) {
	for status, class := range map[int]Kind{
		400: KindAPI, 401: "AuthenticationError", 403: "AuthenticationError", 404: "NotFoundError", 409: "ConflictError", 429: "RateLimitError", 500: KindAPI,
	} {
		assert.Equal(t, class, (&Error{Kind: KindAPI, Status: status}).Class(), "%d", status)
	}
	assert.Equal(t, KindUpload, (&Error{Kind: KindUpload, Status: 403}).Class(), "a store's status is no refusal of the service")
}
