package turn

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
)

// world is a page with a service, a network, a clock and a user, all under one seed.
type world struct {
	*page
	rng    *rand.Rand
	agenda []happening
	conn   int // the connection under way; what another still brings is dropped, as the bridge does
	queue  []func()
	held   bool

	s      *script // the turn as the service made it first
	form   form
	replay replaying
	// Of the stream under way:
	truth  *script
	sent   channels
	shown  int // events delivered before it
	stream []byte
	from   int  // the events of truth that the stream leaves out, because it goes on after the last id
	fed    int  // bytes that arrived
	clean  bool // it ended, cleanly
	broken bool // the event after truth's is not one

	opened    int // streams so far
	seen      int // events that delivered has
	delivered channels
	offline   bool
}

// replaying is what the service does when the same key comes again.
type replaying int

const (
	same    replaying = iota // the same events
	tail                     // the events after Last-Event-ID
	recut                    // text and arguments in other fragments
	another                  // a turn that differs somewhere
)

type happening struct {
	at int64
	do func()
}

// after puts something on the agenda.
func (w *world) after(ms int64, do func()) {
	w.agenda = append(w.agenda, happening{w.now + ms, do})
}

// onWire is after for what a connection brings.
func (w *world) onWire(ms int64, do func()) {
	conn := w.conn
	w.after(ms, func() {
		switch {
		case conn == w.conn:
			do()
		case w.over() && w.rng.IntN(4) == 0:
			w.late()
		}
	})
}

// dial is the fate of a request.
func (w *world) dial(e retry.Send) {
	w.conn++
	delay := w.delay()
	switch n := w.rng.IntN(100); {
	case n < 8:
		w.onWire(delay, w.failed)
	case n < 11:
		// No answer at all.
	case n < 30:
		w.onWire(delay, w.refuse)
	case n < 33:
		w.onWire(delay, func() {
			w.headers(&api.Response{Status: []int{200, 204}[w.rng.IntN(2)], ContentType: []string{"text/html", "application/json", ""}[w.rng.IntN(3)]})
			w.body("<html>")
		})
	default:
		w.onWire(delay, func() { w.serve(e.Request) })
	}
}

// delay is mostly short, and now and then longer than any limit.
func (w *world) delay() int64 {
	switch w.rng.IntN(60) {
	case 0:
		return 50_000 + w.rng.Int64N(100_000)
	case 1, 2, 3:
		return w.rng.Int64N(5_000)
	}
	return w.rng.Int64N(200)
}

var statuses = []int{301, 400, 401, 401, 403, 404, 408, 409, 422, 425, 429, 429, 500, 502, 503, 503, 504}

func (w *world) refuse() {
	res := &api.Response{Status: statuses[w.rng.IntN(len(statuses))], ContentType: "application/json"}
	switch w.rng.IntN(6) {
	case 0:
		res.RetryAfter = fmt.Sprint(w.rng.IntN(70))
	case 1:
		res.RetryAfter = []string{"soon", "Thu, 01 Jan 1970 00:00:30 GMT", "Thu, 01 Jan 2099 00:00:00 GMT"}[w.rng.IntN(3)]
	}
	w.headers(res)
	if w.rng.IntN(10) == 0 {
		w.headers(res)
	}
	w.body(`{"error":{"message":"no","code":"refused"}}`)
}

// body brings the rest of an answer that is no stream, unless it is cut or stalls.
func (w *world) body(text string) {
	switch w.rng.IntN(10) {
	case 0:
		w.onWire(w.delay(), w.failed)
	case 1:
	default:
		w.onWire(w.delay(), func() { w.answer(text) })
	}
}

// serve answers with the turn, or with what the service makes of it when the key comes again.
func (w *world) serve(request *api.Request) {
	f := w.form
	w.from, w.truth, w.broken = 0, w.s, false
	if w.opened > 0 {
		f.comments, f.eol = w.rng.IntN(2) == 0, []string{"\n", "\r\n"}[w.rng.IntN(2)]
		w.again(request, &f)
	} else {
		w.spoil()
	}
	w.opened++
	w.shown, w.fed, w.clean = len(w.got), 0, false
	w.stream, w.sent = w.truth.encode(f), nil
	start := 0
	if w.from > 0 {
		start = w.truth.events[w.from-1].whole
	}
	if w.broken {
		w.stream = fmt.Appendf(w.stream, "data: {\"broken\"\n\n")
	}
	w.fed = start
	w.headers(eventStream)
	if w.rng.IntN(20) == 0 {
		w.headers(eventStream)
	}
	w.send(start)
}

// spoil makes of the turn one that fails, stops short or has something unreadable in it, once in a while.
func (w *world) spoil() {
	n := w.rng.IntN(len(w.s.events))
	switch w.rng.IntN(24) {
	case 0:
		w.s = w.s.upTo(n)
		w.s.add(scripted{typ: "error", data: `{"error":{"message":"the tool is broken","code":"tool"}}`})
	case 1:
		w.s = w.s.upTo(n)
	case 2:
		w.s, w.broken = w.s.upTo(n), true
	}
	w.truth = w.s
}

func (s *script) upTo(n int) *script {
	out := &script{calls: s.calls, ascii: s.ascii}
	for _, e := range s.events[:n] {
		out.add(e)
	}
	return out
}

// again is what a service brings for a key that it knows.
func (w *world) again(request *api.Request, f *form) {
	switch w.replay {
	case same:
		f.ids = f.ids != (w.rng.IntN(4) == 0)
	case tail:
		i := slices.IndexFunc(request.Header, func(h api.Field) bool { return h.Name == "Last-Event-ID" })
		if i >= 0 {
			w.from = 1 + slices.IndexFunc(w.truth.events, func(e scripted) bool { return e.id == request.Header[i].Value })
			if w.from == 0 {
				w.fail("Last-Event-ID %q was never sent", request.Header[i].Value)
			}
		}
	case recut:
		// Events that are cut elsewhere have no ids in common.
		f.ids = false
		w.truth = w.s.refragmented(w.rng)
	case another:
		w.truth = w.s.changed(w.rng)
	}
}

// changed is the turn with one event that is another, with some missing, or with a channel that stops short.
func (s *script) changed(rng *rand.Rand) *script {
	out := &script{calls: s.calls, ascii: s.ascii}
	at, way, missing := rng.IntN(len(s.events)+1), rng.IntN(3), 1+rng.IntN(3)
	for i, e := range s.events {
		switch {
		case way == 0 && i == at && e.units != nil:
			e.units = append(slices.Clone(e.units), 'X')
		case way == 0 && i == at:
			e.data = e.data[:len(e.data)-1] + `,"changed":1}`
		case way == 1 && i >= at && i < at+missing:
			continue
		case way == 2 && i >= at && e.typ == s.events[at].typ && e.head == s.events[at].head:
			continue
		}
		out.add(e)
	}
	return out
}

// send brings the stream's bytes from an offset on, in chunks, until it ends, breaks or stalls.
func (w *world) send(from int) {
	end, clean := len(w.stream), true
	if w.rng.IntN(3) == 0 {
		end, clean = from+w.rng.IntN(len(w.stream)-from+1), w.rng.IntN(3) > 0
	}
	stalls := w.rng.IntN(12) == 0
	mean := 1 + w.rng.IntN(1<<(1+w.rng.IntN(10)))
	var next func()
	next = func() {
		if from == end {
			if !stalls {
				w.onWire(w.delay()/4, func() { w.read(func() { w.close(clean) }) })
			}
			return
		}
		n := min(end-from, 1+w.rng.IntN(2*mean))
		chunk := w.stream[from : from+n]
		from += n
		w.onWire(w.delay()/4, func() {
			w.read(func() { w.arrive(chunk) })
			next()
		})
	}
	next()
}

// read is what the loader does with a chunk: nothing, while it holds.
func (w *world) read(do func()) {
	if !w.held {
		do()
		return
	}
	conn := w.conn
	w.queue = append(w.queue, func() {
		if conn == w.conn {
			do()
		}
	})
}

func (w *world) arrive(chunk []byte) {
	if !w.over() {
		w.fed += len(chunk)
	}
	w.feedBytes(chunk)
}

func (w *world) close(clean bool) {
	if !w.over() {
		w.clean = clean
	}
	w.end(clean)
	if w.rng.IntN(20) == 0 && !w.config.Replay {
		w.end(!clean)
	}
}
