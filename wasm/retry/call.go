package retry

import "github.com/seed-76f09577/turnwire/wasm/api"

// Done is the end of a Call: an answer with its body, or an error. It is the last effect.
type Done struct {
	Response *api.Response
	Body     []byte
	Err      *api.Error
}

// recordLimit bounds a record's JSON: one that is longer is cut, and then no JSON.
const recordLimit = 4 << 20

// Call is an exchange whose answer is read whole: every request but a message. Start comes first, once.
//
//	Send      → Sent, when the browser has been given the request, and then Headers or RequestFailed. Before Sent comes
//	            Keyed, where the API key is there and the request has to wait for leave. Where no key can be had, Abandon
//	            comes in place of all of them.
//	ReadBody  → Body or RequestFailed.
//	Cancel    → nothing; what that request still brings is not told.
//	KeyLate   → nothing.
//	Done      is the end.
//
// Cancel, the input, may come at any time and leads to Done.
type Call struct {
	Effects
	request  *api.Request
	policy   *Policy
	exchange *Exchange
	over     bool
}

// NewCall makes a call; Start begins it.
func NewCall(request *api.Request, policy *Policy) *Call {
	c := &Call{request: request, policy: policy}
	c.exchange = NewExchange(request, policy, c.Emit)
	return c
}

// Request is what the call sends.
func (c *Call) Request() *api.Request { return c.request }

// Start sends the first try.
func (c *Call) Start() { c.exchange.Start() }

// Sent tells that the browser has been given the request.
func (c *Call) Sent() { c.exchange.Sent() }

// Keyed tells that the API key is there while the request still waits to be sent.
func (c *Call) Keyed() { c.exchange.Keyed() }

// Headers tells the head of an answer.
func (c *Call) Headers(_ int64, res *api.Response) {
	if c.exchange.Over() {
		return
	}
	c.exchange.Headers(res)
	if !c.exchange.Accepted() {
		return
	}
	c.Emit(ReadBody{recordLimit})
	// A record whose body never ends must not keep the caller waiting either.
	if c.policy.Timeout > 0 {
		c.Emit(SetTimer{c.policy.Timeout})
	}
}

// Body tells the body that ReadBody asked for. unix is the time in milliseconds.
func (c *Call) Body(unix int64, body []byte) {
	if c.exchange.Accepted() {
		c.accept(Done{Response: c.exchange.Response(), Body: body})
		return
	}
	c.exchange.Body(unix, body)
	c.settle()
}

// RequestFailed tells that no answer came, or that its body broke off.
func (c *Call) RequestFailed(detail string) {
	if c.exchange.Accepted() {
		c.accept(Done{Err: broken(c.request, detail)})
		return
	}
	c.exchange.Failed(detail)
	c.settle()
}

// TimerFired tells that the timer set last is due.
func (c *Call) TimerFired(int64) {
	if c.exchange.Accepted() {
		c.accept(Done{Err: late(c.request, c.policy)}, Cancel{})
		return
	}
	c.exchange.TimerFired()
	c.settle()
}

// Abandon ends the call with an error of the caller's side.
func (c *Call) Abandon(err *api.Error) {
	c.exchange.Abandon(err)
	c.settle()
}

// Cancel lets go of the call and ends it with err.
func (c *Call) Cancel(err *api.Error) {
	if c.exchange.Accepted() {
		c.accept(Done{Err: err}, Cancel{})
		return
	}
	c.exchange.Cancel()
	c.done(Done{Err: err})
}

// accept ends a call that was reading its answer's body.
func (c *Call) accept(d Done, before ...Effect) {
	if !c.over {
		c.Emit(StopTimer{})
		for _, e := range before {
			c.Emit(e)
		}
		c.done(d)
	}
}

func (c *Call) settle() {
	if err := c.exchange.Err(); err != nil {
		c.done(Done{Err: err})
	}
}

func (c *Call) done(d Done) {
	if !c.over {
		c.over = true
		c.exchange.Cancel()
		c.Emit(d)
	}
}
