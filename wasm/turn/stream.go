package turn

import (
	"strconv"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/json"
	"github.com/seed-76f09577/turnwire/wasm/sse"
)

// Feed hands over the stream's next bytes, which have to stay untouched until Batch has said that there is no more.
func (m *Machine) Feed(now int64, chunk []byte) {
	if m.phase != reading || m.Over() || m.ended.known {
		return
	}
	m.lastByte = now
	m.parser.Feed(chunk)
}

// next applies and returns the next event. Events that change more than the text come first in a batch: where first
// is false they are left for later, and pending says so. The page can so deliver what came before, with the turn's state
// as of then; and an abort asked for by a listener before turn_complete is delivered comes in time.
func (m *Machine) next(first bool) (event, bool) {
	if !m.lookAhead() {
		return event{}, false
	}
	if !first && m.alone() {
		return event{}, false
	}
	m.looked = false
	if m.broken != nil {
		m.finish(Interrupted, m.broken)
		return event{}, false
	}
	if m.ended.known && m.ahead.typ == nil {
		m.closed()
		return event{}, false
	}
	return m.apply(), true
}

// pending reports whether next, asked first, would do something.
func (m *Machine) pending() bool { return m.looked && !m.Over() }

func (m *Machine) alone() bool {
	return m.broken != nil || m.ahead.typ == nil || m.ahead.kind >= toolCallStarted
}

// lookAhead reads the next event, error or end of the stream into m.ahead.
func (m *Machine) lookAhead() bool {
	if m.phase != reading || m.Over() {
		return false
	}
	for !m.looked {
		e, ok := m.parser.Next()
		if !ok {
			if m.parser.Err() != nil {
				m.looked = true
				m.broken = tooLong(m.number + 1)
				break
			}
			if !m.ended.known {
				return false
			}
			if e, ok = m.unfinished(); !ok {
				m.ahead = message{}
				m.looked = true
				break
			}
		}
		m.take(e)
	}
	return true
}

// take reads an event into m.ahead, unless it is to be ignored.
func (m *Machine) take(e sse.Event) {
	m.number++
	if isDoneMarker(e.Data) {
		return
	}
	if !m.reader.read(e, &m.ahead) {
		m.broken = notAnEvent(m.number, e.Data)
	} else if m.replay != nil {
		switch m.admit(&m.ahead) {
		case known:
			return
		case different:
			m.broken = mismatch(m.number)
		}
	}
	m.looked = true
}

// unfinished is the event in which a cleanly ended stream stopped, if its data is a whole JSON object.
func (m *Machine) unfinished() (sse.Event, bool) {
	if m.ended.last || !m.ended.clean {
		return sse.Event{}, false
	}
	m.ended.last = true
	e, ok := m.parser.End()
	if !ok || isDoneMarker(e.Data) {
		return e, false
	}
	var m2 message
	return e, m.reader.read(e, &m2)
}

func tooLong(number int) *api.Error {
	return &api.Error{Kind: api.KindProtocol, Code: "event_too_long",
		Message: "event " + strconv.Itoa(number) + " of the stream is longer than " + strconv.Itoa(sse.DefaultLimit>>20) + " MiB"}
}

// apply takes the event ahead into the turn's state.
func (m *Machine) apply() event {
	e := event{Type: m.ahead.typ, Data: m.ahead.data, ID: m.ahead.id, Mark: len(withoutHalf(m.text))}
	m.breaks = 0
	if m.config.Replay {
		m.delivered.add(&m.ahead)
	}
	switch m.ahead.kind {
	case textDelta:
		m.text = json.AppendString(m.text, m.ahead.chunk)
		e.Mark = len(withoutHalf(m.text))
		if m.ahead.plain {
			e.Chunk = m.ahead.chunk
		}
	case reasoningDelta:
		m.reasoning = json.AppendString(m.reasoning, reasoningChunk(m.ahead))
		e.Mark = len(withoutHalf(m.reasoning))
	case toolCallStarted, toolCallDelta, toolCall, toolResult:
		m.tools.apply(m.ahead.kind, m.ahead.data)
	case turnComplete:
		m.conclude(Outcome{Status: Completed, Complete: clone(m.ahead.data)})
	case errorEvent:
		m.conclude(Outcome{Status: Failed, Err: turnError(m.ahead.data)})
	}
	return e
}

// Hold tells that the page stops reading, because nobody takes what it has, or goes on.
func (m *Machine) Hold(now int64, on bool) {
	m.onHold = on
	m.lastByte = now
}

// StreamEnded tells that the stream ended: cleanly, or broken with the browser's word for it. Batch has to be called
// afterwards, for the last event.
func (m *Machine) StreamEnded(clean bool, detail string) {
	if m.phase == reading && !m.Over() && !m.ended.known {
		m.ended = streamEnd{known: true, clean: clean, detail: detail}
	}
}

// closed ends a turn whose stream ended without turn_complete.
func (m *Machine) closed() {
	err := &api.Error{Kind: api.KindConnection, Retryable: true, RequestID: m.exchange.Response().RequestID}
	if m.ended.clean {
		err.Code = "stream_closed"
		err.Message = "the stream ended without turn_complete: the answer may be incomplete"
	} else {
		err.Code = "stream_broken"
		err.Message = "the connection broke before turn_complete: the answer may be incomplete"
		if m.ended.detail != "" {
			err.Message += " (" + m.ended.detail + ")"
		}
	}
	m.breakOff(err)
}
