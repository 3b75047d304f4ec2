package turn

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/json"
	"github.com/seed-76f09577/turnwire/wasm/sse"
)

// event is one event of a turn. Its slices hold until the next call of next, Feed or StreamEnded.
type event struct {
	Type []byte // a JSON string's text
	Data []byte // a JSON object's text
	ID   []byte // the event's own SSE id; nil where it had none
	// Chunk is the JSON string of a text_delta that holds a chunk and nothing else; nil for every other event.
	Chunk []byte
	// Mark is the length of the text (of the reasoning, for a reasoning_delta) with this event in it, in bytes.
	Mark int
}

type kind int

const (
	other kind = iota
	textDelta
	reasoningDelta
	toolCallStarted
	toolCallDelta
	toolCall
	toolResult
	turnComplete
	errorEvent
)

// EventKind is a type of event that a turn's state follows from. All others only pass through.
type EventKind string

// The kinds of the interface ("Events").
const (
	TextDelta       EventKind = "text_delta"
	ReasoningDelta  EventKind = "reasoning_delta"
	ToolCallStarted EventKind = "tool_call_started"
	ToolCallDelta   EventKind = "tool_call_delta"
	ToolCall        EventKind = "tool_call"
	ToolResult      EventKind = "tool_result"
	TurnComplete    EventKind = "turn_complete"
	ErrorEvent      EventKind = "error"
)

// kindOf takes the text of the type, quotes and all.
func kindOf(typ []byte) kind {
	switch EventKind(json.View(typ[1 : len(typ)-1])) {
	case TextDelta:
		return textDelta
	case ReasoningDelta:
		return reasoningDelta
	case ToolCallStarted:
		return toolCallStarted
	case ToolCallDelta:
		return toolCallDelta
	case ToolCall:
		return toolCall
	case ToolResult:
		return toolResult
	case TurnComplete:
		return turnComplete
	case ErrorEvent:
		return errorEvent
	}
	return other
}

// message is an SSE event read as {type, data}.
type message struct {
	kind  kind
	typ   []byte // JSON string
	data  []byte // JSON object
	chunk []byte // data's member "chunk", nil where there is none
	id    []byte
	plain bool // the whole JSON is what plainHead, chunk's content and plainTail make
}

// Nearly every event of a stream is a text_delta as the interface shows it. Its JSON is recognised by its two ends, which
// spares it the walk over its members.
const (
	plainHead = `{"type":"text_delta","data":{"chunk":"`
	plainTail = `"}}`
)

var plainType = []byte(`"text_delta"`)

// plain returns the chunk of such an event, with its quotes, or nil for any other. ascii says that the chunk stands
// for itself: it has no escape and nothing that would have to be looked at as UTF-8.
func plain(r *reader, text []byte) (chunk []byte, ascii bool) {
	from, to := len(plainHead), len(text)-len(plainTail)
	if to < from || text[to] != '"' || text[to+1] != '}' || text[to+2] != '}' || json.View(text[:from]) != plainHead {
		return nil, false
	}
	for _, c := range text[from:to] {
		if c < ' ' || c == '"' || c == '\\' || c > '~' {
			if !utf8.Valid(text) {
				return nil, false
			}
			r.json.Reset(text[from-1 : to+1])
			if r.json.Value(); !r.json.Done() {
				return nil, false
			}
			return text[from-1 : to+1], false
		}
	}
	return text[from-1 : to+1], true
}

// reader reads SSE events as messages (profile, "The event stream"); it keeps what it can use again.
type reader struct {
	json    json.Reader
	typ     []byte
	payload []byte
}

// read returns false where the data is not a JSON object.
func (r *reader) read(e sse.Event, m *message) bool {
	*m = message{}
	if len(e.ID) > 0 && e.HasID {
		m.id = json.ToUTF8(e.ID)
	}
	if chunk, _ := plain(r, e.Data); chunk != nil {
		m.kind, m.typ, m.plain, m.chunk = textDelta, plainType, true, chunk
		m.data = e.Data[len(plainHead)-len(`{"chunk":"`) : len(e.Data)-1]
		return true
	}
	text := json.ToUTF8(e.Data)
	var typ, data, dataChunk, topChunk []byte
	j := &r.json
	j.Reset(text)
	if !j.Enter() {
		return false
	}
	for first := true; ; first = false {
		key, ok := j.Next(first)
		if !ok {
			break
		}
		switch {
		case json.KeyIs(key, "type"):
			typ = j.Value()
		case json.KeyIs(key, "data"):
			data, dataChunk = r.data(text)
		case json.KeyIs(key, "chunk"):
			topChunk = j.Value()
		default:
			j.Value()
		}
	}
	if !j.Done() {
		return false
	}
	switch {
	case !json.IsString(typ):
		// The event field names the type, and the whole JSON is the payload.
		name := "message"
		if len(e.Type) > 0 {
			name = json.View(json.ToUTF8(e.Type))
		}
		r.typ = json.Quote(r.typ[:0], name)
		m.typ, m.data, m.chunk = r.typ, text, topChunk
	case json.IsObject(data):
		m.typ, m.data, m.chunk = typ, data, dataChunk
	default:
		// A data member that is no object stays where it is: the payload is an object in every case.
		m.typ, m.chunk = typ, topChunk
		m.data = r.without(text)
	}
	m.kind = kindOf(m.typ)
	if m.kind == other && bytes.IndexByte(m.typ, '\\') >= 0 {
		m.kind = kindOf(json.Quote(nil, json.String(m.typ)))
	}
	return true
}

// data reads the value of the member "data", and its own member "chunk" on the way.
func (r *reader) data(text []byte) (value, chunk []byte) {
	j := &r.json
	start := j.Pos()
	if !j.Enter() {
		return j.Value(), nil
	}
	for first := true; ; first = false {
		key, ok := j.Next(first)
		if !ok {
			break
		}
		if json.KeyIs(key, "chunk") {
			chunk = j.Value()
		} else {
			j.Value()
		}
	}
	return text[start:j.Pos()], chunk
}

// without copies an object less its member "type".
func (r *reader) without(text []byte) []byte {
	out := append(r.payload[:0], '{')
	j := &r.json
	j.Reset(text)
	j.Enter()
	for first := true; ; first = false {
		key, ok := j.Next(first)
		if !ok {
			break
		}
		value := j.Value()
		if json.KeyIs(key, "type") {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), key...), '"', ':')
		out = append(out, value...)
	}
	r.payload = append(out, '}')
	return r.payload
}

// isDoneMarker tells the marker that some services end a stream with. It proves nothing and is ignored.
func isDoneMarker(data []byte) bool { return json.View(data) == "[DONE]" }

// notAnEvent names the event by its number and shows its beginning.
func notAnEvent(number int, data []byte) *api.Error {
	return &api.Error{Kind: api.KindProtocol, Code: "event_not_json",
		Message: "event " + strconv.Itoa(number) + " of the stream is not a JSON object; it begins: " + api.Excerpt(data, 200)}
}

// withoutHalf is the text less the half of a surrogate pair that it may end in.
func withoutHalf(text []byte) []byte {
	if json.EndsInHalf(text) {
		return text[:len(text)-3]
	}
	return text
}

// turnError is what the service said of a turn's failure, in any of the forms of its error bodies.
func turnError(data []byte) *api.Error {
	code, message := api.ErrorText(data)
	if code == "" {
		code = "turn_failed"
	}
	if message == "" {
		message = "the turn failed at the service"
	}
	return &api.Error{Kind: api.KindTurn, Code: code, Message: message, EventPayload: clone(data)}
}

// reasoningChunk is the fragment of a reasoning_delta. The interface shows no field for it: chunk, as text_delta has,
// is taken first, then what services of this kind use.
func reasoningChunk(m message) []byte {
	if json.IsString(m.chunk) {
		return m.chunk
	}
	for _, v := range json.Members(m.data, "delta", "text", "reasoning", "content") {
		if json.IsString(v) {
			return v
		}
	}
	return nil
}

func clone(b []byte) []byte { return append([]byte(nil), b...) }
