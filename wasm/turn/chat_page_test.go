package turn

import (
	"fmt"
	"slices"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
)

type chatTurn struct {
	requester
	id         uint32
	m          *Machine
	ready      *request // of the try whose message may leave
	readyAt    int64    // since when it waits; -1 where none does
	left       bool
	over       bool
	taken      bool // the service has the message
	done       bool // and is done with it
	stopped    bool // by an abort
	asked      bool // abort() was called
	abortEnded bool // as its caller is told
	failed     *api.Error
	arrivals   int // of its aborts
}

// chatCall is an abort under way: a turn's own, or the chat's.
type chatCall struct {
	requester
	id      uint32
	c       *retry.Call
	of      []*chatTurn // none for the chat's own
	over    bool
	givenUp bool
}

func (w *chatWorld) send() {
	t := &chatTurn{id: uint32(len(w.turns) + 1), readyAt: -1}
	policy := &retry.Policy{MaxRetries: w.rng.IntN(3), Timeout: w.timeout, RenewKey: w.one(2), Jitter: w.rng.Float64, Connections: w.conns, Host: chatHost}
	t.m = New(Config{Request: api.SendMessage("chat", fmt.Sprint("key-", t.id), "[]", ""), Policy: policy, IdleTimeout: 120_000})
	t.requester = requester{driver: driver{w: w, m: t.m, perform: t.perform, settled: t.settle}, x: t.m}
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

func (t *chatTurn) perform(effect retry.Effect) {
	w := t.w
	switch e := effect.(type) {
	case retry.Send:
		conn := &request{}
		t.conn = conn
		keyed := func() {
			t.m.Keyed()
			t.ready, t.readyAt = conn, w.now
			w.line.Ready(w.now, t.id)
			w.lines.flush()
			t.flush()
		}
		if w.one(3) {
			t.tell(conn, w.rng.Int64N(1_500), keyed)
		} else {
			keyed()
		}
	case retry.Cancel:
		w.end(t.conn)
	case retry.ReadBody:
		t.body()
	case OpenStream:
	case SendAbort:
		if !t.left {
			w.fail("an abort of turn %d, whose message never left", t.id)
		}
		w.line.Stop(w.now, t.id, w.timeout)
		w.lines.flush()
	case Finish:
		if err := e.Outcome.Err; err != nil && err.Code == "response_timeout" && !t.conn.carried {
			w.fail("turn %d is late, and never had a connection", t.id)
		}
	}
}

func (t *chatTurn) settle() {
	if t.m.Over() && !t.over {
		t.over, t.readyAt = true, -1
		t.w.line.Over(t.w.now, t.id)
		t.w.lines.flush()
	}
}

// leave gives the browser the message.
func (t *chatTurn) leave() {
	w, conn := t.w, t.conn
	if i := slices.IndexFunc(w.calls, func(c *chatCall) bool { return !c.over }); i >= 0 {
		w.fail("the message of turn %d leaves while abort %d is under way", t.id, w.calls[i].id)
	}
	if w.now > t.readyAt {
		w.tally.Waited++
	}
	t.readyAt, t.left = -1, true
	w.line.Left(t.id)
	t.m.Sent()
	conn.carry = func() {
		arrives := w.rng.Int64N(300)
		switch w.rng.IntN(12) {
		case 0:
			t.tell(conn, arrives, t.lose)
			return
		case 1: // no answer at all
			return
		case 2: // refused on the way
			t.tell(conn, arrives, t.answer(503))
			return
		}
		w.after(arrives, func() {
			if conn.over && !w.one(2) {
				return // the browser had time to take it back
			}
			ok := w.takes(t)
			switch {
			case w.one(8):
				t.tell(conn, w.rng.Int64N(200), t.lose)
			case !ok:
				t.tell(conn, w.rng.Int64N(200), t.answer(409))
			default:
				t.tell(conn, w.rng.Int64N(200), func() { t.m.Headers(w.now, eventStream); t.stream(conn) })
			}
		})
	}
	w.give(conn)
}

// stream brings the end of the answer once the service is done with it.
func (t *chatTurn) stream(conn *request) {
	if !t.done {
		t.tell(conn, 20+t.w.rng.Int64N(100), func() { t.stream(conn) })
		return
	}
	t.w.end(conn)
	if !t.stopped {
		t.m.Feed(t.w.now, []byte(complete))
	}
	t.m.StreamEnded(true, "")
	for more := true; more; {
		_, more = t.m.next(true)
	}
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
		t.abortEnded = true
	}
	t.m.Abort()
	t.flush()
}

// begin sends an abort: of turns, or the chat's own where there is none.
func (w *chatWorld) begin(of ...*chatTurn) {
	c := &chatCall{id: uint32(len(w.calls) + 1), of: of}
	c.c = retry.NewCall(aborted, &retry.Policy{MaxRetries: w.rng.IntN(3), Timeout: w.timeout, Jitter: w.rng.Float64, Connections: w.conns, Host: chatHost})
	c.requester = requester{driver: driver{w: w, m: c.c, perform: c.perform}, x: c.c}
	w.calls = append(w.calls, c)
	w.line.Abort(w.now, c.id, w.timeout)
	c.c.Start()
	c.flush()
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
		c.leave()
	case retry.Cancel:
		w.end(c.conn)
	case retry.ReadBody:
		c.body()
	case retry.Done:
		c.over = true
		if e.Err != nil && e.Err.Code == "response_timeout" && !c.conn.carried {
			w.fail("abort %d is late, and never had a connection", c.id)
		}
		// A service that is slower than the limit may act when nobody waits for it any more.
		c.givenUp = c.givenUp || e.Err != nil && e.Err.Code == "response_timeout"
		for _, t := range c.of {
			t.abortEnded, t.failed = true, e.Err
		}
		w.line.Answered(w.now, c.id)
		w.lines.flush()
	}
}

// leave gives the browser the abort.
func (c *chatCall) leave() {
	w, conn := c.w, &request{}
	c.conn = conn
	conn.carry = func() {
		// Mostly at once, now and then later than any limit.
		arrives := w.rng.Int64N(300)
		if w.one(6) {
			arrives = w.rng.Int64N(2 * w.timeout)
		}
		switch w.rng.IntN(10) {
		case 0:
			c.tell(conn, arrives, c.lose)
			return
		case 1, 2:
			c.tell(conn, arrives, c.answer(503))
			return
		}
		w.after(arrives, func() {
			if conn.over && !c.givenUp && w.one(2) {
				return
			}
			w.stops(c)
			if w.one(6) {
				c.tell(conn, w.rng.Int64N(500), c.lose)
			} else {
				c.tell(conn, w.rng.Int64N(500), c.answer(204))
			}
		})
	}
	w.give(conn)
}

// order performs what the line of the chat's messages and aborts asks for.
func (w *chatWorld) order(effect retry.Effect) {
	switch e := effect.(type) {
	case Go:
		if t := w.turns[e.Turn-1]; t.ready == t.conn && !t.conn.over {
			t.leave()
			t.flush()
		}
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
		t.abortEnded, t.failed = true, &api.Error{Code: "another_turn_under_way"}
	case GiveUp:
		w.tally.GivenUp++
		c := w.calls[e.Call-1]
		c.givenUp = true
		c.c.Cancel(&api.Error{Code: "abort_given_up"})
		c.flush()
	}
}
