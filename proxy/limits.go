package proxy

import (
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// limits counts what each caller asks for. It is this proxy's own: of several behind a balancer each allows as much.
type limits struct {
	rate    rate.Limit
	burst   int
	streams int
	now     func() time.Time

	mu      sync.Mutex
	callers map[string]*usage
	// sweepAt is the number of callers at which those are forgotten of whom nothing has to be known.
	sweepAt int
}

type usage struct {
	bucket  *rate.Limiter
	streams int
}

const leastSweep = 1024

func newLimits(cfg *Config) *limits {
	return &limits{rate: rate.Limit(cfg.Rate), burst: cfg.Burst, streams: cfg.Streams, now: cfg.Now, callers: map[string]*usage{}, sweepAt: leastSweep}
}

// of gives a caller's usage. mu must be held.
func (l *limits) of(caller string) *usage {
	u := l.callers[caller]
	if u == nil {
		if len(l.callers) >= l.sweepAt {
			l.sweep()
		}
		u = &usage{bucket: rate.NewLimiter(l.rate, l.burst)}
		l.callers[caller] = u
	}
	return u
}

// sweep forgets those who have no stream, and a bucket as full as a new one.
func (l *limits) sweep() {
	now := l.now()
	for caller, u := range l.callers {
		if u.streams == 0 && u.bucket.TokensAt(now) >= float64(l.burst) {
			delete(l.callers, caller)
		}
	}
	l.sweepAt = max(leastSweep, 2*len(l.callers))
}

// request takes one request from what a caller may send.
func (l *limits) request(caller string) *refusal {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	taken := l.of(caller).bucket.ReserveN(now, 1)
	if wait := taken.DelayFrom(now); wait > 0 {
		taken.CancelAt(now)
		return &refusal{status: http.StatusTooManyRequests, code: "too_many_requests", message: "this caller sends more requests than are allowed", after: wait}
	}
	return nil
}

// stream counts one more open stream of a caller, until done is called.
func (l *limits) stream(caller string) (done func(), problem *refusal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.of(caller)
	if u.streams >= l.streams {
		return nil, &refusal{status: http.StatusTooManyRequests, code: "too_many_streams",
			message: "this caller has as many answers under way as are allowed", after: time.Second}
	}
	u.streams++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		u.streams--
	}, nil
}
