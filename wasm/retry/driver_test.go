package retry

import (
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/stretchr/testify/require"
)

const (
	timeout = 60_000
	unix    = int64(784111777_000) // Sun, 06 Nov 1994 08:49:37 GMT
)

var message = api.SendMessage("c", "key-1", `[]`, "")

// answer is what becomes of one request.
type answer struct {
	status     int
	retryAfter string
	body       string
	lost       lost
}

type lost int

const (
	nothing   lost = iota
	answerCut      // the connection is refused or breaks before the answer's head
	headLate       // no head comes
	bodyCut        // the connection breaks after the head
	bodyLate       // the head comes, the body does not
)

func status(codes ...int) (out []answer) {
	for _, code := range codes {
		out = append(out, answer{status: code})
	}
	return out
}

// driver does what an exchange asks for, on a clock of its own.
type driver struct {
	t       *testing.T
	x       *Exchange
	sends   []Send
	waits   []int64 // between a try's end and the next
	timer   int64   // what was set last, -1 where none is
	open    bool    // a request is under way
	keyless bool    // no key comes
	reads   []int
	log     []Log
}

func newDriver(t *testing.T, policy *Policy) *driver {
	d := &driver{t: t, timer: -1}
	if policy.Jitter == nil {
		policy.Jitter = func() float64 { return 0.5 }
	}
	d.x = NewExchange(message, policy, d.perform)
	return d
}

func (d *driver) perform(effect Effect) {
	switch e := effect.(type) {
	case Send:
		require.False(d.t, d.open, "a request while another is under way")
		d.sends, d.open = append(d.sends, e), true
		d.timer = -1
		if !d.keyless {
			d.x.Sent()
		}
	case KeyLate:
	case Cancel:
		d.open = false
	case ReadBody:
		d.reads = append(d.reads, e.Limit)
	case SetTimer:
		d.timer = e.After
	case StopTimer:
		d.timer = -1
	case Log:
		d.log = append(d.log, e)
	default:
		d.t.Fatalf("unknown effect %T", effect)
	}
}

// fire lets the timer that is set come due.
func (d *driver) fire() {
	require.GreaterOrEqual(d.t, d.timer, int64(0), "no timer is set")
	d.timer = -1
	d.x.TimerFired()
}

// give makes a the fate of the request under way.
func (d *driver) give(a answer) {
	require.True(d.t, d.open, "no request is under way")
	res := &api.Response{Status: a.status, RetryAfter: a.retryAfter, ContentType: "application/json"}
	switch a.lost {
	case answerCut:
		d.open = false
		d.x.Failed("TypeError: failed")
	case headLate:
		d.fire()
	case bodyCut:
		d.x.Headers(res)
		d.open = false
		d.x.Failed("TypeError: broke")
	case bodyLate:
		d.x.Headers(res)
		d.fire()
	default:
		d.x.Headers(res)
		d.open = false
		d.x.Body(unix, []byte(a.body))
	}
}

// run gives the answers one after the other until the exchange is over, and waits where it asks to.
func (d *driver) run(answers ...answer) {
	d.x.Start()
	for _, a := range answers {
		d.give(a)
		if d.x.Over() {
			require.Equal(d.t, int64(-1), d.timer, "a timer is left")
			return
		}
		if !d.open {
			d.waits = append(d.waits, d.timer)
			d.fire()
		}
	}
}

func (d *driver) code() string {
	if err := d.x.Err(); err != nil {
		return err.Code
	}
	if d.x.Accepted() {
		return "accepted"
	}
	return "open"
}
