package proxy

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Proxy is the service's interface for pages that have no key. It is safe for concurrent use.
type Proxy struct {
	cfg     Config
	base    *url.URL
	grants  grants
	limits  *limits
	lines   lines
	reverse httputil.ReverseProxy
	// passed are the headers of requests that reach the service beside the proxy's own.
	passed   []string
	stopping atomic.Bool
	work     sync.WaitGroup
}

// New makes a proxy. What is wrong with the configuration is a *FieldError.
func New(cfg Config) (*Proxy, error) {
	base, err := cfg.check()
	if err != nil {
		return nil, err
	}
	p := &Proxy{cfg: cfg, base: base, limits: newLimits(&cfg), lines: lines{chats: map[string]*line{}}}
	p.passed = append([]string{"Content-Type", "Idempotency-Key", "Last-Event-ID"}, cfg.PassHeaders...)
	p.grants = sealed{secrets: cfg.Secrets, keep: cfg.GrantFor, now: cfg.Now}
	if cfg.Store != nil {
		p.grants = stored{store: cfg.Store, keep: cfg.GrantFor}
	}
	p.reverse = httputil.ReverseProxy{
		Rewrite:       p.outgoing,
		Transport:     upstream{p},
		FlushInterval: -1,
		BufferPool:    &buffers{},
		ErrorHandler:  p.unanswered,
		ErrorLog:      log.New(io.Discard, "", 0),
	}
	return p, nil
}

// requestID is the header that names a request, to its caller and in the log.
const requestID = "X-Request-Id"

// An exchange is one request with its answer.
type exchange struct {
	// ctx is the request's own, without what the ReverseProxy adds.
	ctx       context.Context
	route     route
	caller    string
	requestID string
	// id is the identifier in the path, as the service knows it; ids are those that stand for others in the answer.
	id  string
	ids map[string]string
	// read says that the request was read to its end; body is what the service is sent.
	read bool
	body []byte

	// What became of it.
	upstreamID, made string
	streaming        bool
	ending           *ending
	how              End
	refusal          *refusal
}

func (x *exchange) know(id, shown string) { x.ids[id] = shown }

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange { return ctx.Value(exchangeKey{}).(*exchange) }

// ServeHTTP answers the service's interface, and nothing else.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	started := time.Now()
	x := &exchange{requestID: "req_" + rand.Text(), ids: map[string]string{}}
	// Who serves the connection's next request may have no such limit.
	defer func() { _ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) }()
	observed := p.cfg.Observer.Request(r.Context())
	out := &writer{ResponseWriter: w, control: http.NewResponseController(w), timeout: p.cfg.WriteTimeout}
	out.began = func() { observed.Began(x.route.name, out.status, x.streaming) }
	h := w.Header()
	h.Set(requestID, x.requestID)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Accel-Buffering", "no")
	h.Add("Vary", "Origin")
	defer func() {
		code := ""
		if x.refusal != nil {
			code = x.refusal.code
		}
		switch {
		case out.failed || x.how != Whole && r.Context().Err() != nil:
			x.how = Left
		case x.how == "":
			x.how = Whole
		}
		observed.Ended(x.route.name, out.status, code, x.how)
		p.record(r, x, out.status, started)
	}()

	if err := p.serve(out, r, x); err != nil {
		problem := asRefusal(err)
		if !x.read && r.ContentLength != 0 && r.ProtoMajor == 1 {
			// Nobody waits for the rest of a body.
			h.Set("Connection", "close")
		}
		x.refusal = problem
		problem.write(out)
	}
}

func asRefusal(err error) *refusal {
	var problem *refusal
	if errors.As(err, &problem) {
		return problem
	}
	return &refusal{status: http.StatusInternalServerError, code: "internal", message: "the proxy failed", cause: err}
}

// serve lets a request through, or says why it does not pass.
func (p *Proxy) serve(w *writer, r *http.Request, x *exchange) error {
	if problem := p.odd(r); problem != nil {
		return problem
	}
	routes, id, problem := find(r.URL)
	if problem != nil {
		return problem
	}
	if problem := p.admit(w.Header(), r); problem != nil {
		return problem
	}
	var methods []string
	for _, rt := range routes {
		methods = append(methods, rt.method)
		if rt.method == r.Method {
			x.route = rt
		}
	}
	if allowed := strings.Join(methods, ", "); x.route.name == "" {
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			p.preflight(w, allowed)
			return nil
		}
		return &refusal{status: http.StatusMethodNotAllowed, code: "method_not_allowed", message: "this endpoint takes " + allowed, allow: allowed}
	}
	if err := p.authorize(r, x); err != nil {
		return err
	}
	if problem := p.limits.request(x.caller); problem != nil {
		return problem
	}
	if x.route.streams {
		done, problem := p.limits.stream(x.caller)
		if problem != nil {
			return problem
		}
		defer done()
	}
	if err := p.resolve(r.Context(), x, id); err != nil {
		return err
	}
	body, err := p.rewrite(w, r, x)
	if err != nil {
		return err
	}
	x.body = body
	return p.pass(w, r, x)
}

// resolve finds out what the identifier in the path stands for.
func (p *Proxy) resolve(ctx context.Context, x *exchange, id string) error {
	if x.route.of == "" {
		if _, ok := p.cfg.Workspaces[id]; !ok {
			return refuse(http.StatusNotFound, "workspace_not_found", "there is no such workspace")
		}
		x.id = id
		return nil
	}
	known, err := p.grants.take(ctx, x.route.of, x.caller, id)
	if err != nil {
		return err
	}
	x.id = known
	x.know(known, id)
	return nil
}

func (p *Proxy) authorize(r *http.Request, x *exchange) error {
	caller, err := p.cfg.Authorize(r)
	switch {
	case errors.Is(err, ErrForbidden):
		return &refusal{status: http.StatusForbidden, code: "not_allowed", message: "this caller may not use the service", cause: err}
	case err != nil:
		return &refusal{status: http.StatusUnauthorized, code: "not_authorized", message: "it is not known who sends this request", cause: err}
	case caller == "" || len(caller) > maxCaller:
		return errors.New("Authorize must name the caller, in at most 256 bytes")
	}
	x.caller = caller
	return nil
}

// pass sends the request on, and brings the answer back.
func (p *Proxy) pass(w *writer, r *http.Request, x *exchange) error {
	ctx := context.WithValue(r.Context(), exchangeKey{}, x)
	x.ctx = ctx
	if p.cfg.AbortOnLeave && x.route.streams {
		turn, err := p.lines.begin(ctx, x.id)
		if err != nil {
			return callerLeft
		}
		x.ending = &ending{}
		defer func() {
			// What the service has refused is no turn.
			begun := x.streaming || x.refusal == callerLeft
			left := begun && (w.failed || ctx.Err() != nil) && x.how != Whole && !x.ending.seen
			if aborted := p.lines.end(x.id, turn, left); aborted != nil {
				p.work.Go(func() {
					defer aborted()
					p.abort(x)
				})
			}
		}()
	}
	p.reverse.ServeHTTP(w, r.WithContext(ctx))
	if p.cfg.AbortOnLeave && x.route.name == abortRoute.name && w.status/100 == 2 {
		p.lines.stopped(x.id)
	}
	return nil
}

// callerLeft is written to nobody; logs and metrics show it.
var callerLeft = &refusal{status: 499, code: "caller_left", message: "the caller has left"}

// odd refuses requests that can be understood in more than one way, or that are none of HTTP's plain ones.
func (p *Proxy) odd(r *http.Request) *refusal {
	switch {
	case r.Method == http.MethodConnect:
		return &refusal{status: http.StatusMethodNotAllowed, code: "method_not_allowed", message: "this is no proxy for connections", allow: "GET, POST, PATCH"}
	case r.URL.Scheme != "" || r.URL.Host != "":
		return refuse(http.StatusBadRequest, "invalid_target", "the request's target must be a path")
	case r.URL.RawQuery != "" || r.URL.ForceQuery:
		return refuse(http.StatusBadRequest, "query_not_allowed", "the interface has no queries")
	case len(r.Header["Upgrade"]) > 0:
		return refuse(http.StatusBadRequest, "upgrade_not_allowed", "the interface has no other protocols")
	case len(r.Trailer) > 0:
		return refuse(http.StatusBadRequest, "trailer_not_allowed", "the interface has no trailers")
	}
	for _, name := range append([]string{"Authorization"}, p.passed...) {
		values := r.Header.Values(name)
		switch {
		case len(values) > 1:
			return refuse(http.StatusBadRequest, "duplicate_header", "the header "+name+" may be given once")
		case len(values) == 1 && len(values[0]) > maxHeader:
			return refuse(http.StatusRequestHeaderFieldsTooLarge, "header_too_large", "the header "+name+" is too long")
		}
	}
	return nil
}

// maxHeader bounds the value of a header that is read, in bytes.
const maxHeader = 4096

// outgoing makes the service's request from nothing, so that only what is meant to reaches it.
func (p *Proxy) outgoing(pr *httputil.ProxyRequest) {
	x := exchangeOf(pr.In.Context())
	out := pr.Out
	out.URL = x.route.target(p.base, x.id)
	out.Host = p.base.Host
	out.Trailer, out.TransferEncoding = nil, nil
	out.Header = http.Header{"Authorization": {"Bearer " + p.cfg.Key}, "Accept-Encoding": {"identity"}, "User-Agent": {"turnwire-proxy"}}
	for _, name := range p.passed {
		if value := pr.In.Header.Get(name); value != "" {
			out.Header.Set(name, value)
		}
	}
	if key := out.Header.Get("Idempotency-Key"); key != "" {
		// The service sees all callers as one, so that a key that two of them choose would be the same operation.
		sum := secrets(p.cfg.Secrets).sign("idempotency", x.caller, key)
		out.Header.Set("Idempotency-Key", key+"."+encoding.EncodeToString(sum[:9]))
	}
	out.Header.Del("Content-Type")
	out.Body, out.GetBody, out.ContentLength = http.NoBody, nil, 0
	if x.body != nil {
		out.Header.Set("Content-Type", "application/json")
		out.ContentLength = int64(len(x.body))
		out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(x.body)), nil }
		out.Body, _ = out.GetBody()
	}
}

// unanswered answers where the service has not.
func (p *Proxy) unanswered(w http.ResponseWriter, out *http.Request, err error) {
	x := exchangeOf(out.Context())
	if errors.Is(err, context.Canceled) {
		err = callerLeft
	}
	x.refusal = asRefusal(err)
	x.refusal.write(w)
}

// hide gives an error's text without the key.
func (p *Proxy) hide(err error) string {
	return strings.ReplaceAll(err.Error(), p.cfg.Key, "…")
}

func (p *Proxy) record(r *http.Request, x *exchange, status int, started time.Time) {
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("method", method(r.Method)), slog.String("route", x.route.name), slog.Int("status", status),
		slog.Int64("ms", time.Since(started).Milliseconds()), slog.String("end", string(x.how)),
		slog.String("caller", x.caller), slog.String("request_id", x.requestID),
	}
	if x.upstreamID != "" {
		attrs = append(attrs, slog.String("service_request_id", x.upstreamID))
	}
	if x.route.of != "" && x.id != "" {
		attrs = append(attrs, slog.String(string(x.route.of), x.id))
	}
	if x.made != "" {
		attrs = append(attrs, slog.String(string(x.route.makes), x.made))
	}
	if x.refusal != nil {
		attrs = append(attrs, slog.String("code", x.refusal.code))
		if x.refusal.cause != nil {
			attrs = append(attrs, slog.String("cause", p.hide(x.refusal.cause)))
		}
		if status >= 500 {
			level = slog.LevelWarn
		}
	}
	p.cfg.Log.LogAttrs(context.WithoutCancel(r.Context()), level, "request", attrs...)
}

// method gives a method that HTTP knows, so that a caller writes nothing of his own into logs.
func method(name string) string {
	switch name {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE":
		return name
	}
	return "other"
}

// Healthy answers 204 while the process runs.
func (p *Proxy) Healthy(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusNoContent)
}

// Ready answers 204 where the proxy should get requests, 503 once Stop was called, and while a store can't be reached. It
// does not ask the service: where that is away all proxies would be taken away with it, and could not even say so.
func (p *Proxy) Ready(w http.ResponseWriter, r *http.Request) {
	switch {
	case p.stopping.Load():
		(&refusal{status: http.StatusServiceUnavailable, code: "stopping", message: "the proxy is stopping"}).write(w)
		return
	case p.cfg.Store != nil:
		if err := p.cfg.Store.Ping(r.Context()); err != nil {
			(&refusal{status: http.StatusServiceUnavailable, code: "store_unavailable", message: "the store can't be reached"}).write(w)
			return
		}
	}
	w.WriteHeader(http.StatusNoContent)
}

// Stop has Ready answer 503, so that a balancer sends no more. Requests are still answered.
func (p *Proxy) Stop() { p.stopping.Store(true) }

// Wait returns once the aborts for callers who have left are told. It is called when no request is under way any more.
func (p *Proxy) Wait() { p.work.Wait() }

// writer is the way to the caller. A write that he does not take in time ends the answer.
type writer struct {
	http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
	status  int
	failed  bool
	began   func()
}

func (w *writer) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		w.began()
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *writer) Write(b []byte) (int, error) {
	// A server that has no deadlines writes without.
	_ = w.control.SetWriteDeadline(time.Now().Add(w.timeout))
	n, err := w.ResponseWriter.Write(b)
	if err != nil {
		w.failed = true
	}
	return n, err
}

// FlushError is what http.ResponseController looks for.
func (w *writer) FlushError() error {
	err := w.control.Flush()
	if err != nil {
		w.failed = true
	}
	return err
}

func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// buffers are what streams are copied through: one for as long as a stream lasts, and so no larger than it has to be.
type buffers struct{ pool sync.Pool }

const bufferSize = 8 << 10

func (b *buffers) Get() []byte {
	if kept, ok := b.pool.Get().(*[]byte); ok {
		return *kept
	}
	return make([]byte, bufferSize)
}

func (b *buffers) Put(buffer []byte) { b.pool.Put(&buffer) }
