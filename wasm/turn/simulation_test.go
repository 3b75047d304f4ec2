package turn

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/json"
)

var (
	turns = flag.Int("turns", 0, "simulated turns, one a seed; 0 for a few seconds' worth")
	from  = flag.Uint64("from", 1, "the first of their seeds")
	seed  = flag.Uint64("seed", 0, "simulate the turn of this seed alone")
)

// TestSimulation runs turns against a simulated service, network, clock and user, and checks after every step what the
// profile promises. A failure names its seed: go test ./wasm/turn -run Simulation -seed N runs that turn alone.
func TestSimulation(t *testing.T) {
	if *seed != 0 {
		newWorld(t, *seed).run()
		return
	}
	if *turns == 0 {
		*turns = 3000
		if slow {
			*turns = 500
		}
	}
	codes := map[string]int{}
	began, events := time.Now(), 0
	for s := range uint64(*turns) {
		w := newWorld(t, *from+s)
		w.run()
		code := w.code()
		if w.config.Replay {
			code += " replayed"
		}
		codes[code]++
		events += len(w.got)
	}
	took := time.Since(began)
	t.Logf("%d turns of the seeds from %d on, %d events, %.0f turns/s", *turns, *from, events, float64(*turns)/took.Seconds())
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		t.Logf("%7d %s", codes[code], code)
	}
}

func newWorld(t testing.TB, seed uint64) *world {
	w := &world{rng: rand.New(rand.NewPCG(seed, 0)), delivered: channels{}}
	chance := func(n int) bool { return w.rng.IntN(n) == 0 }
	c := config()
	c.Policy.MaxRetries = w.rng.IntN(4)
	c.Policy.RenewKey = chance(3)
	c.Policy.Jitter = w.rng.Float64
	if chance(20) {
		c.Policy.Timeout = 0
	}
	if chance(20) {
		c.IdleTimeout = 0
	}
	c.Replay = chance(2)
	c.Offline = func() bool { return w.offline }

	w.s = randomScript(w.rng, w.rng.IntN(40))
	w.form = randomForm(w.rng)
	w.replay = replaying(w.rng.IntN(4))
	w.page = &page{TB: t, name: fmt.Sprintf("seed %d: ", seed), m: New(c), config: c, due: -1, status: Queued, ranks: map[*call]int{}}
	w.byBatch = chance(2)
	w.onSend = w.dial
	w.onCancel = func() { w.conn++ }
	w.user()
	return w
}

// user plans what the caller and the browser do.
func (w *world) user() {
	sometime := func(do func()) { w.after(w.rng.Int64N(1<<(4+w.rng.IntN(14))), do) }
	stops := []func(){w.page.abort, w.page.disconnect}
	for range w.rng.IntN(3) / 2 * (1 + w.rng.IntN(2)) {
		sometime(stops[w.rng.IntN(2)])
	}
	if w.rng.IntN(5) == 0 {
		sometime(func() { w.held = true; w.page.hold(true) })
		sometime(func() { w.letGo() })
		w.after(400_000, w.letGo)
	}
	if w.rng.IntN(8) == 0 {
		at, stop := 1+w.rng.IntN(len(w.s.events)), stops[w.rng.IntN(2)]
		w.listener = func(seen) {
			if len(w.got) == at {
				stop()
			}
		}
	}
	if w.rng.IntN(5) == 0 {
		sometime(func() { w.offline = true })
		w.after(300_000, func() { w.offline = false; w.m.Online(); w.settle() })
	}
	if w.config.IdleTimeout == 0 || w.config.Policy.Timeout == 0 {
		w.after(1<<40, w.page.disconnect)
	}
}

func (w *world) letGo() {
	w.held = false
	w.page.hold(false)
	queue := w.queue
	w.queue = nil
	for _, do := range queue {
		do()
	}
}

// late is one of the inputs that an ended turn may still get.
func (w *world) late() {
	switch w.rng.IntN(8) {
	case 0:
		w.headers(eventStream)
	case 1:
		w.headers(&api.Response{Status: 503})
	case 2:
		w.answer("{}")
	case 3:
		w.failed()
	case 4:
		w.feed(hello + complete)
	case 5:
		w.end(w.rng.IntN(2) == 0)
	case 6:
		w.m.TimerFired(w.now)
		w.settle()
	case 7:
		w.m.Online()
		w.settle()
	}
}

// run lets happen what is on the agenda, in time's order, until nothing is left.
func (w *world) run() {
	w.m.Start()
	w.settle()
	for steps, lateness := 0, int64(0); ; steps++ {
		if steps > 1_000_000 {
			w.fail("no end")
		}
		next := -1
		for i, h := range w.agenda {
			if next < 0 || h.at < w.agenda[next].at {
				next = i
			}
		}
		if w.due >= 0 && (next < 0 || w.due+lateness <= w.agenda[next].at) {
			// A browser is late with a timer when the page was asleep or busy.
			w.now, w.due = max(w.now, w.due+lateness), -1
			lateness = 0
			if w.rng.IntN(30) == 0 {
				lateness = w.rng.Int64N(20_000)
			}
			w.m.TimerFired(w.now)
			w.settle()
		} else if next >= 0 {
			h := w.agenda[next]
			w.agenda = slices.Delete(w.agenda, next, next+1)
			w.now = max(w.now, h.at)
			h.do()
		} else {
			break
		}
		w.check()
	}
	if !w.over() {
		w.fail("%s for ever, after %d bytes", w.status, w.fed)
	}
	if w.outcome.Status == Completed && (w.opened == 1 || w.replay != another) {
		w.toolsAre(w.s)
	}
}

// check compares what was delivered with what was sent.
func (w *world) check() {
	if w.seen < len(w.got) {
		for ; w.seen < len(w.got); w.seen++ {
			w.take(w.got[w.seen])
		}
		// That the service failed is news, however far a replay has come.
		if w.opened == 1 || w.got[w.seen-1].typ != `"error"` {
			w.compare()
		}
	}
	if w.opened == 0 {
		return
	}
	last := ""
	if len(w.got) > 0 {
		last = w.got[len(w.got)-1].typ
	}
	if completed := w.over() && w.outcome.Status == Completed; completed != (last == `"turn_complete"`) {
		w.fail("outcome %+v, the last event is %s", w.outcome, last)
	}
	arrived := w.truth.arrived(w.fed, w.clean)
	if arrived == len(w.truth.events) && w.truth.complete() && !w.over() {
		w.fail("turn_complete has arrived, and the turn goes on")
	}
	mismatch := w.over() && w.code() == "replay_mismatch"
	if mismatch && (w.opened == 1 || w.replay != another || len(w.got) != w.shown) {
		w.fail("%s, %d events of this replay; %+v, way %d, delivered %q, stream %d:\n%s", w.outcome.Err.Message, len(w.got)-w.shown, w.form, w.replay, w.delivered, w.opened, w.stream)
	}
	if w.opened > 1 || w.stopped() {
		return
	}
	if len(w.got) != arrived {
		w.fail("%d events of %d", len(w.got), arrived)
	}
}

// stopped reports whether the caller ended the turn.
func (w *world) stopped() bool {
	return w.over() && (w.outcome.Status == Cancelled || w.code() == "disconnected")
}

func (s *script) complete() bool {
	return len(s.events) > 0 && s.events[len(s.events)-1].typ == "turn_complete"
}

// channels is what a turn's events say, told apart by what they are about: fragments joined, and all else in order. A
// replay may cut fragments elsewhere; of each channel it has to bring the same.
type channels map[string][]byte

func (c channels) add(typ, data string) {
	name, fragment := typ, ""
	switch typ {
	case "text_delta", "reasoning_delta":
		fragment = "chunk"
	case "tool_call_delta":
		fragment = "delta"
		for _, key := range json.Members([]byte(data), keyNames...) {
			name += string(key)
		}
	default:
		c["events"] = append(c["events"], typ+data+"\n"...)
		return
	}
	c[name] = json.AppendString(c[name], json.Members([]byte(data), fragment)[0])
}

// take takes one delivered event. Of a first stream each has to be the one sent.
func (w *world) take(e seen) {
	if w.opened == 1 && e != w.truth.events[w.seen].seen() {
		w.fail("event %d is %+v, not %+v", w.seen, e, w.truth.events[w.seen].seen())
	}
	typ := e.typ[1 : len(e.typ)-1]
	w.delivered.add(typ, e.data)
	if e.mark > 0 && e.mark != len(withoutHalf(w.delivered[typ])) {
		w.fail("mark %d of %d", e.mark, len(w.delivered[typ]))
	}
}

// compare holds all that was delivered against the stream under way.
func (w *world) compare() {
	if w.sent == nil {
		w.sent = channels{}
		for _, e := range w.truth.events {
			w.sent.add(e.typ, e.wire)
		}
	}
	for name, channel := range w.delivered {
		if !bytes.HasPrefix(withoutHalf(w.sent[name]), withoutHalf(channel)) {
			w.fail("%s %q, sent was %q", name, channel, w.sent[name])
		}
	}
	if w.outcome != nil && w.outcome.Status == Completed && !maps.EqualFunc(w.delivered, w.sent, bytes.Equal) {
		w.fail("completed with %q, sent was %q", w.delivered, w.sent)
	}
	for name, got := range map[string][]byte{"text_delta": w.m.Text(), "reasoning_delta": w.m.Reasoning()} {
		want := withoutHalf(w.delivered[name])
		if w.stopped() {
			// The module may have read a few events more than were delivered; the loader goes by the marks.
			got = got[:min(len(got), len(want))]
		}
		if !bytes.Equal(got, want) {
			w.fail("%s %q, delivered was %q", name, got, want)
		}
	}
}
