package proxy

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// Config says what a proxy lets through. Service, Key, Workspaces, Secrets and Authorize are needed; the rest has a usable
// zero value.
type Config struct {
	// Service is the address that the service's /v1 paths are relative to, such as https://service.example.
	Service string
	// Key is the service's access key, which pages do not get.
	Key string
	// Workspaces maps each workspace that may be used to those of its agents that may be.
	Workspaces map[string][]string
	// Models are those that a message may ask for in place of the agent's own; nil allows any.
	Models []string
	// PartTypes are further types that a message's parts may have beside text and file.
	PartTypes []string
	// Secrets sign what callers keep, each at least 32 bytes: the first one what is new; all of them are good, so that one
	// can be replaced without a break. All proxies behind a balancer have the same.
	Secrets [][]byte
	// Authorize says who sends a request, by a name of at most 256 bytes that is his alone and stays his, or an error: see
	// ErrForbidden. It is called after the origin was checked, and before anything is read of the body.
	// Tokens.Authorize is one.
	Authorize func(*http.Request) (caller string, err error)
	// Origins are those whose pages may use the proxy, as browsers write them; that of the proxy itself is none by itself.
	Origins []string
	// Store remembers whose chats and files are; nil puts a seal into their identifiers instead.
	Store Store
	// GrantFor is how long a chat or a file may be used after its making, or with a Store after its last use; 0 is 30 days.
	GrantFor time.Duration
	// PassHeaders are further headers of requests that reach the service.
	PassHeaders []string

	// MaxBody bounds a request's body in bytes; 0 is 1 MiB.
	MaxBody int64
	// MaxFile bounds the size in bytes that an upload may announce; 0 is no bound.
	MaxFile int64
	// BodyTimeout is how long a request's body may take; 0 is 15 s.
	BodyTimeout time.Duration
	// AnswerTimeout is how long the service may take until an answer begins; 0 is 60 s. An answer that is no stream has as
	// long again to end.
	AnswerTimeout time.Duration
	// WriteTimeout is how long a caller may leave what is written to him unread; 0 is 5 min.
	WriteTimeout time.Duration
	// Rate is how many requests a second a caller may send, and Burst how many at once; 0 are 10 and 40.
	Rate  float64
	Burst int
	// Streams is how many answers a caller may have under way; 0 is 6.
	Streams int
	// AbortOnLeave has the service stop a turn whose caller has left before its end. Without it the service goes on, as it
	// has to where pages reload, or use disconnect() or resume: "replay".
	AbortOnLeave bool

	// Transport sends requests to the service; nil is one of the proxy's own.
	Transport http.RoundTripper
	// Log gets one record a request; nil drops them. It gets no key, no text, no address of a file's bytes.
	Log *slog.Logger
	// Observer is told of every request; nil is nobody.
	Observer Observer
	// Now is the clock of what expires and of rates; nil is time.Now.
	Now func() time.Time
}

const (
	leastSecret = 32
	// maxKey keeps a key shorter than any piece in which an answer is read.
	maxKey    = 4096
	leastKey  = 4
	maxCaller = 256
)

// A FieldError says which member of Config, or of a file or flag that stands for it, is wrong, and what it should be.
type FieldError struct{ Field, Problem string }

func (e *FieldError) Error() string { return "proxy: " + e.Field + " " + e.Problem }

// check completes the configuration, and gives the service's address.
func (c *Config) check() (*url.URL, error) {
	fault := func(field, problem string, args ...any) error {
		return &FieldError{field, fmt.Sprintf(problem, args...)}
	}
	base, err := url.Parse(strings.TrimSuffix(c.Service, "/"))
	if err != nil || (base.Scheme != "http" && base.Scheme != "https") || base.Hostname() == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, fault("Service", "must be an absolute address such as https://service.example, without user, query and fragment")
	}
	switch {
	case len(c.Key) < leastKey || len(c.Key) > maxKey || !httpguts.ValidHeaderFieldValue(c.Key) || strings.TrimSpace(c.Key) != c.Key:
		return nil, fault("Key", "must be an access key of %d to %d bytes that a header can hold, without white space around it", leastKey, maxKey)
	case len(c.Workspaces) == 0:
		return nil, fault("Workspaces", "must name at least one workspace")
	case len(c.Secrets) == 0:
		return nil, fault("Secrets", "must hold at least one secret")
	case c.Authorize == nil:
		return nil, fault("Authorize", "must be a function that names the caller")
	case c.Rate < 0 || c.Burst < 0 || c.Streams < 0:
		return nil, fault("Rate, Burst and Streams", "must not be negative")
	case c.MaxBody < 0 || c.MaxFile < 0:
		return nil, fault("MaxBody and MaxFile", "must not be negative")
	}
	for workspace, agents := range c.Workspaces {
		if !isName(workspace) {
			return nil, fault("Workspaces", "must hold identifiers, not %q", workspace)
		}
		if len(agents) == 0 || slices.Contains(agents, "") {
			return nil, fault("Workspaces", "must name at least one agent of %q, and none that is empty", workspace)
		}
	}
	for _, secret := range c.Secrets {
		if len(secret) < leastSecret {
			return nil, fault("Secrets", "must have at least %d bytes each, one has %d", leastSecret, len(secret))
		}
	}
	for _, origin := range c.Origins {
		if err := checkOrigin(origin); err != nil {
			return nil, fault("Origins", "%s", err)
		}
	}
	for _, name := range c.PassHeaders {
		if !passable(name) {
			return nil, fault("PassHeaders", "must not hold %q", name)
		}
	}
	for _, d := range []struct {
		field     string
		value     *time.Duration
		otherwise time.Duration
	}{
		{"GrantFor", &c.GrantFor, 30 * 24 * time.Hour}, {"BodyTimeout", &c.BodyTimeout, 15 * time.Second},
		{"AnswerTimeout", &c.AnswerTimeout, time.Minute}, {"WriteTimeout", &c.WriteTimeout, 5 * time.Minute},
	} {
		if *d.value < 0 {
			return nil, fault(d.field, "must not be negative")
		}
		orElse(d.value, d.otherwise)
	}
	orElse(&c.MaxBody, 1<<20)
	orElse(&c.Rate, 10)
	orElse(&c.Burst, 40)
	orElse(&c.Streams, 6)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Observer == nil {
		c.Observer = nobody{}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Transport == nil {
		c.Transport = NewTransport()
	}
	return base, nil
}

func orElse[T comparable](value *T, otherwise T) {
	if *value == *new(T) {
		*value = otherwise
	}
}

// unpassable are headers that say something about the connection, the body, or who asks; the proxy says it itself.
var unpassable = []string{"Authorization", "Cookie", "Connection", "Expect", "Forwarded", "Host", "Keep-Alive", "Origin", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

func passable(name string) bool {
	name = textproto.CanonicalMIMEHeaderKey(name)
	if !httpguts.ValidHeaderFieldName(name) || slices.Contains(unpassable, name) {
		return false
	}
	for _, start := range []string{"Accept", "Content-", "Proxy-", "Sec-", "X-Forwarded-"} {
		if strings.HasPrefix(name, start) {
			return false
		}
	}
	return true
}

// NewTransport makes what a proxy sends its requests with: it keeps connections for many streams at once, takes HTTP/2
// where the service has it, and asks for nothing compressed.
func NewTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           1024,
		MaxIdleConnsPerHost:    256,
		IdleConnTimeout:        90 * time.Second,
		WriteBufferSize:        4 << 10,
		ReadBufferSize:         16 << 10,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// An Observer is told of every request: package metrics counts them.
type Observer interface {
	// Request is called when a request begins. What it returns is called when its answer has begun, and when it is over.
	Request(ctx context.Context) Observation
}

// An Observation follows one request.
type Observation interface {
	// Began is called at the first byte of an answer; streams tells whether it is an event stream.
	Began(route string, status int, streams bool)
	// Ended is called once. route is "" where there is no such endpoint; code is that of the proxy's own refusal, else "".
	Ended(route string, status int, code string, how End)
}

// End says how an answer ended.
type End string

// The ends of an answer. Whole is all that the service or the proxy had to say; Left says that the caller went, or read no
// more; Broken that the service broke off.
const (
	Whole  End = "whole"
	Left   End = "left"
	Broken End = "broken"
)

type nobody struct{}

func (nobody) Request(context.Context) Observation { return nobody{} }
func (nobody) Began(string, int, bool)             {}
func (nobody) Ended(string, int, string, End)      {}
