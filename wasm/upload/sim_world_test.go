package upload

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
)

// world is a clock and what is to happen, in order: nothing in it waits, so that a seed says everything.
type world struct {
	rng    *rand.Rand
	now    int64
	queue  events
	seq    int
	steps  int
	trace  []string
	faults int // that were put in its way
}

type event struct {
	at  int64
	seq int
	do  func()
}

type events []event

func (q events) Len() int { return len(q) }
func (q events) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].seq < q[j].seq
}
func (q events) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *events) Push(x any)   { *q = append(*q, x.(event)) }
func (q *events) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}

func (w *world) after(ms int64, do func()) {
	w.seq++
	heap.Push(&w.queue, event{w.now + max(ms, 0), w.seq, do})
}

// run lets happen what there is, until nothing is left.
func (w *world) run(fail func(string)) {
	for len(w.queue) > 0 {
		e := heap.Pop(&w.queue).(event)
		w.now = max(w.now, e.at) // later where the machine slept
		e.do()
		if w.steps++; w.steps > 200_000 {
			fail("it never ends")
			return
		}
	}
}

func (w *world) one(n int) bool { return w.rng.IntN(n) == 0 }

func (w *world) between(from, to int64) int64 { return from + w.rng.Int64N(to-from+1) }

// fault reports, with one chance in n, that something goes wrong.
func (w *world) fault(n int) bool {
	if n == 0 || !w.one(n) {
		return false
	}
	w.faults++
	return true
}

func (w *world) log(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf("%9d ", w.now%1e9)+fmt.Sprintf(format, args...))
}

// extent is a run of the data: stores keep where bytes came from, not the bytes.
type extent struct{ from, to int64 }

// joined is the run that the extents make, in order; false where they do not join.
func joined(list []extent) (extent, bool) {
	out := extent{}
	for i, e := range list {
		if i == 0 {
			out = e
			continue
		}
		if e.from != out.to {
			return out, false
		}
		out.to = e.to
	}
	return out, true
}
