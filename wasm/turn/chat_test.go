package turn

import (
	"container/heap"
	"math/rand/v2"
	"testing"

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

const chatHost = "https://api.test/"

func newChatWorld(t testing.TB, seed uint64, total *tally) *chatWorld {
	w := &chatWorld{TB: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 3)), tally: total}
	w.lines = driver{w: w, m: &w.line, perform: w.order}
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
			w.fail("turn %d is %s for ever", t.id, t.m.status)
		case t.asked && !t.abortEnded:
			w.fail("the abort of turn %d never ends", t.id)
		case t.asked && t.failed == nil && t.left && t.m.status == Cancelled && t.arrivals == 0:
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
