package turn

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode/utf16"
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
	calls  []toolTruth
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

// fragments cuts text into chunks of up to most UTF-16 units, wherever that falls.
func fragments(rng *rand.Rand, text string, most int) (out []chunk) {
	units := utf16.Encode([]rune(text))
	for start := 0; start < len(units); {
		end := min(len(units), start+1+rng.IntN(most))
		part := units[start:end]
		whole := part
		var b strings.Builder
		b.WriteByte('"')
		if start > 0 && low(part[0]) {
			fmt.Fprintf(&b, `\u%04x`, part[0])
			whole = append([]uint16{units[start-1]}, part...)
			part = part[1:]
		}
		half := len(part) > 0 && high(part[len(part)-1])
		if half {
			part = part[:len(part)-1]
			whole = whole[:len(whole)-1]
		}
		quoted, _ := json.Marshal(string(utf16.Decode(part)))
		b.Write(quoted[1 : len(quoted)-1])
		if half {
			fmt.Fprintf(&b, `\u%04x`, units[end-1])
		}
		b.WriteByte('"')
		out = append(out, chunk{b.String(), string(utf16.Decode(whole))})
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

// spread puts each member of a flat object on a line of its own.
func spread(object string) string {
	return strings.ReplaceAll(object, `,"`, ",\n\"")
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
