//go:build js && wasm

package jsbridge

import (
	"time"

	"github.com/hack-pad/safejs"
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
)

// machine is what a wire tells of the request that it carries.
type machine interface {
	Keyed()
	Sent()
	Headers(now int64, res api.Response)
	Body(unix int64, body []byte)
	RequestFailed(detail string)
	Abandon(err *api.Error)
	TimerFired(now int64)
}

// wire performs the effects that every machine has: it sends a request, reads a body, keeps the timer.
type wire struct {
	client  *client
	headers []api.Field // the caller's, for these requests
	machine machine
	flush   func() // performs what the machine asks for after an input
	ready   func() // asks whether the request may leave, and calls leave then; nil where it always may

	// pending sends the request that waits to leave.
	pending func()
	// sending tells the request under way from those that were let go, whose callbacks still come.
	sending    int
	controller safejs.Value
	response   safejs.Value
	key        string // what the newest request carried
	lent       string // a key for the first try; see sendAbort
	timer      timer
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
		w.readBody(e.Limit)
	case retry.SetTimer:
		w.timer.set(e.After, func() {
			w.machine.TimerFired(monotonic())
			w.flush()
		})
	case retry.StopTimer:
		w.timer.clear()
	case retry.Log:
		w.client.record(e.Level, e.Message, e.Fields...)
	default:
		return false
	}
	return true
}

func (w *wire) send(e retry.Send) {
	w.sending++
	this := w.sending
	w.response = safejs.Undefined()
	if key := w.lent; key != "" {
		w.lent = ""
		w.fetch(e, key)
		return
	}
	w.client.withKey(func(key string, err *api.Error) {
		if this != w.sending {
			return
		}
		if err != nil {
			w.machine.Abandon(err)
			w.flush()
			return
		}
		w.pending = func() {
			if this == w.sending {
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
	this, began := w.sending, monotonic()
	controller, err := property(host, "AbortController").New()
	if err != nil {
		panic(err)
	}
	w.letGo()
	w.controller, w.key = controller, key
	w.machine.Sent()
	w.flush()
	promise, err := w.client.fetch.Invoke(w.client.base+e.Request.Path, w.init(e.Request, key))
	if err != nil {
		w.failed(e, began, thrown(err))
		return
	}
	then(promise, func(response safejs.Value) {
		if this != w.sending {
			return
		}
		w.response = response
		res := head(response)
		w.client.record("debug", "answered", facts(e, began, res.Status, res.RequestID)...)
		w.machine.Headers(monotonic(), res)
		w.flush()
	}, func(reason safejs.Value) {
		if this == w.sending {
			w.failed(e, began, reason)
		}
	})
}

func (w *wire) failed(e retry.Send, began int64, reason safejs.Value) {
	detail := describe(reason)
	w.client.record("warn", "no answer", append(facts(e, began, 0, ""), retry.Field{Name: "reason", Value: detail})...)
	w.machine.RequestFailed(detail)
	w.flush()
}

func facts(e retry.Send, began int64, status int, requestID string) []retry.Field {
	out := []retry.Field{
		{Name: "method", Value: e.Request.Method}, {Name: "path", Value: e.Request.Path},
		{Name: "attempt", Value: int64(e.Attempt)}, {Name: "ms", Value: monotonic() - began},
	}
	if status != 0 {
		out = append(out, retry.Field{Name: "status", Value: int64(status)})
	}
	if requestID != "" {
		out = append(out, retry.Field{Name: "requestId", Value: requestID})
	}
	return out
}

// init is fetch's second argument. A key never follows a redirect, and no answer is taken from a cache.
func (w *wire) init(request api.Request, key string) safejs.Value {
	object := property(safejs.Global(), "Object")
	headers, err1 := object.New()
	init, err2 := object.New()
	if err1 != nil || err2 != nil {
		panic("jsbridge: no object")
	}
	set := func(o safejs.Value, name string, v any) {
		if err := o.Set(name, v); err != nil {
			panic(err)
		}
	}
	// Later ones win: the request's own can't be replaced by the caller's.
	for _, list := range [][]api.Field{w.client.headers, w.headers, request.Header} {
		for _, f := range list {
			set(headers, api.Lower(f.Name), f.Value)
		}
	}
	if key != "" {
		set(headers, "authorization", "Bearer "+key)
	}
	set(init, "method", request.Method)
	set(init, "headers", headers)
	if request.Body != nil {
		set(init, "body", string(request.Body))
	}
	set(init, "credentials", w.client.credentials)
	set(init, "redirect", "error")
	set(init, "cache", "no-store")
	set(init, "keepalive", request.Keepalive)
	set(init, "signal", property(w.controller, "signal"))
	return init
}

// cancel lets go of the request or its answer, wherever it is.
func (w *wire) cancel() {
	w.sending++
	w.letGo()
	w.response = safejs.Undefined()
}

// letGo aborts the request whose controller this is, which does nothing to one that has ended: the loader holds every
// controller until then, to abort what a crash leaves open.
func (w *wire) letGo() {
	if truthy(w.controller) {
		method(w.controller, "abort")
	}
	w.controller = safejs.Undefined()
}

func (w *wire) readBody(limit int) {
	this := w.sending
	then(method(host, "readText", w.response, limit), func(v safejs.Value) {
		if this == w.sending {
			w.machine.Body(time.Now().UnixMilli(), []byte(str(v)))
			w.flush()
		}
	}, func(reason safejs.Value) {
		if this == w.sending {
			w.machine.RequestFailed(describe(reason))
			w.flush()
		}
	})
}

// head reads what the core needs of an answer, as the loader took it over.
func head(answer safejs.Value) api.Response {
	return api.Response{
		Status:      int(number(answer, "status")),
		ContentType: text(answer, "contentType"),
		RequestID:   text(answer, "requestId"),
		RetryAfter:  text(answer, "retryAfter"),
	}
}
