package turn

import (
	"fmt"
	"strings"
)

// form is one way to write a stream.
type form struct {
	named    bool // the event field names the type, and the JSON is the payload
	flat     bool // the payload's members stand beside the type
	ids      bool
	oneID    bool   // which is the same for all events
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
		e.id = ""
		if f.ids {
			e.id = fmt.Sprintf("e%d", i)
			if f.oneID {
				e.id = "turn-1"
			}
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
