package api

import (
	"strconv"

	"github.com/seed-76f09577/turnwire/wasm/json"
)

// Kind is one of the JavaScript API's error classes, by its name.
type Kind string

// The kinds of error. A refusal is a KindAPI here, whatever its status; see Class.
const (
	KindAPI        Kind = "APIError"
	KindConnection Kind = "ConnectionError"
	KindTimeout    Kind = "TimeoutError"
	KindProtocol   Kind = "ProtocolError"
	KindTurn       Kind = "TurnError"
	KindMismatch   Kind = "ReplayMismatchError"
	KindUpload     Kind = "UploadError"
	KindFile       Kind = "FileError"
	KindClient     Kind = "AgentError" // the base class: a failure of the page's own side
)

// The classes of some statuses.
const (
	authentication Kind = "AuthenticationError"
	notFound       Kind = "NotFoundError"
	conflict       Kind = "ConflictError"
	rateLimit      Kind = "RateLimitError"
)

// Class is the class that the error becomes, a refusal by its status.
func (e *Error) Class() Kind {
	if e.Kind == KindAPI {
		switch e.Status {
		case 401, 403:
			return authentication
		case 404:
			return notFound
		case 409:
			return conflict
		case 429:
			return rateLimit
		}
	}
	return e.Kind
}

// BodyLimit is how many bytes of a refusal's body are kept (profile, "Responses").
const BodyLimit = 64 << 10

// Error is an error of the client. Code is stable and snake_case, Message is for people.
type Error struct {
	Kind      Kind
	Code      string
	Message   string
	Retryable bool
	// Of a refused request:
	Status       int
	RequestID    string
	RetryAfter   int64 // milliseconds; 0 where the service named none
	HasRetry     bool
	Body         []byte // at most BodyLimit
	BodyIsJSON   bool
	EventPayload []byte // of a turn's error event: the JSON of its data
	// Of an upload, whatever the kind:
	Stage    string // where the upload was
	FileID   string // "" while none is known
	Block    int64  // index from 0
	HasBlock bool   // one block is to blame
	Stored   bool   // the store has every byte: only the report is missing
	File     *File  // as what the file ended, of KindFile
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Response is the head of an answer.
type Response struct {
	Status      int
	ContentType string
	RequestID   string
	RetryAfter  string // the header as it came
}

// OK reports success: any 2xx (profile, "Responses").
func (r *Response) OK() bool { return r.Status >= 200 && r.Status < 300 }

// IsEventStream reports whether the media type is text/event-stream, whatever its parameters.
func (r *Response) IsEventStream() bool { return mediaType(r.ContentType) == "text/event-stream" }

// Refusal makes the error of an answer that is not 2xx (profile, "Responses": error body).
func Refusal(req *Request, res *Response, body []byte) *Error {
	if len(body) > BodyLimit {
		body = body[:BodyLimit]
	}
	e := &Error{Kind: KindAPI, Status: res.Status, RequestID: res.RequestID, Body: body}
	e.Retryable = Transient(res.Status)
	if json.Valid(body) {
		e.BodyIsJSON = true
		e.Code, e.Message = ErrorText(body)
	} else if mediaType(res.ContentType) == "text/plain" {
		e.Message = Excerpt(body, 500)
	}
	if e.Code == "" {
		e.Code = statusCode(res.Status)
	}
	if e.Message == "" {
		e.Message = "the service answered without saying why"
	}
	e.Message = req.Method + " " + req.Path + " answered " + strconv.Itoa(res.Status) + ": " + e.Message + hint(res.Status)
	return e
}

// ErrorText finds an error's code and message in a JSON object (profile, "Responses": error body); "" where it names none.
func ErrorText(object []byte) (code, message string) {
	top := json.Members(object, "message", "detail", "error", "code")
	nested := json.Members(top[2], "message", "code", "type")
	return firstString(nested[1], top[3], nested[2]), firstString(nested[0], top[0], top[1], top[2])
}

// Transient reports the statuses after which the same request may succeed (profile, "Idempotency and retry").
func Transient(status int) bool {
	switch status {
	case 408, 425, 429, 500, 502, 503, 504:
		return true
	}
	return false
}

func statusCode(status int) string {
	switch status {
	case 400:
		return "bad_request"
	case 401:
		return "unauthorized"
	case 403:
		return "forbidden"
	case 404:
		return "not_found"
	case 409:
		return "conflict"
	case 422:
		return "unprocessable"
	case 429:
		return "rate_limited"
	}
	if status >= 500 {
		return "server_error"
	}
	return "http_" + strconv.Itoa(status)
}

// hint says what a reader of the message can do, where the status tells.
func hint(status int) string {
	switch status {
	case 401:
		return " (check the client's apiKey)"
	case 403:
		return " (the key is not allowed to do this)"
	}
	return ""
}

// NotEventStream is the error of a message answered by something else, such as a proxy's page.
func NotEventStream(req *Request, res *Response, body []byte) *Error {
	what := "no Content-Type"
	if res.ContentType != "" {
		what = "Content-Type " + res.ContentType
	}
	message := req.Method + " " + req.Path + " answered " + strconv.Itoa(res.Status) + " with " + what +
		" instead of text/event-stream; is baseURL the service's address?"
	if start := Excerpt(body, 200); start != "" {
		message += " It begins: " + start
	}
	return &Error{Kind: KindProtocol, Code: "not_an_event_stream", Message: message, Status: res.Status, RequestID: res.RequestID}
}

// Excerpt is the start of a body for a message: at most n characters, white space folded.
func Excerpt(body []byte, n int) string {
	if len(body) > 8*n {
		body = body[:8*n]
	}
	out := make([]rune, 0, n+1)
	space := false
	for _, c := range string(json.ToUTF8(body)) {
		if c <= ' ' {
			space = len(out) > 0
			continue
		}
		if space {
			out = append(out, ' ')
			space = false
		}
		if len(out) >= n {
			out = append(out, '…')
			break
		}
		out = append(out, c)
	}
	return string(out)
}

// WithoutQueries takes the queries out of what may be addresses: a signed one must not end in a log. What stands behind a
// "=" is taken out as well, for where an address is broken its query may stand by itself.
func WithoutQueries(text string) string {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		out = append(out, text[i])
		if (text[i] == '?' || text[i] == '=') && i+1 < len(text) && inQuery(text[i+1]) {
			out = append(out, "…"...)
			for i+1 < len(text) && inQuery(text[i+1]) {
				i++
			}
		}
	}
	return string(out)
}

func inQuery(c byte) bool { return c > ' ' && c != '"' && c != '<' }

// mediaType is the lower-cased type before any parameter.
func mediaType(contentType string) string {
	out := make([]byte, 0, len(contentType))
	for i := 0; i < len(contentType) && contentType[i] != ';'; i++ {
		if c := contentType[i]; c != ' ' && c != '\t' {
			out = append(out, c)
		}
	}
	return Lower(string(out))
}
