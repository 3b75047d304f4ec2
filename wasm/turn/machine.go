// Package turn is one turn: its request, its events, its state and its end. It is a machine without I/O. Inputs are
// method calls, effects come out as values, nothing waits; and it is the only place that decides how a turn ended
// (profile, "The end of a turn").
package turn

import (
	"strconv"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/json"
	"github.com/seed-76f09577/turnwire/wasm/retry"
	"github.com/seed-76f09577/turnwire/wasm/sse"
)

// Status is where a turn is: queued → streaming → one of the four ends.
type Status string

// The statuses of the JavaScript API.
const (
	Queued      Status = "queued"
	Streaming   Status = "streaming"
	Completed   Status = "completed"
	Failed      Status = "failed"
	Cancelled   Status = "cancelled"
	Interrupted Status = "interrupted"
)

// The effects that a turn asks for beside those of retry.
type (
	// OpenStream asks for the answer's bytes, by Feed and StreamEnded.
	OpenStream struct{}
	// SendAbort tells the service to stop; it goes its own way, the turn does not wait for it.
	SendAbort struct{ Request api.Request }
	// Finish is the end of the turn, and the last effect but for SendAbort.
	Finish struct{ Outcome Outcome }
)

// Outcome is how a turn ended. Err is nil where it completed or was cancelled.
type Outcome struct {
	Status   Status
	Err      *api.Error
	Complete []byte // the payload of turn_complete, a JSON object; nil without one
}

// Config is what a turn needs to know. Times are milliseconds, 0 is no limit.
type Config struct {
	Request     api.Request
	Abort       api.Request
	Policy      retry.Policy
	IdleTimeout int64 // without a byte on the open stream
}

// Machine is one turn. Its methods must not be called concurrently.
type Machine struct {
	config   Config
	exchange *retry.Exchange
	effects  []retry.Effect

	status   Status
	oddBody  bool // a 2xx that is no event stream: its body is on the way, for the message
	parser   sse.Parser
	reader   reader
	number   int // of the event read last, from 1
	held     message
	holding  bool // held is read but not applied
	broken   *api.Error
	ended    streamEnd
	lastByte int64
	onHold   bool // the page has stopped reading: silence is its own doing

	text      []byte
	reasoning []byte
	tools     tools
}

// streamEnd is what is known of the stream's end while events may still be drained.
type streamEnd struct {
	known  bool
	clean  bool
	last   bool // the parser was asked for what it still held
	detail string
}

// New makes a turn; Start begins it.
func New(config Config) *Machine {
	m := &Machine{config: config, status: Queued}
	m.exchange = retry.NewExchange(config.Request, config.Policy, m.emit)
	return m
}

func (m *Machine) emit(e retry.Effect) { m.effects = append(m.effects, e) }

// Effects returns what is to be done since the last call, in order.
func (m *Machine) Effects() []retry.Effect {
	out := m.effects
	m.effects = nil
	return out
}

// Wants reports whether Effects would return any.
func (m *Machine) Wants() bool { return len(m.effects) > 0 }

// Status is where the turn is.
func (m *Machine) Status() Status { return m.status }

// Over reports whether the turn has ended.
func (m *Machine) Over() bool { return m.status != Queued && m.status != Streaming }

// Request is the message's request.
func (m *Machine) Request() api.Request { return m.config.Request }

// Policy is how the turn's requests are tried.
func (m *Machine) Policy() retry.Policy { return m.config.Policy }

// Text is the answer so far, as UTF-8. It ends before half of a surrogate pair whose other half is still to come.
func (m *Machine) Text() []byte { return whole(m.text) }

// Reasoning is the reasoning so far, likewise.
func (m *Machine) Reasoning() []byte { return whole(m.reasoning) }

// AppendToolCalls appends the tool calls as a JSON array, in the order in which they began.
func (m *Machine) AppendToolCalls(dst []byte) []byte { return m.tools.appendJSON(dst) }

func whole(text []byte) []byte {
	if json.EndsInHalf(text) {
		return text[:len(text)-3]
	}
	return text
}

// Start sends the message.
func (m *Machine) Start() {
	if m.status == Queued {
		m.exchange.Start()
	}
}

// Headers tells the head of the answer. now is in milliseconds, as everywhere.
func (m *Machine) Headers(now int64, res api.Response) {
	if m.status != Queued || m.exchange.Over() {
		return
	}
	m.exchange.Headers(res)
	if !m.exchange.Accepted() {
		return
	}
	if !res.IsEventStream() {
		m.oddBody = true
		m.emit(retry.ReadBody{Limit: 4096})
		m.arm(m.config.Policy.Timeout)
		return
	}
	m.status = Streaming
	m.lastByte = now
	m.emit(OpenStream{})
	m.arm(m.config.IdleTimeout)
}

// Body tells the body that ReadBody asked for.
func (m *Machine) Body(now int64, body []byte) {
	if m.oddBody && !m.Over() {
		m.finish(Interrupted, api.NotEventStream(m.config.Request, m.exchange.Response(), body))
		return
	}
	m.exchange.Body(now, body)
	m.settle()
}

// RequestFailed tells that no answer came: detail is the browser's own word for it, for people.
func (m *Machine) RequestFailed(detail string) {
	if m.oddBody && !m.Over() {
		m.finish(Interrupted, api.NotEventStream(m.config.Request, m.exchange.Response(), nil))
		return
	}
	m.exchange.Failed(detail)
	m.settle()
}

// Abandon ends the turn before its request was sent, for a reason of the caller's side.
func (m *Machine) Abandon(err *api.Error) {
	m.exchange.Abandon(err)
	m.settle()
}

func (m *Machine) settle() {
	if err := m.exchange.Err(); err != nil && !m.Over() {
		status := Failed
		if err.Kind == api.KindConnection || err.Kind == api.KindTimeout {
			status = Interrupted
		}
		m.finish(status, err)
	}
}

// Feed hands over the stream's next bytes, which have to stay untouched until Next has said false with nothing
// Pending.
func (m *Machine) Feed(now int64, chunk []byte) {
	if m.status != Streaming || m.ended.known {
		return
	}
	m.lastByte = now
	m.parser.Feed(chunk)
}

// Next applies and returns the next event. Events that change more than the text come first in a batch: where first
// is false they are held back, and Pending says so. The page can so deliver what came before, with the turn's state
// as of then; and an abort asked for by a listener before turn_complete is delivered comes in time.
func (m *Machine) Next(first bool) (Event, bool) {
	if !m.hold() {
		return Event{}, false
	}
	if !first && m.alone() {
		return Event{}, false
	}
	m.holding = false
	if m.broken != nil {
		m.finish(Interrupted, m.broken)
		return Event{}, false
	}
	if m.ended.known && m.held.typ == nil {
		m.closed()
		return Event{}, false
	}
	return m.apply(), true
}

// Pending reports whether Next, asked first, would do something.
func (m *Machine) Pending() bool { return m.holding && !m.Over() }

func (m *Machine) alone() bool {
	return m.broken != nil || m.held.typ == nil || m.held.kind >= toolCallStarted
}

// hold reads the next event, error or end of the stream into m.held.
func (m *Machine) hold() bool {
	if m.status != Streaming {
		return false
	}
	for !m.holding {
		e, ok := m.parser.Next()
		if !ok {
			if m.parser.Err() != nil {
				m.holding = true
				m.broken = tooLong(m.number + 1)
				break
			}
			if !m.ended.known {
				return false
			}
			if e, ok = m.unfinished(); !ok {
				m.held = message{}
				m.holding = true
				break
			}
		}
		m.take(e)
	}
	return true
}

// take reads an event into m.held, unless it is to be ignored.
func (m *Machine) take(e sse.Event) {
	m.number++
	if isDoneMarker(e.Data) {
		return
	}
	if !m.reader.read(e, &m.held) {
		m.broken = notAnEvent(m.number, e.Data)
	}
	m.holding = true
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

// apply takes the held event into the turn's state.
func (m *Machine) apply() Event {
	e := Event{Type: m.held.typ, Data: m.held.data, ID: m.held.id}
	switch m.held.kind {
	case textDelta:
		m.text = json.AppendString(m.text, m.held.chunk)
		e.Mark = len(whole(m.text))
		if m.held.plain {
			e.Chunk = m.held.chunk
		}
	case reasoningDelta:
		m.reasoning = json.AppendString(m.reasoning, reasoningChunk(m.held))
		e.Mark = len(whole(m.reasoning))
	case toolCallStarted, toolCallDelta, toolCall, toolResult:
		m.tools.apply(m.held.kind, m.held.data)
	case turnComplete:
		m.conclude(Outcome{Status: Completed, Complete: clone(m.held.data)})
	case errorEvent:
		m.conclude(Outcome{Status: Failed, Err: turnError(m.held.data)})
	}
	return e
}

// Hold tells that the page stops reading, because nobody takes what it has, or goes on.
func (m *Machine) Hold(now int64, on bool) {
	m.onHold = on
	m.lastByte = now
}

// StreamEnded tells that the stream ended: cleanly, or broken with the browser's word for it. Next has to be asked
// afterwards, for the last event.
func (m *Machine) StreamEnded(clean bool, detail string) {
	if m.status == Streaming && !m.ended.known {
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
	m.finish(Interrupted, err)
}

// Abort cancels here and at the service. After the end, and a second time, it does nothing.
func (m *Machine) Abort() {
	if m.Over() {
		return
	}
	m.finish(Cancelled, nil)
	m.emit(SendAbort{m.config.Abort})
}

// Disconnect lets go of the stream and tells the service nothing.
func (m *Machine) Disconnect() {
	if m.Over() {
		return
	}
	m.finish(Interrupted, &api.Error{Kind: api.KindConnection, Code: "disconnected", Retryable: true,
		Message: "the turn was disconnected by the caller: the service goes on"})
}

// TimerFired tells that the timer set last is due. now shows whether bytes came since it was set.
func (m *Machine) TimerFired(now int64) {
	switch {
	case m.Over():
	case m.oddBody:
		m.finish(Interrupted, api.NotEventStream(m.config.Request, m.exchange.Response(), nil))
	case m.status == Queued:
		m.exchange.TimerFired()
		m.settle()
	default:
		if m.onHold {
			m.lastByte = now
		}
		if left := m.lastByte + m.config.IdleTimeout - now; left > 0 {
			m.arm(left)
			return
		}
		m.finish(Interrupted, &api.Error{Kind: api.KindTimeout, Code: "idle_timeout", Retryable: true,
			RequestID: m.exchange.Response().RequestID,
			Message:   "no byte came for " + strconv.FormatInt(m.config.IdleTimeout, 10) + " ms (option idleTimeout): the answer may be incomplete"})
	}
}

func (m *Machine) arm(after int64) {
	if after > 0 {
		m.emit(retry.SetTimer{After: after})
	}
}

func (m *Machine) finish(status Status, err *api.Error) {
	m.conclude(Outcome{Status: status, Err: err})
}

// conclude ends the turn: the connection is let go in every case, for a service may keep it open after the last
// event.
func (m *Machine) conclude(outcome Outcome) {
	m.status = outcome.Status
	m.exchange.Cancel()
	m.emit(retry.StopTimer{})
	m.emit(retry.Cancel{})
	m.emit(Finish{outcome})
	m.parser.Reset()
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
