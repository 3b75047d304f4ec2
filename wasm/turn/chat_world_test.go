package turn

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
)

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
	lines   driver
	turns   []*chatTurn
	calls   []*chatCall

	// The service: what the chat is producing, nil where it produces nothing, and what it has taken.
	current *chatTurn
	queues  bool // a second message waits, and is not refused
	next    []*chatTurn
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

func (w *chatWorld) one(n int) bool { return w.rng.IntN(n) == 0 }

func (w *chatWorld) after(ms int64, do func()) {
	w.seq++
	heap.Push(&w.agenda, todo{w.now + max(ms, 0), w.seq, do})
}

func (w *chatWorld) fail(format string, args ...any) {
	w.Helper()
	w.Fatalf("seed %d at %d ms: %s\nreplay: go test ./wasm/turn -run ChatSimulation -seed=%d", w.seed, w.now, fmt.Sprintf(format, args...), w.seed)
}

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

// driver does what the page does for each of its machines: it performs the effects of an input before the next, and keeps
// the timer.
type driver struct {
	w *chatWorld
	m interface {
		Wants() bool
		Take() []retry.Effect
		TimerFired(now int64)
	}
	perform func(retry.Effect)
	settled func() // what follows when all is performed; nil for nothing
	timer   int
	busy    bool
}

func (d *driver) flush() {
	if d.busy {
		return
	}
	d.busy = true
	for d.m.Wants() {
		for _, effect := range d.m.Take() {
			switch e := effect.(type) {
			case retry.SetTimer:
				d.timer++
				this := d.timer
				d.w.after(e.After, func() {
					if this == d.timer {
						d.m.TimerFired(d.w.now)
						d.flush()
					}
				})
			case retry.StopTimer:
				d.timer++
			default:
				d.perform(e)
			}
		}
	}
	d.busy = false
	if d.settled != nil {
		d.settled()
	}
}

// requester is a driver of what sends requests, a turn or a call.
type requester struct {
	driver
	x interface {
		Headers(now int64, res *api.Response)
		Body(now int64, body []byte)
		RequestFailed(detail string)
	}
	conn *request // of the try under way
}

// tell brings something of a connection, unless it was let go.
func (r *requester) tell(conn *request, ms int64, do func()) {
	r.w.after(ms, func() {
		if conn == r.conn && !conn.over {
			do()
			r.flush()
		}
	})
}

func (r *requester) answer(status int) func() {
	return func() { r.x.Headers(r.w.now, &api.Response{Status: status}) }
}

func (r *requester) lose() {
	r.w.end(r.conn)
	r.x.RequestFailed("lost")
}

func (r *requester) body() {
	r.tell(r.conn, r.w.rng.Int64N(20), func() {
		r.w.end(r.conn)
		r.x.Body(r.w.now, nil)
	})
}
