// Package retry carries one request to its answer: its tries, the waits between them and the limit on each
// (profile, "Idempotency and retry" and "Time limits"). It performs nothing itself: inputs come by method call, each
// with its time in milliseconds, and what is to be done comes out as effects.
package retry

import "github.com/seed-76f09577/turnwire/wasm/api"

type state int

const (
	idle   state = iota
	asking       // for the API key, or for leave to go
	sent
	refused
	waiting
	accepted
	failed
)

// Exchange is one request on its way to an answer. Start it, tell it what happens, and perform what it asks for;
// it is over when Accepted or Err says so.
type Exchange struct {
	request *api.Request
	policy  *Policy
	emit    func(Effect)

	state    state
	attempt  int
	retries  int
	renewed  bool
	slot     *Slot
	queued   bool // the log says that this try waits for a connection
	response *api.Response
	err      *api.Error
}

// NewExchange makes an exchange that hands its effects to emit.
func NewExchange(request *api.Request, policy *Policy, emit func(Effect)) *Exchange {
	return &Exchange{request: request, policy: policy, emit: emit, response: &api.Response{}}
}

// Start sends the first try.
func (x *Exchange) Start() { x.send() }

func (x *Exchange) send() {
	x.state = asking
	x.attempt++
	x.emit(Send{x.request, x.attempt})
	// An API key that no function gives is there at once.
	if x.state == asking && x.policy.RenewKey && x.policy.Timeout > 0 {
		x.emit(SetTimer{x.policy.Timeout})
	}
}

// Sent tells that the browser has been given the request: from now on it may reach the service. The limit on its answer
// begins when a connection can be free.
func (x *Exchange) Sent() {
	if x.state != asking {
		return
	}
	x.state = sent
	x.slot, x.queued = x.policy.Connections.Open(x.policy.Host), false
	x.noteWaiting()
	if x.policy.Timeout > 0 {
		x.emit(SetTimer{x.policy.Timeout})
	} else if x.policy.RenewKey {
		x.emit(StopTimer{})
	}
}

// noteWaiting logs, once for each try, that it waits for a connection.
func (x *Exchange) noteWaiting() {
	if x.slot.Waiting() && !x.queued {
		x.queued = true
		x.emit(Log{"info", "waiting for a connection", x.fields(0)})
	}
}

// Keyed tells that the API key is there while the request still waits for something of the page's own: no limit runs until
// Sent.
func (x *Exchange) Keyed() {
	if x.state == asking && x.policy.RenewKey {
		x.emit(StopTimer{})
	}
}

// Headers tells that an answer's head arrived. Where it is a success the exchange is over.
func (x *Exchange) Headers(res *api.Response) {
	if x.state != sent {
		return
	}
	x.response = res
	x.slot.Held()
	if res.OK() {
		x.state = accepted
		x.emit(StopTimer{})
		return
	}
	// The limit goes on: a refusal whose body never ends must not keep the caller waiting.
	x.state = refused
	x.emit(ReadBody{api.BodyLimit})
}

// Body tells what a refusal said. now is Unix time in milliseconds, for a Retry-After that is a date.
func (x *Exchange) Body(now int64, body []byte) {
	if x.state != refused {
		return
	}
	after, named := After(x.response.RetryAfter, now)
	x.refuse(body, after, named)
}

// refuseUnread judges a refusal whose body was lost by its head alone: a 403 stays a 403. A Retry-After that is a date
// can't be read here, where no time is given.
func (x *Exchange) refuseUnread() {
	after, named := seconds(x.response.RetryAfter)
	x.refuse(nil, after, named)
}

func (x *Exchange) refuse(body []byte, after int64, named bool) {
	x.slot.Close()
	err := api.Refusal(x.request, x.response, body)
	err.RetryAfter, err.HasRetry = after, named
	switch {
	case x.response.Status == 401 && x.policy.RenewKey && !x.renewed:
		x.renewed = true
		x.emit(Log{"info", "asking for a new key", x.fields(x.response.Status)})
		x.send()
	case !x.repeats(x.response.Status) || named && after > retryAfterMost:
		x.fail(err)
	default:
		x.again(err, after, named)
	}
}

func (x *Exchange) repeats(status int) bool {
	if x.policy.Safety == Unkeyed {
		return status == 429 || status == 503
	}
	return api.Transient(status)
}

// Failed tells that the connection could not be made, or that it broke. In a browser nothing says whether the request
// had arrived, so that a request without an idempotency key is not repeated.
func (x *Exchange) Failed(detail string) {
	if x.state == refused {
		x.refuseUnread()
		return
	}
	if x.state != sent {
		return
	}
	x.slot.Close()
	err := broken(x.request, detail)
	if x.policy.Safety == Unkeyed {
		x.fail(err)
		return
	}
	x.again(err, 0, false)
}

// again waits and tries once more, or gives up with err. after is the wait in ms that the service named, where it named one.
func (x *Exchange) again(err *api.Error, after int64, named bool) {
	if x.retries >= x.policy.MaxRetries {
		x.fail(err)
		return
	}
	if !named {
		after = Backoff(x.retries, x.policy.Jitter())
	}
	x.retries++
	x.state = waiting
	x.emit(Log{"warn", "trying again", append(x.fields(err.Status), Field{"waitMs", after}, Field{"code", err.Code})})
	x.emit(SetTimer{after})
}

// TimerFired tells that the timer set last is due.
func (x *Exchange) TimerFired() {
	switch x.state {
	case waiting:
		x.send()
	case refused:
		x.emit(Cancel{})
		x.refuseUnread()
	case asking:
		x.emit(KeyLate{})
		x.emit(Cancel{})
		x.fail(keyLate(x.policy))
	case sent:
		// A connection may have become free since the timer was set, or none may be yet.
		if left := x.slot.Left(x.policy.Timeout); left > 0 {
			x.noteWaiting()
			x.emit(SetTimer{left})
			return
		}
		x.emit(Cancel{})
		x.fail(late(x.request, x.policy))
	}
}

// Abandon ends the exchange with an error that is not the service's, such as a key that could not be had.
func (x *Exchange) Abandon(err *api.Error) {
	if x.Over() {
		return
	}
	x.fail(err)
}

// Cancel lets go of the exchange, whatever it is doing. Who reads the body of an accepted answer calls it at the end.
func (x *Exchange) Cancel() {
	x.slot.Close()
	if x.Over() {
		return
	}
	x.state = failed
	x.emit(StopTimer{})
	x.emit(Cancel{})
}

func (x *Exchange) fail(err *api.Error) {
	x.slot.Close()
	x.state, x.err = failed, err
	x.emit(StopTimer{})
}

// Over reports whether no input changes anything any more.
func (x *Exchange) Over() bool { return x.state == accepted || x.state == failed }

// Accepted reports whether the service answered with success; Response is that answer's head.
func (x *Exchange) Accepted() bool { return x.state == accepted }

// Response is the head of the last answer.
func (x *Exchange) Response() *api.Response { return x.response }

// Err is why the exchange failed; nil while it has not, or was cancelled.
func (x *Exchange) Err() *api.Error { return x.err }

func (x *Exchange) fields(status int) []Field {
	return []Field{{"method", x.request.Method}, {"path", x.request.Path}, {"status", int64(status)}, {"attempt", int64(x.attempt)}}
}
