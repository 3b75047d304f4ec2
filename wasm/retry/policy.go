package retry

// Safety says what may be repeated.
type Safety int

const (
	// Repeatable is a request that does nothing twice: it has an idempotency key, or repeating it changes nothing.
	Repeatable Safety = iota
	// Unkeyed is a request that would act twice, as it has no idempotency key: it is repeated only where the service said
	// that it did not act.
	Unkeyed
)

// Policy is how a request is tried. Times are milliseconds; 0 is no limit.
type Policy struct {
	Safety     Safety
	MaxRetries int
	Timeout    int64          // from when a connection can be free to the answer's head; also of the wait for the API key
	RenewKey   bool           // the API key comes from a function: ask it again after a 401
	Jitter     func() float64 // in [0, 1)
	// Connections are the page's; nil where nothing is known of them. Host is where the requests go.
	Connections *Connections
	Host        string
}

// With is the policy of a request that may be repeated so.
func (p Policy) With(safety Safety) *Policy {
	p.Safety = safety
	return &p
}

const (
	backoffFirst   = 500
	backoffMost    = 8_000
	retryAfterMost = 60_000
)

// Backoff is the wait before retry n (from 0) in milliseconds: full jitter over an exponential bound, so that clients
// cut off together do not come back together.
func Backoff(n int, jitter float64) int64 {
	bound := int64(backoffMost)
	if n < 5 && backoffFirst<<n < backoffMost {
		bound = backoffFirst << n
	}
	return int64(jitter * float64(bound))
}
