// Package api knows the service's endpoints, requests, records and errors: what a turn and an upload share.
// The interface is the service's; where it is silent, the profile says what is done here.
package api

import "github.com/seed-76f09577/turnwire/wasm/json"

// Request is one request to the service. The bridge adds the base address, the key and the caller's own headers.
type Request struct {
	Method string
	Path   string // below the base address, segments percent-encoded
	Header []Field
	Body   []byte // JSON; nil where there is none
	// Keepalive lets the request outlive its page (Fetch standard, "keepalive").
	Keepalive bool
}

// Field is one header field.
type Field struct{ Name, Value string }

// Find returns the value of the first field of that name, whatever the case of either (RFC 9110, section 5.1).
func Find(fields []Field, name string) (value string, ok bool) {
	name = Lower(name)
	for i := range fields {
		if f := &fields[i]; Lower(f.Name) == name {
			return f.Value, true
		}
	}
	return "", false
}

// Lower folds the case of ASCII. Package strings knows that of every script, and brings its tables.
func Lower(s string) string {
	out := []byte(s)
	for i, c := range out {
		if c >= 'A' && c <= 'Z' {
			out[i] = c + 'a' - 'A'
		}
	}
	return string(out)
}

var jsonBody = Field{"Content-Type", "application/json"}

// CreateChat is POST /v1/workspaces/{workspace_id}/chats. temporary is sent only where the caller gave it, because
// the interface states no default.
func CreateChat(workspaceID, agentID string, temporary *bool) *Request {
	var w json.Writer
	w.Open("", '{')
	w.String("agent_id", agentID)
	if temporary != nil {
		w.Bool("is_temporary", *temporary)
	}
	w.Close('}')
	return &Request{
		Method: "POST",
		Path:   "/v1/workspaces/" + segment(workspaceID) + "/chats",
		Header: []Field{jsonBody, {"Accept", "application/json"}},
		Body:   w.Text(),
	}
}

// SendMessage is POST /v1/chats/{chat_id}/messages. parts is the JSON array of the message's parts; model is left out
// where it is empty.
func SendMessage(chatID, key, parts, model string) *Request {
	var w json.Writer
	w.Open("", '{')
	w.Raw("parts", []byte(parts))
	w.Given("model", model)
	w.Close('}')
	return &Request{
		Method: "POST",
		Path:   "/v1/chats/" + segment(chatID) + "/messages",
		Header: []Field{jsonBody, {"Accept", "text/event-stream"}, {"Idempotency-Key", key}},
		Body:   w.Text(),
	}
}

// AbortChat is POST /v1/chats/{chat_id}/abort.
func AbortChat(chatID string) *Request {
	return &Request{Method: "POST", Path: "/v1/chats/" + segment(chatID) + "/abort", Keepalive: true}
}

// segment percent-encodes one path segment as encodeURIComponent does.
func segment(s string) string {
	const digits = "0123456789ABCDEF"
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9',
			c == '-', c == '_', c == '.', c == '!', c == '~', c == '*', c == '\'', c == '(', c == ')':
			out = append(out, c)
		default:
			out = append(out, '%', digits[c>>4], digits[c&15])
		}
	}
	return string(out)
}
