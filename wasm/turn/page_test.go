package turn

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
)

const (
	timeout     = 60_000
	idleTimeout = 120_000
)

var (
	eventStream = &api.Response{Status: 200, ContentType: "text/event-stream", RequestID: "req-1"}
	aborted     = api.AbortChat("chat")
)

func config() Config {
	return Config{
		Request:     api.SendMessage("chat", "key-1", `[{"type":"text","text":"hi"}]`, ""),
		Policy:      &retry.Policy{MaxRetries: 2, Timeout: timeout, Jitter: func() float64 { return 0.5 }},
		IdleTimeout: idleTimeout,
	}
}

// seen is an event as a listener got it.
type seen struct {
	typ, data string
	id        string
	mark      int
}

// page drives a machine as the bridge and the loader do, and checks after every input what holds for every turn.
type page struct {
	testing.TB
	m      *Machine
	config Config
	name   string // of the case, for a failure

	now      int64
	ended    int64 // when the turn ended
	due      int64 // of the timer, -1 where none is set
	request  bool  // a request or its answer is under way
	stream   bool  // its bytes are asked for
	body     int   // the body's limit, where it is asked for
	sends    []retry.Send
	aborts   int
	outcome  *Outcome
	got      []seen
	status   Status
	memory   []byte
	calls    []toolCallJSON // as the loader has them
	ranks    map[*call]int
	listener func(seen) // may call abort and disconnect
	onSend   func(retry.Send)
	onCancel func()
	keyless  bool // no key comes
	byBatch  bool // events are taken by Batch, as the bridge does, and not by Next
	events   Batch
	batches  []int // the number of events in each
}

func open(t testing.TB, c Config) *page {
	p := &page{TB: t, m: New(c), config: c, due: -1, status: Queued, ranks: map[*call]int{}}
	p.m.Start()
	p.settle()
	return p
}

// streaming is a page whose turn's stream has begun.
func streaming(t testing.TB) *page {
	p := open(t, config())
	p.headers(eventStream)
	return p
}

func (p *page) fail(format string, args ...any) {
	p.Helper()
	p.Fatalf(p.name+format, args...)
}

func (p *page) over() bool { return p.outcome != nil }

func (p *page) headers(res *api.Response) { p.m.Headers(p.now, res); p.settle() }
func (p *page) answer(body string)        { p.body = 0; p.m.Body(p.now, []byte(body)); p.settle() }
func (p *page) failed()                   { p.request = false; p.m.RequestFailed("TypeError: failed"); p.settle() }
func (p *page) abort()                    { p.m.Abort(); p.settle() }
func (p *page) disconnect()               { p.m.Disconnect(); p.settle() }
func (p *page) hold(on bool)              { p.m.Hold(p.now, on); p.settle() }
func (p *page) feed(bytes string)         { p.feedBytes([]byte(bytes)) }

func (p *page) end(clean bool) {
	detail := ""
	if !clean {
		detail = "TypeError: network error"
	}
	p.m.StreamEnded(clean, detail)
	p.drain()
}

// feedBytes hands over a chunk in memory that is wiped afterwards, as the bridge's is written over.
func (p *page) feedBytes(chunk []byte) {
	p.memory = append(p.memory[:0], chunk...)
	p.m.Feed(p.now, p.memory)
	p.drain()
	for i := range p.memory {
		p.memory[i] = '!'
	}
}

// drain takes the events out in batches and gives each to the listener.
func (p *page) drain() {
	for more := true; more; {
		var events []seen
		if p.byBatch {
			events, more = p.batch()
		} else {
			events, more = p.oneByOne()
		}
		for i, e := range events {
			k := kindOf([]byte(e.typ))
			if k >= toolCallStarted && i > 0 {
				p.fail("%s is not the first of its batch", e.typ)
			}
			if terminal := k == turnComplete || k == errorEvent; terminal != p.m.Over() {
				p.fail("status %s after %s", p.m.status, e.typ)
			}
		}
		p.checkTools()
		for _, e := range events {
			if p.over() {
				break
			}
			if e.typ != `"text_delta"` && e.typ != `"reasoning_delta"` {
				e.mark = 0 // says nothing that a listener would need
			}
			p.got = append(p.got, e)
			if p.listener != nil {
				p.listener(e)
			}
		}
		if len(events) > 0 {
			p.batches = append(p.batches, len(events))
		}
		p.settle()
	}
}

func (p *page) oneByOne() (events []seen, more bool) {
	for {
		e, ok := p.m.next(len(events) == 0)
		if !ok {
			return events, p.m.pending()
		}
		if e.Chunk != nil && string(e.Data) != `{"chunk":`+string(e.Chunk)+`}` {
			p.fail("data %s with chunk %s", e.Data, e.Chunk)
		}
		events = append(events, seen{string(e.Type), string(e.Data), string(e.ID), e.Mark})
	}
}

// batch reads a batch as the loader does.
func (p *page) batch() (events []seen, more bool) {
	more = p.m.Batch(&p.events)
	if string(p.events.JSON) == "[]" {
		return nil, more
	}
	var items []json.RawMessage
	if err := json.Unmarshal(p.events.JSON, &items); err != nil || len(items) != len(p.events.Marks) {
		p.fail("batch of %d marks: %v: %s", len(p.events.Marks), err, p.events.JSON)
	}
	for i, item := range items {
		e := seen{typ: `"text_delta"`, mark: int(p.events.Marks[i])}
		switch item[0] {
		case '"':
			e.data = `{"chunk":` + string(item) + `}`
		case '[':
			var pair []json.RawMessage
			if err := json.Unmarshal(item, &pair); err != nil || len(pair) != 2 || json.Unmarshal(pair[1], &e.id) != nil {
				p.fail("item %s", item)
			}
			e.data = `{"chunk":` + string(pair[0]) + `}`
		default:
			var whole struct {
				Type, Data json.RawMessage
				ID         string
			}
			if err := json.Unmarshal(item, &whole); err != nil {
				p.fail("item %s: %v", item, err)
			}
			e.typ, e.data, e.id = string(whole.Type), string(whole.Data), whole.ID
		}
		events = append(events, e)
	}
	return events, more
}

// advance moves the clock on; the timer comes due on the way.
func (p *page) advance(ms int64) {
	until := p.now + ms
	for p.due >= 0 && p.due <= until {
		p.now = p.due
		p.due = -1
		p.m.TimerFired(p.now)
		p.settle()
	}
	p.now = until
}

// settle performs what the machine asks for.
func (p *page) settle() {
	p.move(p.m.status)
	for p.m.Wants() {
		for _, effect := range p.m.Take() {
			if _, abort := effect.(SendAbort); p.over() && !abort {
				p.fail("%T after the end", effect)
			}
			p.perform(effect)
		}
	}
	if p.m.Over() != p.over() {
		p.fail("status %s, finished: %t", p.m.status, p.over())
	}
	if p.over() {
		if _, ok := p.m.next(true); ok || p.m.pending() {
			p.fail("an event after the end")
		}
	}
}

func (p *page) perform(effect retry.Effect) {
	switch e := effect.(type) {
	case retry.Send:
		if p.request {
			p.fail("a request while another is under way")
		}
		p.sends = append(p.sends, e)
		p.request, p.due = true, -1
		p.checkSend(e)
		if !p.keyless {
			p.m.Sent()
		}
		if p.onSend != nil {
			p.onSend(e)
		}
	case retry.Cancel:
		p.request, p.stream, p.body = false, false, 0
		if p.onCancel != nil {
			p.onCancel()
		}
	case retry.ReadBody:
		p.body = e.Limit
		p.request = false // the answer is here, its body is read to the end
	case OpenStream:
		if p.stream {
			p.fail("two streams")
		}
		p.stream = true
	case retry.SetTimer:
		p.due = p.now + e.After
	case retry.StopTimer:
		p.due = -1
	case retry.Log, retry.KeyLate:
	case SendAbort:
		p.aborts++
		if p.aborts > 1 || !p.over() || p.outcome.Status != Cancelled {
			p.fail("abort %d was sent, outcome %v", p.aborts, p.outcome)
		}
	case Finish:
		if p.request || p.stream || p.due >= 0 {
			p.fail("finished with request %t, stream %t, timer %d", p.request, p.stream, p.due)
		}
		o := e.Outcome
		p.outcome, p.ended = &o, p.now
		p.checkOutcome()
	default:
		p.fail("unknown effect %T", effect)
	}
}

func (p *page) checkSend(e retry.Send) {
	most := 1 + p.config.Policy.MaxRetries
	if p.config.Policy.RenewKey {
		most++
	}
	if !p.config.Replay && (len(p.sends) > most || e.Attempt != len(p.sends)) {
		p.fail("request %d is attempt %d of %d", len(p.sends), e.Attempt, most)
	}
	want := p.config.Request
	if e.Request.Path != want.Path || string(e.Request.Body) != string(want.Body) || !slices.Contains(e.Request.Header, api.Field{Name: "Idempotency-Key", Value: "key-1"}) {
		p.fail("request %d is not the first again: %+v", len(p.sends), e.Request)
	}
}

func (p *page) checkOutcome() {
	o := p.outcome
	if o.Status != p.m.status {
		p.fail("outcome %s, status %s", o.Status, p.m.status)
	}
	ok := false
	switch o.Status {
	case Completed:
		ok = o.Err == nil && o.Complete != nil
	case Cancelled:
		ok = o.Err == nil && o.Complete == nil
	case Failed, Interrupted:
		ok = o.Err != nil && o.Complete == nil && o.Err.Code != "" && o.Err.Message != ""
	}
	if !ok {
		p.fail("outcome %+v", *o)
	}
}

// move checks that the status goes queued → streaming → an end.
func (p *page) move(to Status) {
	from := p.status
	legal := from == to || from == Queued || from == Streaming && to != Queued
	if from == Queued && to == Completed || !legal {
		p.fail("from %s to %s", from, to)
	}
	p.status = to
}

var rank = map[string]int{"building": 0, "running": 1, "finished": 2}

// checkTools checks that no tool call goes back.
func (p *page) checkTools() {
	for _, c := range p.m.tools.calls {
		if r := rank[c.status]; r < p.ranks[c] {
			p.fail("call %s went back to %s", c.id, c.status)
		} else {
			p.ranks[c] = r
		}
	}
	if len(p.ranks) > len(p.m.tools.calls) {
		p.fail("a call was lost")
	}
}

// code is the error's code, or the status where there is none.
func (p *page) code() string {
	switch {
	case !p.over():
		return string(p.status)
	case p.outcome.Err != nil:
		return p.outcome.Err.Code
	}
	return string(p.outcome.Status)
}

func (p *page) types() (out []string) {
	for _, s := range p.got {
		out = append(out, s.typ[1:len(s.typ)-1])
	}
	return out
}
