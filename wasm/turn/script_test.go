package turn

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// scripted is an event that a service sends, and what is true of the turn once it has arrived.
type scripted struct {
	typ, data string // data is compact JSON
	id        string

	text, reasoning string
	wire            string // data as the encoding gives it
	whole           int    // the offset from which on the event has arrived
	complete        int    // the offset from which on its JSON has
}

func (s scripted) mark() int {
	switch s.typ {
	case "text_delta":
		return len(s.text)
	case "reasoning_delta":
		return len(s.reasoning)
	}
	return 0
}

func (s scripted) seen() seen {
	return seen{typ: `"` + s.typ + `"`, data: s.wire, id: s.id, mark: s.mark()}
}

// script is a whole turn.
type script struct {
	events []scripted
	calls  []*toolTruth // as they started
	made   int
	text   string
	reason string
}

type toolTruth struct {
	ID, Name, ArgumentsText, Result string
}

func (s *script) add(typ, data string) {
	s.events = append(s.events, scripted{typ: typ, data: data, text: s.text, reasoning: s.reason})
}

func (s *script) say(typ string, chunk chunk) {
	switch typ {
	case "text_delta":
		s.text += chunk.adds
	case "reasoning_delta":
		s.reason += chunk.adds
	}
	s.add(typ, `{"chunk":`+chunk.json+`}`)
}

// chunk is a JSON string and what it adds to the text: half of a surrogate pair adds nothing, its other half adds both.
type chunk struct{ json, adds string }

// fragments cuts text into chunks of up to most UTF-16 units, wherever that falls. ascii escapes all that is not.
func fragments(rng *rand.Rand, text string, most int, ascii bool) (out []chunk) {
	units := utf16.Encode([]rune(text))
	for start := 0; start < len(units); {
		end := min(len(units), start+1+rng.IntN(most))
		b := []byte{'"'}
		for i := start; i < end; i++ {
			u := units[i]
			split := high(u) && i+1 == end || low(u) && i == start
			switch {
			case split, ascii && u > '~', u < ' ':
				b = fmt.Appendf(b, `\u%04x`, u)
			case u == '"' || u == '\\':
				b = append(b, '\\', byte(u))
			case high(u):
				b = utf8.AppendRune(b, utf16.DecodeRune(rune(u), rune(units[i+1])))
				i++
			default:
				b = utf8.AppendRune(b, rune(u))
			}
		}
		from, to := start, end
		if low(units[from]) {
			from--
		}
		if high(units[to-1]) {
			to--
		}
		out = append(out, chunk{string(append(b, '"')), string(utf16.Decode(units[from:max(from, to)]))})
		start = end
	}
	return out
}

func high(u uint16) bool { return u >= 0xD800 && u < 0xDC00 }
func low(u uint16) bool  { return u >= 0xDC00 && u < 0xE000 }

// form is one way to write a stream.
type form struct {
	named    bool // the event field names the type, and the JSON is the payload
	flat     bool // the payload's members stand beside the type
	ids      bool
	lines    bool   // the JSON is spread over several data lines
	comments bool   // keep-alives between the events
	eol      string // LF, CRLF or CR
	space    bool   // after the field's colon
	done     bool   // [DONE] at the end
}

// encode writes the stream and notes in the script what each event is on it.
func (s *script) encode(f form) []byte {
	var b []byte
	sep := ":"
	if f.space {
		sep = ": "
	}
	line := func(name, value string) {
		b = append(append(append(append(b, name...), sep...), value...), f.eol...)
	}
	for i := range s.events {
		e := &s.events[i]
		if f.comments && i%3 == 1 {
			b = append(append(b, ": keep-alive"...), f.eol...)
			b = append(b, f.eol...)
		}
		if f.ids {
			e.id = fmt.Sprintf("e%d", i)
			line("id", e.id)
		}
		var text string
		e.wire = e.data
		if f.lines {
			e.wire = spread(e.data)
		}
		switch {
		case f.named:
			line("event", e.typ)
			text = e.wire
		case f.flat && e.data == "{}":
			text = `{"type":"` + e.typ + `"}`
			e.wire = "{}"
		case f.flat:
			text = `{"type":"` + e.typ + `",` + e.data[1:]
			e.wire = e.data
		default:
			text = `{"type":"` + e.typ + `","data":` + e.wire + `}`
		}
		for _, part := range strings.Split(text, "\n") {
			line("data", part)
		}
		e.complete = len(b) - len(f.eol)
		b = append(b, f.eol...)
		e.whole = len(b) - len(f.eol) + 1
	}
	if f.done {
		line("data", "[DONE]")
		b = append(b, f.eol...)
	}
	return b
}

// spread puts an object's braces on lines of their own.
func spread(object string) string {
	return "{\n" + object[1:len(object)-1] + "\n}"
}

// arrived is the number of events of which n bytes bring the whole; clean says that the stream ends there cleanly.
func (s *script) arrived(n int, clean bool) int {
	for i, e := range s.events {
		if e.whole <= n {
			continue
		}
		if clean && e.complete <= n {
			return i + 1
		}
		return i
	}
	return len(s.events)
}

// state is the text and the reasoning as of the first n events.
func (s *script) state(n int) (text, reasoning string) {
	if n == 0 {
		return "", ""
	}
	return s.events[n-1].text, s.events[n-1].reasoning
}
