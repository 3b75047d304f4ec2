// Package sse parses a server-sent event stream: bytes in, events out.
//
// It follows https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
// and differs in two places. Memory is bounded (ErrTooLong), and End offers the unfinished event that the
// standard drops, because only the caller can tell whether it arrived whole.
package sse

import (
	"bytes"
	"errors"

	"github.com/seed-76f09577/turnwire/wasm/json"
)

// DefaultLimit is the number of bytes that the data of one event may have.
const DefaultLimit = 16 << 20

// nameLimit is the number of bytes that a type or an id may have, under a Parser's limit where that is lower.
// Neither is worth megabytes: an id has to fit a request header.
const nameLimit = 64 << 10

// ErrTooLong says that the data, the type or the id of an event is over the limit, be its line finished or not.
var ErrTooLong = errors.New("sse: event over the size limit")

// Event is one dispatched event. Its slices point into the parser's or the caller's memory and hold until the
// next call of Next, Feed, End or Reset.
type Event struct {
	Type  []byte // the event field; empty where there was none (the standard's "message")
	Data  []byte // the data buffer, without its last LF; not necessarily UTF-8, the reader of the text replaces what is not
	ID    []byte // the stream's last event id as of this event, possibly an earlier event's
	HasID bool   // whether this event itself carried an id field that was taken
}

// Parser turns the chunks of a stream into events. Its zero value is ready, with DefaultLimit. Cutting the
// stream into other chunks changes neither the events nor the error.
type Parser struct {
	in  []byte // the chunk
	pos int    // how far it was read
	lf  int    // the first LF of in at or after pos, len(in) where there is none; stale where before pos
	cr  int    // the same for CR

	limit int // bytes of one event's data; DefaultLimit where a test has set no other
	err   error

	idle   bool // nothing of a line or an event is pending and the next byte begins a line
	skipLF bool // a CR ended the last line, so an LF now belongs to it
	bom    int  // bytes of a leading BOM that went by; bomDone once the stream is past it

	line  line
	event pending

	last    []byte // the last event id, as of the last blank line
	retry   int
	retried bool
}

const (
	byteOrderMark = "\xEF\xBB\xBF"
	bomDone       = len(byteOrderMark)
)

// Feed hands over the stream's next bytes, which must stay as they are until Next has said false. Where Next
// has not said so yet about the chunk before, what is left of it is copied together with this one.
func (p *Parser) Feed(chunk []byte) {
	if p.err != nil {
		return
	}
	if p.limit == 0 {
		p.limit = DefaultLimit
	}
	if p.pos < len(p.in) {
		rest := p.in[p.pos:]
		chunk = append(rest[:len(rest):len(rest)], chunk...)
	}
	p.in, p.pos, p.lf = chunk, 0, -1
	if p.cr = bytes.IndexByte(chunk, '\r'); p.cr < 0 {
		p.cr = len(chunk)
	}
}

// Next returns the next event that lies wholly in what was fed. It is false when more bytes are needed, or for
// good once Err is set.
func (p *Parser) Next() (Event, bool) {
	if p.pos == len(p.in) {
		return Event{}, false
	}
	// Nearly every event of a stream is one data line, perhaps after its type, whole in its chunk: hand out the
	// chunk's own bytes, storing nothing but the position.
	if p.idle && p.cr == len(p.in) {
		rest, kind := p.in[p.pos:], []byte(nil)
		if len(rest) > 6 && json.View(rest[:6]) == "event:" {
			if end := bytes.IndexByte(rest, '\n'); end > 0 && end <= min(p.limit, nameLimit) {
				kind, rest = value(rest[6:end]), rest[end+1:]
			}
		}
		if len(rest) > 5 && json.View(rest[:5]) == "data:" {
			end := bytes.IndexByte(rest, '\n')
			if end > 0 && end <= p.limit && end+1 < len(rest) && rest[end+1] == '\n' {
				p.pos = len(p.in) - len(rest) + end + 2
				return Event{Type: kind, Data: value(rest[5:end]), ID: p.last}, true
			}
		}
	}
	if p.bom != bomDone {
		p.skipBOM()
	}
	if p.skipLF && p.pos < len(p.in) {
		p.skipLF = false
		if p.in[p.pos] == '\n' {
			p.pos++
		}
	}
	return p.next()
}

// next is Next for every kind of line, whole or not.
func (p *Parser) next() (Event, bool) {
	e := &p.event
	for in, pos := p.in, p.pos; pos < len(in); pos = p.pos {
		// Each of LF and CR is searched only past the last one found, so that a chunk is searched once,
		// whichever of them it uses.
		if p.lf < pos {
			p.lf = index(in, pos, '\n')
		}
		if p.cr < pos {
			p.cr = index(in, pos, '\r')
		}
		end := min(p.lf, p.cr)
		if end == len(in) {
			p.pos = end
			p.add(in[pos:])
			break
		}
		p.pos = end + 1
		if end == p.cr {
			if p.pos == len(in) {
				p.skipLF = true
			} else if p.lf == p.pos {
				p.pos++
			}
		}
		if pos < end || p.line.open {
			if p.finish(in[pos:end]); p.err != nil {
				break
			}
			continue
		}

		ev := Event{Type: e.kind, ID: p.last, HasID: e.hasID}
		if e.hasID {
			p.last = append(p.last[:0], e.id...)
			ev.ID = p.last
		}
		if e.hasData {
			ev.Data = e.bytes()
			e.clear()
			p.idle = !p.skipLF
			return ev, true
		}
		e.clear()
	}
	if p.err != nil {
		p.in, p.pos, p.idle = nil, 0, false
		return Event{}, false
	}
	e.keep()
	p.idle = p.bom == bomDone && !p.skipLF && !p.line.open && e.empty()
	return Event{}, false
}

// index returns where c first is in b at or after from, len(b) where it is not.
func index(b []byte, from int, c byte) int {
	if i := bytes.IndexByte(b[from:], c); i >= 0 {
		return from + i
	}
	return len(b)
}

func (p *Parser) skipBOM() {
	for p.pos < len(p.in) && p.bom < bomDone {
		if p.in[p.pos] != byteOrderMark[p.bom] {
			if p.bom > 0 {
				// What looked like a BOM begins a line after all, and no field that counts begins so.
				p.line = line{open: true, field: ignored}
			}
			p.bom = bomDone
			return
		}
		p.pos++
		p.bom++
	}
}

// Err returns ErrTooLong once the stream went over the limit. It stays until Reset.
func (p *Parser) Err() error { return p.err }

// End is called when the stream ended cleanly. It offers the unfinished event where there is one with data,
// its last line counted even without a line end. The standard drops that event; whether to take it is the
// caller's choice, and LastEventID does not follow it. Where Next has not said false yet, End goes on with what
// Next would return.
func (p *Parser) End() (Event, bool) {
	if ev, ok := p.Next(); ok {
		return ev, true
	}
	if p.err == nil && p.line.open {
		p.finish(nil)
	}
	e := &p.event
	ev, ok := Event{Type: e.kind, Data: e.bytes(), ID: p.last, HasID: e.hasID}, e.hasData && p.err == nil
	if e.hasID {
		ev.ID = e.id
	}
	e.clear()
	if !ok {
		return Event{}, false
	}
	return ev, true
}

// LastEventID returns the value for the Last-Event-ID request header: the id as of the last blank line, empty
// where there is none. It holds as long as an Event does.
func (p *Parser) LastEventID() []byte { return p.last }

// Retry returns the last valid retry field in milliseconds, at most 1<<31 - 1, the longest delay that a
// browser's timer takes. It is false where the stream had none.
func (p *Parser) Retry() (ms int, ok bool) { return p.retry, p.retried }

// Reset makes p ready for a new stream. Its limit and its memory stay.
func (p *Parser) Reset() {
	p.event.clear()
	*p = Parser{limit: p.limit, event: p.event, line: line{id: p.line.id}, last: p.last[:0]}
}
