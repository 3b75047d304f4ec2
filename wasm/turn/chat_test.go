package turn

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
)

// TestChatSimulation runs several turns of one chat, with their aborts, in a page whose clients may be closed, in a browser
// that has six connections, against a service that acts and answers when it likes, and checks after every step:
//   - an abort that the service takes within the limit stops no turn but its own (or one that the page has let go);
//   - every abort that was asked for reaches the service, or is told to have failed;
//   - no message leaves while an abort is under way, and none waits for one longer than the limit;
//   - no request is told to be late for which there was never a connection.
func TestChatSimulation(t *testing.T) {
	first, n := *from, max(uint64(*turns), 1_000)
	if *seed != 0 {
		first, n = *seed, 1
	}
	var total tally
	for s := range n {
		newChatWorld(t, first+s, &total).run()
	}
	t.Logf("%d chats of the seeds from %d on: %+v", n, first, total)
}

// tally shows that the simulation meets what it is there for.
type tally struct{ Messages, Aborts, Stopped, Waited, GivenUp, NotSent, Shared, Refused, Queued, Closed int }

// chatWorld is a page with one chat, its browser and its service, under one seed.
type chatWorld struct {
	testing.TB
	seed   uint64
	rng    *rand.Rand
	now    int64
	agenda agenda
	seq    int
	tally  *tally

	conns   *retry.Connections
	busy    int
	queue   []*request
	timeout int64
	line    Line
	lineDue int
	inLine  bool
	turns   []*chatTurn
	calls   []*chatCall

	// The service: what the chat is producing, nil where it produces nothing, and what it has taken.
	current *chatTurn
	queues  bool // a second message waits, and is not refused
	next    []*chatTurn
}

type chatTurn struct {
	w        *chatWorld
	id       uint32
	m        *Machine
	timer    int
	sending  int
	pending  func()
	readyAt  int64 // since when the message waits; -1 where it does not
	conn     *request
	left     bool
	over     bool
	busy     bool // in the pump
	taken    bool // the service has the message
	done     bool // and is done with it
	stopped  bool
	asked    bool // abort() was called
	settled  bool
	failed   *api.Error
	arrivals int // of its aborts
}

// chatCall is an abort under way: a turn's own, or the chat's.
type chatCall struct {
	w       *chatWorld
	id      uint32
	c       *retry.Call
	of      []*chatTurn // none for the chat's own
	timer   int
	conn    *request
	busy    bool
	over    bool
	givenUp bool
}

// request is what the browser was given: it waits for a connection, has one, and gives it back.
type request struct {
	carried, over bool
	carry         func()
}

type todo struct {
	at  int64
	seq int
	do  func()
}
type agenda []todo

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].seq < a[j].seq
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(todo)) }
func (a *agenda) Pop() any {
	old := *a
	x := old[len(old)-1]
	*a = old[:len(old)-1]
	return x
}

const chatHost = "https://api.test/"

func newChatWorld(t testing.TB, seed uint64, total *tally) *chatWorld {
	w := &chatWorld{TB: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 3)), tally: total}
	w.conns = retry.NewConnections(func() int64 { return w.now }, nil)
	w.timeout = []int64{500, 3_000, 60_000}[w.rng.IntN(3)]
	w.queues = w.one(3)
	for range w.rng.IntN(8) { // long answers of other chats, of this page or another
		w.occupy()
	}
	for range 1 + w.rng.IntN(5) {
		w.after(w.rng.Int64N(4_000), w.send)
	}
	for range w.rng.IntN(5) {
		w.after(w.rng.Int64N(6_000), func() {
			if len(w.turns) > 0 {
				w.turns[w.rng.IntN(len(w.turns))].abort()
			}
		})
	}
	if w.one(6) {
		w.after(w.rng.Int64N(6_000), func() { w.begin() })
	}
	if w.one(4) {
		w.after(w.rng.Int64N(6_000), w.close)
	}
	return w
}

func (w *chatWorld) one(n int) bool { return w.rng.IntN(n) == 0 }

func (w *chatWorld) after(ms int64, do func()) {
	w.seq++
	heap.Push(&w.agenda, todo{w.now + max(ms, 0), w.seq, do})
}

func (w *chatWorld) fail(format string, args ...any) {
	w.Helper()
	w.Fatalf("seed %d at %d ms: %s\nreplay: go test ./wasm/turn -run ChatSimulation -seed=%d", w.seed, w.now, fmt.Sprintf(format, args...), w.seed)
}

func (w *chatWorld) run() {
	for steps := 0; len(w.agenda) > 0; steps++ {
		next := heap.Pop(&w.agenda).(todo)
		w.now = max(w.now, next.at)
		next.do()
		if steps > 100_000 {
			w.fail("it never ends")
		}
		for _, t := range w.turns {
			if t.readyAt >= 0 && w.now > t.readyAt+w.timeout+afterLimit+5 {
				w.fail("the message of turn %d waits since %d", t.id, t.readyAt)
			}
		}
	}
	for _, t := range w.turns {
		switch {
		case !t.m.Over():
			w.fail("turn %d is %s for ever", t.id, t.m.Status())
		case t.asked && !t.settled:
			w.fail("the abort of turn %d never ends", t.id)
		case t.asked && t.failed == nil && t.left && t.m.Status() == Cancelled && t.arrivals == 0:
			w.fail("the abort of turn %d went well, and never reached the service", t.id)
		}
	}
	for _, c := range w.calls {
		if !c.over {
			w.fail("abort %d never ends", c.id)
		}
	}
	if len(w.line.sent)+len(w.line.waiting)+len(w.line.aborts)+len(w.line.stops) > 0 || w.line.timer != 0 {
		w.fail("the line is left with %+v", w.line)
	}
}

// --- the browser

// occupy takes a connection for an answer that is open for long.
func (w *chatWorld) occupy() {
	slot := w.conns.Open(chatHost)
	r := &request{carry: slot.Held}
	w.give(r)
	w.after(w.rng.Int64N(20_000), func() {
		slot.Close()
		w.end(r)
	})
}

func (w *chatWorld) give(r *request) {
	w.queue = append(w.queue, r)
	w.connect()
}

func (w *chatWorld) connect() {
	for len(w.queue) > 0 && w.busy < 6 {
		r := w.queue[0]
		w.queue = w.queue[1:]
		if !r.over {
			r.carried = true
			w.busy++
			r.carry()
		}
	}
	if len(w.queue) > 0 {
		w.tally.Queued++
	}
}

func (w *chatWorld) end(r *request) {
	if r == nil || r.over {
		return
	}
	r.over = true
	if r.carried {
		w.busy--
		w.after(0, w.connect)
	}
}

// --- the page

func (w *chatWorld) send() {
	t := &chatTurn{w: w, id: uint32(len(w.turns) + 1), readyAt: -1}
	policy := retry.Policy{MaxRetries: w.rng.IntN(3), Timeout: w.timeout, RenewKey: w.one(2), Jitter: w.rng.Float64, Connections: w.conns, Host: chatHost}
	t.m = New(Config{Request: api.SendMessage("chat", fmt.Sprint("key-", t.id), "[]", ""), Policy: policy, IdleTimeout: 120_000})
	w.turns = append(w.turns, t)
	w.tally.Messages++
	t.m.Start()
	t.flush()
}

// close is the client's: its turns are disconnected, and what tells the service of an end goes on.
func (w *chatWorld) close() {
	w.tally.Closed++
	for _, t := range w.turns {
		t.m.Disconnect()
		t.flush()
	}
}

func (t *chatTurn) flush() {
	if t.busy {
		return
	}
	t.busy = true
	for t.m.Wants() {
		for _, e := range t.m.Take() {
			t.perform(e)
		}
	}
	t.busy = false
	if t.m.Over() && !t.over {
		t.over = true
		t.readyAt = -1
		t.w.line.Over(t.w.now, t.id)
		t.w.flushLine()
	}
}

func (t *chatTurn) perform(effect retry.Effect) {
	w := t.w
	switch e := effect.(type) {
	case retry.Send:
		t.sending++
		this := t.sending
		keyed := func() {
			if this != t.sending {
				return
			}
			t.pending = func() {
				if this == t.sending {
					t.leave(this)
				}
			}
			t.m.Keyed()
			t.readyAt = w.now
			w.line.Ready(w.now, t.id)
			w.flushLine()
			t.flush()
		}
		if w.one(3) {
			w.after(w.rng.Int64N(1_500), keyed)
		} else {
			keyed()
		}
	case retry.Cancel:
		t.sending++
		w.end(t.conn)
	case retry.ReadBody:
		this := t.sending
		w.after(w.rng.Int64N(20), func() {
			if this == t.sending {
				w.end(t.conn)
				t.m.Body(w.now, nil)
				t.flush()
			}
		})
	case OpenStream:
	case retry.SetTimer:
		t.timer++
		this := t.timer
		w.after(e.After, func() {
			if this == t.timer {
				t.m.TimerFired(w.now)
				t.flush()
			}
		})
	case retry.StopTimer:
		t.timer++
	case SendAbort:
		if !t.left {
			w.fail("an abort of turn %d, whose message never left", t.id)
		}
		w.line.Stop(w.now, t.id, w.timeout)
		w.flushLine()
	case Finish:
		t.timer++
		if err := e.Outcome.Err; err != nil && err.Code == "response_timeout" && !t.conn.carried {
			w.fail("turn %d is late, and never had a connection", t.id)
		}
	}
}

// leave gives the browser the message.
func (t *chatTurn) leave(this int) {
	w := t.w
	if i := slices.IndexFunc(w.calls, func(c *chatCall) bool { return !c.over }); i >= 0 {
		w.fail("the message of turn %d leaves while abort %d is under way", t.id, w.calls[i].id)
	}
	if w.now > t.readyAt {
		w.tally.Waited++
	}
	t.readyAt, t.left = -1, true
	w.line.Left(t.id)
	t.m.Sent()
	tell := func(ms int64, do func()) {
		w.after(ms, func() {
			if this == t.sending {
				do()
				t.flush()
			}
		})
	}
	t.conn = &request{carry: func() {
		if t.conn.over {
			return
		}
		lost := func() { w.end(t.conn); t.m.RequestFailed("lost") }
		arrives := w.rng.Int64N(300)
		switch w.rng.IntN(12) {
		case 0:
			tell(arrives, lost)
			return
		case 1: // no answer at all
			return
		case 2: // refused on the way
			tell(arrives, func() { t.m.Headers(w.now, api.Response{Status: 503}) })
			return
		}
		w.after(arrives, func() {
			if this != t.sending && !w.one(2) {
				return // the browser had time to take it back
			}
			ok := w.takes(t)
			switch {
			case w.one(8):
				tell(w.rng.Int64N(200), lost)
			case !ok:
				tell(w.rng.Int64N(200), func() { t.m.Headers(w.now, api.Response{Status: 409}) })
			default:
				tell(w.rng.Int64N(200), func() { t.m.Headers(w.now, eventStream); t.stream(this) })
			}
		})
	}}
	w.give(t.conn)
}

// stream brings the end of the answer once the service is done with it.
func (t *chatTurn) stream(this int) {
	w := t.w
	var look func()
	look = func() {
		if this != t.sending {
			return
		}
		if !t.done {
			w.after(20+w.rng.Int64N(100), look)
			return
		}
		w.end(t.conn)
		if !t.stopped {
			t.m.Feed(w.now, []byte(complete))
		}
		t.m.StreamEnded(true, "")
		for more := true; more; {
			_, more = t.m.Next(true)
		}
		t.flush()
	}
	look()
}

// abort is the caller's.
func (t *chatTurn) abort() {
	if t.asked || t.m.Over() {
		return
	}
	t.asked = true
	t.w.tally.Aborts++
	if !t.left {
		t.w.tally.NotSent++
		t.settled = true
	}
	t.m.Abort()
	t.flush()
}

// begin sends an abort: of turns, or the chat's own where there is none.
func (w *chatWorld) begin(of ...*chatTurn) {
	c := &chatCall{w: w, id: uint32(len(w.calls) + 1), of: of}
	c.c = retry.NewCall(aborted, retry.Policy{MaxRetries: w.rng.IntN(3), Timeout: w.timeout, Jitter: w.rng.Float64, Connections: w.conns, Host: chatHost})
	w.calls = append(w.calls, c)
	w.line.Abort(w.now, c.id, w.timeout)
	c.c.Start()
	c.flush()
}

func (c *chatCall) flush() {
	if c.busy {
		return
	}
	c.busy = true
	for c.c.Wants() {
		for _, e := range c.c.Take() {
			c.perform(e)
		}
	}
	c.busy = false
}

func (c *chatCall) perform(effect retry.Effect) {
	w := c.w
	switch e := effect.(type) {
	case retry.Send:
		for _, t := range w.turns {
			if len(c.of) > 0 && t.left && !t.over && !slices.Contains(c.of, t) {
				w.fail("abort %d of turn %d is sent while turn %d is under way", c.id, c.of[0].id, t.id)
			}
		}
		c.c.Sent()
		c.dial()
	case retry.Cancel:
		w.end(c.conn)
	case retry.ReadBody:
		conn := c.conn
		w.after(w.rng.Int64N(20), func() {
			if conn == c.conn && !conn.over {
				w.end(conn)
				c.c.Body(w.now, nil)
				c.flush()
			}
		})
	case retry.SetTimer:
		c.timer++
		this := c.timer
		w.after(e.After, func() {
			if this == c.timer {
				c.c.TimerFired(w.now)
				c.flush()
			}
		})
	case retry.StopTimer:
		c.timer++
	case retry.Done:
		c.over = true
		if e.Err != nil && e.Err.Code == "response_timeout" && !c.conn.carried {
			w.fail("abort %d is late, and never had a connection", c.id)
		}
		// A service that is slower than the limit may act when nobody waits for it any more.
		c.givenUp = c.givenUp || e.Err != nil && e.Err.Code == "response_timeout"
		for _, t := range c.of {
			t.settled, t.failed = true, e.Err
		}
		w.line.Answered(w.now, c.id)
		w.flushLine()
	}
}

func (c *chatCall) dial() {
	w := c.w
	conn := &request{}
	c.conn = conn
	tell := func(ms int64, do func()) {
		w.after(ms, func() {
			if conn == c.conn && !conn.over && !c.over {
				do()
				c.flush()
			}
		})
	}
	lost := func() { w.end(conn); c.c.RequestFailed("lost") }
	conn.carry = func() {
		// Mostly at once, now and then later than any limit.
		arrives := w.rng.Int64N(300)
		if w.one(6) {
			arrives = w.rng.Int64N(2 * w.timeout)
		}
		switch w.rng.IntN(10) {
		case 0:
			tell(arrives, lost)
			return
		case 1, 2:
			tell(arrives, func() { c.c.Headers(w.now, api.Response{Status: 503}) })
			return
		}
		w.after(arrives, func() {
			if conn.over && !c.givenUp && w.one(2) {
				return
			}
			w.stops(c)
			if w.one(6) {
				tell(w.rng.Int64N(500), lost)
			} else {
				tell(w.rng.Int64N(500), func() { c.c.Headers(w.now, api.Response{Status: 204}) })
			}
		})
	}
	w.give(conn)
}

func (w *chatWorld) flushLine() {
	if w.inLine {
		return
	}
	w.inLine = true
	for w.line.Wants() {
		for _, effect := range w.line.Take() {
			switch e := effect.(type) {
			case Go:
				t := w.turns[e.Turn-1]
				t.pending()
				t.flush()
			case Stop:
				var turns []*chatTurn
				for _, id := range e.Turns {
					turns = append(turns, w.turns[id-1])
				}
				w.tally.Shared += len(turns) - 1
				w.begin(turns...)
			case Refuse:
				w.tally.Refused++
				t := w.turns[e.Turn-1]
				t.settled, t.failed = true, &api.Error{Code: "another_turn_under_way"}
			case GiveUp:
				w.tally.GivenUp++
				c := w.calls[e.Call-1]
				c.givenUp = true
				c.c.Cancel(&api.Error{Code: "abort_given_up"})
				c.flush()
			case retry.SetTimer:
				w.lineDue++
				this := w.lineDue
				w.after(e.After, func() {
					if this == w.lineDue {
						w.line.TimerFired(w.now)
						w.flushLine()
					}
				})
			case retry.StopTimer:
				w.lineDue++
			}
		}
	}
	w.inLine = false
}

// --- the service

// takes is the arrival of a message; the same again changes nothing.
func (w *chatWorld) takes(t *chatTurn) bool {
	switch {
	case t.taken:
	case w.current == nil:
		w.produce(t)
	case w.queues:
		t.taken = true
		w.next = append(w.next, t)
	default:
		return false
	}
	return true
}

func (w *chatWorld) produce(t *chatTurn) {
	t.taken = true
	w.current = t
	w.after(w.rng.Int64N(3_000), func() { w.finish(t) })
}

func (w *chatWorld) finish(t *chatTurn) {
	if w.current != t {
		return
	}
	t.done = true
	w.current = nil
	if len(w.next) > 0 {
		next := w.next[0]
		w.next = w.next[1:]
		w.produce(next)
	}
}

// stops is the arrival of an abort: it stops whatever the chat is producing.
func (w *chatWorld) stops(c *chatCall) {
	for _, of := range c.of {
		of.arrivals++
	}
	t := w.current
	if t == nil {
		return
	}
	// Of a turn that the page has let go nobody can tell whether the service goes on with it.
	if len(c.of) > 0 && !slices.Contains(c.of, t) && !c.givenUp && !t.over {
		w.fail("abort %d, of turn %d, stops turn %d", c.id, c.of[0].id, t.id)
	}
	w.tally.Stopped++
	t.stopped = true
	w.finish(t)
}
