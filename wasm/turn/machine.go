// Package turn is one turn: its request, its events, its state and its end. It is a machine without I/O. Inputs are
// method calls, effects come out as values, nothing waits; and it is the only place that decides how a turn ended
// (profile, "The end of a turn").
package turn

import (
	"strconv"

	"github.com/seed-76f09577/turnwire/wasm/api"
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
	// SendAbort tells the service to stop, by a Line; the turn does not wait for it.
	SendAbort struct{}
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
	Request     *api.Request
	Policy      *retry.Policy
	IdleTimeout int64 // without a byte on the open stream
	// Replay says that the service replays a turn to the key that began it: a stream that broke is asked for again.
	Replay bool
	// Offline reports that the browser knows of no network. Only a turn that is replayed asks.
	Offline func() bool
}

// Machine is one turn. Its methods must not be called concurrently. Start comes first, once.
//
//	Send, ReadBody, Cancel, KeyLate  → as for a retry.Call. Sent comes after Line.Left.
//	OpenStream  → Feed for each chunk and StreamEnded for the end, until Cancel. After each of them the driver calls Batch
//	              until it says that there is no more, delivers what each brings, and performs the effects only then: the
//	              page sees the last event before the turn's end.
//	SendAbort   → nothing here: Line.Stop.
//	Finish      is the end; SendAbort alone may follow.
//
// Abort, Disconnect, Online and Hold may come at any time, also while events are delivered. A turn that is replayed asks
// for more than one stream, one after the other: Cancel, Send and OpenStream come again.
type Machine struct {
	retry.Effects
	config   Config
	exchange *retry.Exchange

	status   Status
	left     bool // the message was given to the browser: it may have reached the service
	phase    phase
	due      int64 // when the timer should fire; 0 while none is set by the turn itself
	parser   sse.Parser
	reader   reader
	number   int // of the event read last, from 1
	ahead    message
	looked   bool // ahead is read and not applied yet
	broken   *api.Error
	ended    streamEnd
	lastByte int64
	onHold   bool // the page has stopped reading: silence is its own doing

	text      []byte
	reasoning []byte
	tools     tools

	delivered delivered  // empty where the turn can't be replayed
	replay    *replay    // nil once a replay has shown what was delivered before
	breaks    int        // streams that broke since the last new event
	offline   bool       // the next try waits for the network
	why       *api.Error // what the last stream ended with
	lastID    string     // for Last-Event-ID
}

// phase is what the turn is waiting for, until it is over.
type phase int

const (
	asking  phase = iota // an answer's head
	oddBody              // the body of a 2xx that is no event stream, for the error's message
	reading              // the stream's bytes
	between              // the moment to ask for a replay
)

// streamEnd is what is known of the stream's end while events may still be drained.
type streamEnd struct {
	known  bool
	clean  bool
	last   bool // the parser was asked for what it still has
	detail string
}

// New makes a turn; Start begins it.
func New(config Config) *Machine {
	m := &Machine{config: config, status: Queued}
	m.exchange = retry.NewExchange(config.Request, config.Policy, m.Emit)
	return m
}

// Over reports whether the turn has ended.
func (m *Machine) Over() bool { return m.status != Queued && m.status != Streaming }

// Request is the message's request.
func (m *Machine) Request() *api.Request { return m.config.Request }

// Left reports whether the message may have reached the service.
func (m *Machine) Left() bool { return m.left }

// Policy is how the turn's requests are tried.
func (m *Machine) Policy() *retry.Policy { return m.config.Policy }

// Text is the answer so far, as UTF-8. It ends before half of a surrogate pair whose other half is still to come.
func (m *Machine) Text() []byte { return withoutHalf(m.text) }

// Reasoning is the reasoning so far, likewise.
func (m *Machine) Reasoning() []byte { return withoutHalf(m.reasoning) }

// AppendToolCalls appends the tool calls that changed since it was called last, as a JSON array: each call's place in the
// order in which they began, from 0, and then the call.
func (m *Machine) AppendToolCalls(dst []byte) []byte { return m.tools.appendChanged(dst) }

// Start sends the message.
func (m *Machine) Start() {
	if m.status == Queued {
		m.exchange.Start()
	}
}

// Keyed tells that the API key is there while the message still waits to be sent.
func (m *Machine) Keyed() { m.exchange.Keyed() }

// Sent tells that the browser has been given the message: from now on the service may have it.
func (m *Machine) Sent() {
	if !m.Over() {
		m.left = true
		m.exchange.Sent()
	}
}

// Headers tells the head of the answer. now is in milliseconds, as everywhere.
func (m *Machine) Headers(now int64, res *api.Response) {
	if m.Over() || m.phase != asking || m.exchange.Over() {
		return
	}
	m.exchange.Headers(res)
	if !m.exchange.Accepted() {
		return
	}
	if !res.IsEventStream() {
		m.phase = oddBody
		m.Emit(retry.ReadBody{Limit: 4096})
		m.arm(now, m.config.Policy.Timeout)
		return
	}
	m.status, m.phase = Streaming, reading
	m.lastByte = now
	m.Emit(OpenStream{})
	m.arm(now, m.config.IdleTimeout)
}

// Body tells the body that ReadBody asked for.
func (m *Machine) Body(now int64, body []byte) {
	if m.phase == oddBody && !m.Over() {
		m.finish(Interrupted, api.NotEventStream(m.config.Request, m.exchange.Response(), body))
		return
	}
	if m.phase == asking {
		m.exchange.Body(now, body)
		m.settle()
	}
}

// RequestFailed tells that no answer came: detail is the browser's own word for it, for people.
func (m *Machine) RequestFailed(detail string) {
	if m.phase == oddBody && !m.Over() {
		m.finish(Interrupted, api.NotEventStream(m.config.Request, m.exchange.Response(), nil))
		return
	}
	if m.phase == asking {
		m.exchange.Failed(detail)
		m.settle()
	}
}

// Abandon ends the turn before its request was sent, for a reason of the caller's side.
func (m *Machine) Abandon(err *api.Error) {
	m.exchange.Abandon(err)
	m.settle()
}

func (m *Machine) settle() {
	if err := m.exchange.Err(); err != nil && !m.Over() {
		if err.Kind == api.KindConnection && m.status == Streaming {
			m.breakOff(err)
			return
		}
		status := Failed
		// Where no message left there is nothing to be interrupted.
		if m.left && (err.Kind == api.KindConnection || err.Kind == api.KindTimeout) {
			status = Interrupted
		}
		m.finish(status, err)
	}
}

// Abort cancels here, and at the service where the message may have reached it. After the end, and a second time, it
// does nothing.
func (m *Machine) Abort() {
	if m.Over() {
		return
	}
	m.finish(Cancelled, nil)
	if m.left {
		m.Emit(SendAbort{})
	}
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
	if m.Over() {
		return
	}
	if m.slept(now) {
		return
	}
	switch m.phase {
	case oddBody:
		m.finish(Interrupted, api.NotEventStream(m.config.Request, m.exchange.Response(), nil))
	case asking:
		m.exchange.TimerFired()
		m.settle()
	case between:
		if m.breaks > m.config.Policy.MaxRetries {
			m.finish(Interrupted, m.why)
			return
		}
		m.ask()
	case reading:
		if m.onHold {
			m.lastByte = now
		}
		if left := m.lastByte + m.config.IdleTimeout - now; left > 0 {
			m.arm(now, left)
			return
		}
		m.breakOff(&api.Error{Kind: api.KindTimeout, Code: "idle_timeout", Retryable: true,
			RequestID: m.exchange.Response().RequestID,
			Message:   "no byte came for " + strconv.FormatInt(m.config.IdleTimeout, 10) + " ms (option idleTimeout): the answer may be incomplete"})
	}
}

const (
	late  = 2_000 // ms: a timer that fires so much too late shows that the machine slept
	grace = 5_000 // ms after a sleep, for the page to read what had arrived
)

// slept gives a stream whose timer fired late a moment more: after a sleep the timer comes before the bytes that are
// waiting, and a connection that is alive must not be cut for it.
func (m *Machine) slept(now int64) bool {
	if m.phase != reading || m.due == 0 || now-m.due < late {
		return false
	}
	m.lastByte = now - m.config.IdleTimeout + min(grace, m.config.IdleTimeout)
	m.arm(now, m.lastByte+m.config.IdleTimeout-now)
	return true
}

func (m *Machine) arm(now, after int64) {
	if after > 0 {
		m.due = now + after
		m.Emit(retry.SetTimer{After: after})
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
	m.Emit(retry.StopTimer{})
	m.Emit(retry.Cancel{})
	m.Emit(Finish{outcome})
	m.parser.Reset()
}
