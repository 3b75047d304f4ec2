package sse

import (
	"bytes"

	"github.com/seed-76f09577/turnwire/wasm/json"
)

// field is what a line sets.
type field uint8

const (
	unnamed field = iota // the name is not whole yet
	ignored              // a comment or an unknown field
	fieldData
	fieldEvent
	fieldID
	fieldRetry
)

// maxRetry is the longest delay that a browser's timer takes, in milliseconds.
const maxRetry = 1<<31 - 1

// line is the line that is being read. Its value goes where it belongs as it comes, so that only its name has
// to be held back, and a comment without end takes no memory.
type line struct {
	open  bool // some of it was read
	space bool // the next byte is the value's first, dropped if it is a space
	bad   bool // the value is refused: an id with NUL, a retry with something else than digits
	field field
	size  int8    // bytes of name
	name  [5]byte // no field that counts has a longer one
	id    []byte  // an id's value, kept apart from the event's until it is known to have no NUL
	retry int64   // a retry's value, -1 while it is empty
}

// pending is the event that is being read.
type pending struct {
	hasData bool
	lent    bool   // data is all in chunk, not in data
	chunk   []byte // part of the caller's chunk
	data    []byte
	kind    []byte
	id      []byte
	hasID   bool
}

// add reads text, a piece of a line.
func (p *Parser) add(text []byte) {
	if len(text) == 0 {
		return
	}
	l := &p.line
	if !l.open {
		*l = line{open: true, id: l.id}
	}
	if l.field == unnamed {
		if text = p.readName(text); l.field == unnamed {
			return
		}
	}
	if l.field == ignored || len(text) == 0 {
		return
	}
	if l.space {
		l.space = false
		if text[0] == ' ' {
			text = text[1:]
		}
	}
	p.addValue(text)
}

// readName reads the name and its colon, and returns what comes after.
func (p *Parser) readName(text []byte) []byte {
	l := &p.line
	for i, c := range text {
		if c == ':' {
			l.space = true
			p.begin()
			return text[i+1:]
		}
		if int(l.size) == len(l.name) {
			l.field = ignored
			return nil
		}
		l.name[l.size] = c
		l.size++
	}
	return nil
}

// begin starts the field that the line's name says.
func (p *Parser) begin() {
	l := &p.line
	switch json.View(l.name[:l.size]) {
	case "data":
		l.field = fieldData
		p.beginData()
	case "event":
		l.field = fieldEvent
		p.event.kind = p.event.kind[:0]
	case "id":
		l.field = fieldID
		l.id = l.id[:0]
	case "retry":
		l.field = fieldRetry
		l.retry = -1
	default:
		l.field = ignored
	}
}

// beginData puts the LF between two data lines.
func (p *Parser) beginData() {
	e := &p.event
	if !e.hasData {
		e.hasData = true
		e.data = e.data[:0]
		return
	}
	e.keep()
	e.data = grow(p, e.data, "\n", p.limit)
}

// addValue reads a piece of the line's value.
func (p *Parser) addValue(text []byte) {
	l, e := &p.line, &p.event
	switch l.field {
	case fieldData:
		e.data = grow(p, e.data, text, p.limit)
	case fieldEvent:
		e.kind = grow(p, e.kind, text, min(p.limit, nameLimit))
	case fieldID:
		if l.bad {
			return
		}
		if i := bytes.IndexByte(text, 0); i >= 0 {
			l.bad = true
			text = text[:i]
		}
		l.id = grow(p, l.id, text, min(p.limit, nameLimit))
	case fieldRetry:
		for _, c := range text {
			if c < '0' || c > '9' {
				l.bad = true
				return
			}
			l.retry = min(max(l.retry, 0)*10+int64(c-'0'), maxRetry)
		}
	}
}

// finish reads text, the rest of a line, and ends the line.
func (p *Parser) finish(text []byte) {
	l, e := &p.line, &p.event
	if !l.open {
		switch {
		case !e.hasData && len(text) >= 5 && json.View(text[:5]) == "data:":
			if text = value(text[5:]); len(text) > p.limit {
				p.err = ErrTooLong
				return
			}
			e.hasData, e.lent, e.chunk = true, true, text
			return
		case len(text) >= 6 && json.View(text[:6]) == "event:":
			e.kind = grow(p, e.kind[:0], value(text[6:]), min(p.limit, nameLimit))
			return
		}
	}
	p.add(text)
	if l.field == unnamed {
		p.begin()
	}
	l.open = false
	if l.bad || p.err != nil {
		return
	}
	switch l.field {
	case fieldID:
		e.id, l.id = l.id, e.id
		e.hasID = true
	case fieldRetry:
		if l.retry >= 0 {
			p.retry, p.retried = int(l.retry), true
		}
	}
}

// value drops the one space that a value may have before it.
func value(text []byte) []byte {
	if len(text) > 0 && text[0] == ' ' {
		return text[1:]
	}
	return text
}

// grow appends text to buf, which may have limit bytes. Over it, the stream is refused.
func grow[T string | []byte](p *Parser, buf []byte, text T, limit int) []byte {
	n := len(buf) + len(text)
	if n > limit {
		p.err = ErrTooLong
		return buf
	}
	// append grows a large buffer by a quarter: on its way to the limit it leaves four times that behind, and a
	// module's memory never shrinks. Doubling leaves as much as it needs.
	if n > cap(buf) && n > nameLimit {
		buf = append(make([]byte, 0, min(2*n, limit)), buf...)
	}
	return append(buf, text...)
}

func (e *pending) empty() bool { return !e.hasData && !e.hasID && len(e.kind) == 0 }

// keep copies data that lies in the caller's chunk.
func (e *pending) keep() {
	if e.lent {
		e.data = append(e.data[:0], e.chunk...)
		e.lent, e.chunk = false, nil
	}
}

func (e *pending) bytes() []byte {
	if e.lent {
		return e.chunk
	}
	return e.data
}

// clear forgets the event but not its memory, which an Event may still point into.
func (e *pending) clear() {
	e.hasData, e.lent, e.hasID = false, false, false
	e.kind = e.kind[:0]
}
