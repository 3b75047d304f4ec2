package jsbridge

import (
	"slices"

	"github.com/seed-76f09577/turnwire/jsbridge/contract"
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
)

// requester is a machine that sends requests to the service.
type requester interface {
	Keyed()
	Sent()
	Headers(now int64, res api.Response)
	Body(unix int64, body []byte)
	RequestFailed(detail string)
	Abandon(err *api.Error)
	TimerFired(now int64)
}

// wire performs the effects that every requester has: it sends a request, reads a body, keeps the timer.
type wire struct {
	client  *client
	headers []api.Field // the caller's, for these requests
	machine requester
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
func (w *wire) perform(effect retry.Effect) bool {
	switch e := effect.(type) {
	case retry.Send:
		w.send(e)
	case retry.KeyLate:
		w.client.asking = nil
	case retry.Cancel:
		w.cancel()
	case retry.ReadBody:
		w.client.b.page.ReadBody(w.request, e.Limit)
	case retry.SetTimer:
		w.client.b.setTimer(&w.timer, e.After, func() {
			w.machine.TimerFired(w.client.b.monotonic())
			w.flush()
		})
	case retry.StopTimer:
		w.client.b.clearTimer(&w.timer)
	case retry.Log:
		w.client.log(e.Level, e.Message, e.Fields...)
	default:
		return false
	}
	return true
}

func (w *wire) send(e retry.Send) {
	w.attempt++
	this := w.attempt
	if key := w.lent; key != "" {
		w.lent = ""
		w.fetch(e, key)
		return
	}
	w.client.withKey(func(key string, err *api.Error) {
		if this != w.attempt {
			return
		}
		if err != nil {
			w.machine.Abandon(err)
			w.flush()
			return
		}
		w.pending = func() {
			if this == w.attempt {
				w.fetch(e, key)
			}
		}
		if w.ready == nil {
			w.leave()
			return
		}
		w.machine.Keyed()
		w.ready()
		w.flush()
	})
}

// leave lets the request go that waits for it.
func (w *wire) leave() {
	if pending := w.pending; pending != nil {
		w.pending = nil
		pending()
	}
}

func (w *wire) fetch(e retry.Send, key string) {
	w.letGo()
	c := w.client
	w.sent, w.began, w.key = e, c.b.monotonic(), key
	w.request = c.b.requests.add(w)
	w.machine.Sent()
	w.flush()
	params := contract.FetchParams{URL: c.Base + e.Request.Path, Method: e.Request.Method, Headers: w.head(e.Request, key), Keepalive: e.Request.Keepalive}
	if e.Request.Body != nil {
		body := string(e.Request.Body)
		params.Body = &body
	}
	c.b.page.Fetch(w.request, c.number, params)
}

// head is a request's headers. Later ones win: the request's own can't be replaced by the caller's.
func (w *wire) head(request api.Request, key string) (headers []contract.Header) {
	set := func(name, value string) {
		name = api.Lower(name)
		if i := slices.IndexFunc(headers, func(h contract.Header) bool { return h[0] == name }); i >= 0 {
			headers[i][1] = value
			return
		}
		headers = append(headers, contract.Header{name, value})
	}
	for _, list := range [][]api.Field{w.client.headers, w.headers, request.Header} {
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
func (b *Bridge) Answered(request uint32, head contract.Head) {
	w := b.requests.entries[request]
	if w == nil {
		return
	}
	res := api.Response{Status: head.Status, ContentType: head.ContentType, RequestID: head.RequestID, RetryAfter: head.RetryAfter}
	w.client.log("debug", "answered", w.facts(res.Status, res.RequestID)...)
	w.machine.Headers(b.monotonic(), res)
	w.flush()
}

// BodyRead is contract.Control's.
func (b *Bridge) BodyRead(request uint32, text string) {
	if w := b.requests.entries[request]; w != nil {
		w.machine.Body(int64(b.page.UnixTime()), []byte(text))
		w.flush()
	}
}

// RequestFailed is contract.Control's.
func (b *Bridge) RequestFailed(request uint32, why string) {
	w := b.requests.entries[request]
	if w == nil {
		return
	}
	w.client.log("warn", "no answer", append(w.facts(0, ""), retry.Field{Name: "reason", Value: why})...)
	w.machine.RequestFailed(why)
	w.flush()
}

func (w *wire) facts(status int, requestID string) []retry.Field {
	out := []retry.Field{
		{Name: "method", Value: w.sent.Request.Method}, {Name: "path", Value: w.sent.Request.Path},
		{Name: "attempt", Value: int64(w.sent.Attempt)}, {Name: "ms", Value: w.client.b.monotonic() - w.began},
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
func (w *wire) cancel() {
	w.attempt++
	w.letGo()
}

// letGo cancels the page's request, which does nothing to one that has ended: the page holds each until then.
func (w *wire) letGo() {
	if _, ok := w.client.b.requests.take(w.request); ok {
		w.client.b.page.Cancel(w.request)
	}
	w.request = 0
}
