package jsbridge

import (
	"slices"

	"github.com/seed-76f09577/turnwire/jsbridge/contract"
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
)

// requestMachine is a machine that sends requests to the service.
type requestMachine interface {
	Keyed()
	Sent()
	Headers(now int64, res *api.Response)
	Body(unix int64, body []byte)
	RequestFailed(detail string)
	Abandon(err *api.Error)
	TimerFired(now int64)
}

// requester performs the effects that every requestMachine has: it sends a request, reads a body, keeps the timer.
type requester struct {
	client  *client
	headers []api.Field // the caller's, for these requests
	machine requestMachine
	flush   func() // performs what the machine asks for after an input
	ready   func() // asks whether the request may leave, and calls leave then; nil where it always may

	attempt int    // tells the request under way from those that were let go while they waited for a key
	pending func() // sends the request that waits to leave
	request uint32 // the page's; 0 while there is none
	sent    retry.Send
	began   int64
	key     string // what the newest request carried
	lent    string // a key for the first try, in place of one that would have to be asked for
	timer   timer
}

// perform reports whether the effect was one of its own.
func (r *requester) perform(effect retry.Effect) bool {
	switch e := effect.(type) {
	case retry.Send:
		r.send(e)
	case retry.KeyLate:
		r.client.asking = nil
	case retry.Cancel:
		r.cancel()
	case retry.ReadBody:
		r.client.b.page.ReadBody(r.request, e.Limit)
	case retry.SetTimer:
		r.client.b.setTimer(&r.timer, e.After, func() {
			r.machine.TimerFired(r.client.b.monotonic())
			r.flush()
		})
	case retry.StopTimer:
		r.client.b.clearTimer(&r.timer)
	case retry.Log:
		r.client.log(e.Level, e.Message, e.Fields...)
	default:
		return false
	}
	return true
}

func (r *requester) send(e retry.Send) {
	r.attempt++
	this := r.attempt
	if key := r.lent; key != "" {
		r.lent = ""
		r.fetch(e, key)
		return
	}
	r.client.withKey(func(key string, err *api.Error) {
		if this != r.attempt {
			return
		}
		if err != nil {
			r.machine.Abandon(err)
			r.flush()
			return
		}
		r.pending = func() {
			if this == r.attempt {
				r.fetch(e, key)
			}
		}
		if r.ready == nil {
			r.leave()
			return
		}
		r.machine.Keyed()
		r.ready()
		r.flush()
	})
}

// leave lets the request go that waits for it.
func (r *requester) leave() {
	if pending := r.pending; pending != nil {
		r.pending = nil
		pending()
	}
}

func (r *requester) fetch(e retry.Send, key string) {
	r.letGo()
	c := r.client
	r.sent, r.began, r.key = e, c.b.monotonic(), key
	r.request = c.b.requests.add(r)
	r.machine.Sent()
	r.flush()
	params := &contract.FetchParams{URL: c.Base + e.Request.Path, Method: e.Request.Method, Headers: r.head(e.Request, key), Keepalive: e.Request.Keepalive}
	if e.Request.Body != nil {
		body := string(e.Request.Body)
		params.Body = &body
	}
	c.b.page.Fetch(r.request, c.number, params)
}

// head is a request's headers. Later ones win: the request's own can't be replaced by the caller's.
func (r *requester) head(request *api.Request, key string) (headers []contract.Header) {
	set := func(name, value string) {
		name = api.Lower(name)
		if i := slices.IndexFunc(headers, func(h contract.Header) bool { return h[0] == name }); i >= 0 {
			headers[i][1] = value
			return
		}
		headers = append(headers, contract.Header{name, value})
	}
	for _, list := range [][]api.Field{r.client.headers, r.headers, request.Header} {
		for _, f := range list {
			set(f.Name, f.Value)
		}
	}
	if key != "" {
		set("authorization", "Bearer "+key)
	}
	return headers
}

// Answered is contract.Control's.
func (b *Bridge) Answered(request uint32, head *contract.Head) {
	r := b.requests.entries[request]
	if r == nil {
		return
	}
	res := &api.Response{Status: head.Status, ContentType: head.ContentType, RequestID: head.RequestID, RetryAfter: head.RetryAfter}
	r.client.log("debug", "answered", r.facts(res.Status, res.RequestID)...)
	r.machine.Headers(b.monotonic(), res)
	r.flush()
}

// BodyRead is contract.Control's.
func (b *Bridge) BodyRead(request uint32, text string) {
	if r := b.requests.entries[request]; r != nil {
		r.machine.Body(int64(b.page.UnixTime()), []byte(text))
		r.flush()
	}
}

// RequestFailed is contract.Control's.
func (b *Bridge) RequestFailed(request uint32, why string) {
	r := b.requests.entries[request]
	if r == nil {
		return
	}
	r.client.log("warn", "no answer", append(r.facts(0, ""), retry.Field{Name: "reason", Value: why})...)
	r.machine.RequestFailed(why)
	r.flush()
}

func (r *requester) facts(status int, requestID string) []retry.Field {
	out := []retry.Field{
		{Name: "method", Value: r.sent.Request.Method}, {Name: "path", Value: r.sent.Request.Path},
		{Name: "attempt", Value: int64(r.sent.Attempt)}, {Name: "ms", Value: r.client.b.monotonic() - r.began},
	}
	if status != 0 {
		out = append(out, retry.Field{Name: "status", Value: int64(status)})
	}
	if requestID != "" {
		out = append(out, retry.Field{Name: "requestId", Value: requestID})
	}
	return out
}

// cancel lets go of the request or its answer, wherever it is.
func (r *requester) cancel() {
	r.attempt++
	r.letGo()
}

// letGo cancels the page's request, which does nothing to one that has ended: the page holds each until then.
func (r *requester) letGo() {
	if _, ok := r.client.b.requests.take(r.request); ok {
		r.client.b.page.Cancel(r.request)
	}
	r.request = 0
}
