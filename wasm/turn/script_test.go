package turn

import (
	"fmt"
	"math/rand/v2"
	"unicode/utf16"
	"unicode/utf8"
)

// scripted is an event that a service sends, and what is true of the turn once it has arrived.
type scripted struct {
	typ, data string // data is compact JSON
	id        string
	// A fragment of text or of arguments has units, and head and tail around them in its data.
	units      []uint16
	head, tail string

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
	ascii  bool // all that is not ASCII is sent in escapes

	text, reasoning []uint16
}

type toolTruth struct {
	ID, Name, ArgumentsText, Result string
}

// add appends an event. A character whose other half is still to come is no part of the text.
func (s *script) add(e scripted) {
	if e.units != nil {
		e.data = e.head + quoteUnits(e.units, s.ascii) + e.tail
	}
	switch e.typ {
	case "text_delta":
		s.text = append(s.text, e.units...)
	case "reasoning_delta":
		s.reasoning = append(s.reasoning, e.units...)
	}
	e.text, e.reasoning = wholeText(s.text), wholeText(s.reasoning)
	s.events = append(s.events, e)
}

func wholeText(units []uint16) string {
	if n := len(units); n > 0 && high(units[n-1]) {
		units = units[:n-1]
	}
	return string(utf16.Decode(units))
}

// fragments cuts text into pieces of up to most UTF-16 units, wherever that falls.
func fragments(rng *rand.Rand, units []uint16, most int) (out [][]uint16) {
	for len(units) > 0 {
		n := min(len(units), 1+rng.IntN(most))
		out = append(out, units[:n:n])
		units = units[n:]
	}
	return out
}

// quoteUnits writes a JSON string; half a character needs an escape.
func quoteUnits(units []uint16, ascii bool) string {
	b := []byte{'"'}
	for i := 0; i < len(units); i++ {
		u := units[i]
		pair := high(u) && i+1 < len(units) && low(units[i+1])
		switch {
		case ascii && u > '~', u < ' ', !pair && (high(u) || low(u)):
			b = fmt.Appendf(b, `\u%04x`, u)
		case u == '"' || u == '\\':
			b = append(b, '\\', byte(u))
		case pair:
			b = utf8.AppendRune(b, utf16.DecodeRune(rune(u), rune(units[i+1])))
			i++
		default:
			b = utf8.AppendRune(b, rune(u))
		}
	}
	return string(append(b, '"'))
}

// refragmented is the same turn with the runs of each channel's fragments cut elsewhere.
func (s *script) refragmented(rng *rand.Rand) *script {
	out := &script{calls: s.calls, ascii: s.ascii}
	for i := 0; i < len(s.events); {
		e := s.events[i]
		if e.units == nil {
			out.add(scripted{typ: e.typ, data: e.data})
			i++
			continue
		}
		var run []uint16
		for ; i < len(s.events) && s.events[i].units != nil && s.events[i].typ == e.typ && s.events[i].head == e.head; i++ {
			run = append(run, s.events[i].units...)
		}
		for _, units := range fragments(rng, run, 1+rng.IntN(20)) {
			out.add(scripted{typ: e.typ, head: e.head, tail: e.tail, units: units})
		}
	}
	return out
}

func high(u uint16) bool { return u >= 0xD800 && u < 0xDC00 }
func low(u uint16) bool  { return u >= 0xDC00 && u < 0xE000 }

// state is the text and the reasoning as of the first n events.
func (s *script) state(n int) (text, reasoning string) {
	if n == 0 {
		return "", ""
	}
	return s.events[n-1].text, s.events[n-1].reasoning
}
