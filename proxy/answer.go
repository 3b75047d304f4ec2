package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strconv"
	"strings"
	"time"
)

// maxAnswer bounds an answer that is no stream, in bytes. A ticket with ten thousand signed addresses fits.
const maxAnswer = 16 << 20

// answered are the headers of the service's answers that pass.
var answered = []string{"Content-Type", "Retry-After", "X-Request-Id"}

// upstream is the transport beneath the ReverseProxy. Its answers hold what a caller may see, and nothing else: no header
// that is not in answered, no trailer, no 1xx, no redirect.
type upstream struct{ p *Proxy }

func (u upstream) RoundTrip(out *http.Request) (*http.Response, error) {
	x := exchangeOf(out.Context())
	// The ReverseProxy's own trace would pass on 1xx answers with whatever headers they have.
	ctx, cancel := context.WithCancelCause(httptrace.WithClientTrace(x.ctx, &httptrace.ClientTrace{
		Got1xxResponse: func(int, textproto.MIMEHeader) error { return nil },
	}))
	late := time.AfterFunc(u.p.cfg.AnswerTimeout, func() { cancel(errLate) })
	res, err := u.p.cfg.Transport.RoundTrip(out.WithContext(ctx))
	if err != nil {
		late.Stop()
		defer cancel(nil)
		return nil, failed(ctx, err)
	}
	if !late.Stop() {
		return nil, errors.Join(failed(ctx, errLate), res.Body.Close())
	}
	clean := &http.Response{StatusCode: res.StatusCode, Proto: res.Proto, ProtoMajor: res.ProtoMajor, ProtoMinor: res.ProtoMinor,
		Header: http.Header{}, ContentLength: -1, Request: res.Request}
	for _, name := range answered {
		if value := res.Header.Get(name); value != "" && !strings.Contains(value, u.p.cfg.Key) {
			clean.Header.Set(name, value)
		}
	}
	x.upstreamID = clean.Header.Get(requestID)
	if problem := unfit(res); problem != nil {
		cancel(nil)
		return nil, errors.Join(problem, res.Body.Close())
	}
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if x.route.streams && res.StatusCode/100 == 2 && media == "text/event-stream" {
		x.streaming = true
		clean.Body = &stream{redactor: redactor{source: res.Body, key: []byte(u.p.cfg.Key)}, x: x, body: res.Body, cancel: cancel}
		return clean, nil
	}
	late.Reset(u.p.cfg.AnswerTimeout)
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	late.Stop()
	err = errors.Join(err, res.Body.Close())
	defer cancel(nil)
	switch {
	case err != nil:
		return nil, failed(ctx, err)
	case len(body) > maxAnswer:
		return nil, upstreamFault("service_answer_too_large", "the service's answer is too large", nil)
	}
	if len(body) > 0 {
		if body, err = u.p.reword(x, res.StatusCode, media, body); err != nil {
			return nil, err
		}
		clean.Header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	clean.ContentLength = int64(len(body))
	clean.Body = io.NopCloser(bytes.NewReader(body))
	return clean, nil
}

var errLate = errors.New("no answer in time")

func upstreamFault(code, message string, cause error) *refusal {
	return &refusal{status: http.StatusBadGateway, code: code, message: message, cause: cause}
}

// failed says to the caller what became of a request that got no answer: of one that never left the same can be asked again.
func failed(ctx context.Context, err error) error {
	var dial *net.OpError
	switch {
	case errors.Is(context.Cause(ctx), errLate):
		return &refusal{status: http.StatusGatewayTimeout, code: "service_timeout", message: "the service did not answer in time"}
	case ctx.Err() != nil:
		return context.Canceled
	case errors.As(err, &dial) && dial.Op == "dial":
		return &refusal{status: http.StatusServiceUnavailable, code: "service_unreachable",
			message: "the service can't be reached; nothing was sent to it", after: time.Second, cause: err}
	}
	return upstreamFault("service_lost", "the connection to the service was lost before its answer", err)
}

// unfit refuses answers that are none of the interface's, and the one that says that the proxy's key is not good: a page
// would take it for its own.
func unfit(res *http.Response) error {
	coding := res.Header.Get("Content-Encoding")
	switch {
	case res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusProxyAuthRequired:
		return upstreamFault("service_refused_key", "the service does not take this proxy's access", fmt.Errorf("the service answered %d: the key is wrong or has expired", res.StatusCode))
	case res.StatusCode < 200 || res.StatusCode/100 == 3 || res.StatusCode > 599:
		return upstreamFault("service_answer_invalid", "the service's answer is none of its interface", fmt.Errorf("the service answered %d", res.StatusCode))
	case coding != "" && !strings.EqualFold(coding, "identity"):
		return upstreamFault("service_answer_invalid", "the service's answer is none of its interface", fmt.Errorf("the service answered in the coding %q, which was not asked for", coding))
	}
	return nil
}

// reword puts the caller's identifiers in place of the service's, and takes the key out. Only JSON passes, for anything
// else would be shown as a page of the proxy's own origin.
func (p *Proxy) reword(x *exchange, status int, media string, body []byte) ([]byte, error) {
	if media != "application/json" && !strings.HasSuffix(media, "+json") || !json.Valid(body) {
		if status/100 == 2 {
			return nil, upstreamFault("service_answer_invalid", "the service's answer is none of its interface", fmt.Errorf("the service answered %d with the type %q", status, media))
		}
		return nil, &refusal{status: status, code: "service_error", message: "the service answered " + strconv.Itoa(status)}
	}
	if x.route.makes != "" && status/100 == 2 {
		id := identifier(body, x.route.makes)
		if id != "" && x.ids[id] == "" {
			if !isName(id) {
				return nil, upstreamFault("service_answer_invalid", "the service's answer is none of its interface", errors.New("the service's identifier can't stand in a path"))
			}
			shown, err := p.grants.give(x.ctx, x.route.makes, x.caller, id)
			if err != nil {
				return nil, upstreamFault("grant_failed", "it could not be kept whose this is", err)
			}
			x.know(id, shown)
		}
		x.made = id
	}
	key := p.cfg.Key
	return replace(body, func(text string) string {
		if shown, ok := x.ids[text]; ok {
			return shown
		}
		return strings.ReplaceAll(text, key, strings.Repeat("*", len(key)))
	}), nil
}

// identifier looks for a new thing's identifier where the profile does (docs/profile.md, "Responses" and "Files").
func identifier(body []byte, of kind) string {
	var record map[string]any
	if json.Unmarshal(body, &record) != nil {
		return ""
	}
	places := []map[string]any{record}
	for _, name := range []string{string(of), "data"} {
		if inner, ok := record[name].(map[string]any); ok {
			places = append(places, inner)
		}
	}
	for _, place := range places {
		for _, name := range []string{string(of) + "_id", "id"} {
			if id, ok := place[name].(string); ok && id != "" {
				return id
			}
		}
	}
	return ""
}

// replace changes the strings of a JSON text, and leaves every other byte of it as it was.
func replace(body []byte, change func(string) string) []byte {
	var out []byte
	done := 0
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	for {
		token, err := decoder.Token()
		if err != nil {
			return append(out, body[done:]...)
		}
		text, ok := token.(string)
		if !ok {
			continue
		}
		changed := change(text)
		if changed == text {
			continue
		}
		end := int(decoder.InputOffset())
		start := bytes.LastIndexByte(body[done:end-1], '"') + done
		// The quote that opens it is the last one that is not escaped.
		for start > done && escaped(body[done:start]) {
			start = bytes.LastIndexByte(body[done:start], '"') + done
		}
		encoded, err := json.Marshal(changed)
		if err != nil {
			panic(err) // strings always have a JSON form
		}
		out = append(append(out, body[done:start]...), encoded...)
		done = end
	}
}

// escaped tells whether what follows these bytes of a string is escaped.
func escaped(before []byte) bool {
	slashes := len(before) - len(bytes.TrimRight(before, `\`))
	return slashes%2 == 1
}

// stream is the body of an event stream on its way to the caller.
type stream struct {
	redactor
	x      *exchange
	body   io.Closer
	cancel context.CancelCauseFunc
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.redactor.Read(p)
	if s.x.ending != nil {
		s.x.ending.feed(p[:n])
	}
	if err != nil && s.x.how == "" {
		s.x.how = Broken
		if errors.Is(err, io.EOF) {
			s.x.how = Whole
		}
	}
	return n, err
}

func (s *stream) Close() error {
	defer s.cancel(nil)
	return s.body.Close()
}

// redactor writes stars over the key, should the service ever say it, also where it comes in two pieces. It holds back
// only what can be the key's beginning.
type redactor struct {
	source io.Reader
	key    []byte
	held   []byte
}

// Read needs a buffer larger than the key.
func (r *redactor) Read(p []byte) (int, error) {
	for {
		n := copy(p, r.held)
		m, err := r.source.Read(p[n:])
		n += m
		chunk := p[:n]
		for at := 0; ; {
			i := bytes.Index(chunk[at:], r.key)
			if i < 0 {
				break
			}
			at += i
			for range r.key {
				chunk[at] = '*'
				at++
			}
		}
		r.held = r.held[:0]
		if err == nil {
			begun := beginning(chunk, r.key)
			r.held = append(r.held, chunk[n-begun:]...)
			n -= begun
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// beginning gives how many of a chunk's last bytes are the key's first.
func beginning(chunk, key []byte) int {
	for n := min(len(chunk), len(key)-1); n > 0; n-- {
		if bytes.HasSuffix(chunk, key[:n]) {
			return n
		}
	}
	return 0
}
