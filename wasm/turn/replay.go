package turn

import (
	"strconv"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/json"
	"github.com/seed-76f09577/turnwire/wasm/retry"
)

// A turn may say that its service replays it to the idempotency key that began it (profile, "Idempotency and retry"). A
// stream that breaks is then asked for again, and what it brings is compared with what was delivered: by event id where
// every event has one, else channel by channel, because a replay may cut its text into other fragments. An event counts
// as new only once the replay has shown all that was delivered; where it differs, nothing of it is delivered.

// delivered is what a replay is compared with, beside the turn's text, reasoning and fragments of arguments.
type delivered struct {
	ids       ids
	anonymous bool     // some event had no id of its own
	hashes    []uint64 // of the events that are no fragments, in order
}

func (d *delivered) add(m *message) {
	if m.id == nil || !d.ids.add(m.id, m.hash()) {
		d.anonymous = true
	}
	if !m.fragment() {
		d.hashes = append(d.hashes, m.hash())
	}
}

// identifies reports whether the ids tell events apart. One alone does not show that: a service may give all events of
// a turn the same.
func (d *delivered) identifies() bool { return !d.anonymous && d.ids.count > 1 }

// fragment reports whether a replay may cut the event's content elsewhere.
func (m *message) fragment() bool {
	switch m.kind {
	case textDelta:
		return json.IsString(m.chunk)
	case reasoningDelta:
		return reasoningChunk(*m) != nil
	case toolCallDelta:
		return json.IsString(argumentFragment(m.data))
	}
	return false
}

// hash is FNV-1a over type and payload.
func (m *message) hash() uint64 {
	h := uint64(14695981039346656037)
	for _, part := range [][]byte{m.typ, m.data} {
		for _, c := range part {
			h = (h ^ uint64(c)) * 1099511628211
		}
	}
	return h
}

// replay is how much of what was delivered a replay has shown again.
type replay struct {
	begun     bool
	byID      bool
	place     int    // of the event that came last, by id; -1 before any
	text      []byte // what it has shown of each channel
	reasoning []byte
	matched   int      // of the hashes, how many have come again
	tools     tools    // follows the replay's events, to know whose a fragment is
	fragments [][]byte // of each of its calls
}

// breakOff ends a stream that did not complete: with err, or by asking for a replay.
func (m *Machine) breakOff(err *api.Error) {
	m.offline = m.config.Replay && m.config.Offline()
	// Waiting for the network costs no try: that it is gone is no fault of the service's. See TimerFired.
	if !m.config.Replay || m.breaks >= m.config.Policy.MaxRetries && !m.offline {
		m.finish(Interrupted, err)
		return
	}
	m.why = err
	m.exchange.Cancel()
	m.Emit(retry.Cancel{})
	request := m.config.Request
	if id := m.parser.LastEventID(); len(id) > 0 && m.delivered.identifies() {
		m.lastID = string(json.ToUTF8(id))
	}
	if m.lastID != "" {
		again := *request
		again.Header = append(request.Header[:len(request.Header):len(request.Header)], api.Field{Name: "Last-Event-ID", Value: byteString(m.lastID)})
		request = &again
	}
	m.exchange = retry.NewExchange(request, m.config.Policy, m.Emit)
	m.parser.Reset()
	m.number, m.looked, m.ended, m.onHold = 0, false, streamEnd{}, false
	m.replay = &replay{place: -1}
	m.phase = between
	wait := retry.Backoff(m.breaks, m.config.Policy.Jitter())
	m.breaks++
	message := "asking for a replay"
	if m.offline {
		// The browser says when there is a network again; a try after a while is for one that is wrong about it.
		wait, message = m.config.IdleTimeout, "waiting for the network"
	}
	m.Emit(retry.Log{Level: "warn", Message: message, Fields: []retry.Field{{Name: "path", Value: request.Path}, {Name: "code", Value: err.Code}, {Name: "waitMs", Value: wait}}})
	m.due = 0
	if wait > 0 || !m.offline {
		m.Emit(retry.SetTimer{After: wait})
	}
}

// byteString gives each byte of the text a character of its own: fetch takes a header as such (Web IDL, "ByteString"), and
// what arrives is the text's UTF-8, as EventSource sends it.
func byteString(text string) string {
	out := make([]rune, len(text))
	for i := range out {
		out[i] = rune(text[i])
	}
	return string(out)
}

// Online tells that the browser has a network again.
func (m *Machine) Online() {
	if m.phase == between && m.offline && !m.Over() {
		m.breaks--
		m.ask()
	}
}

// ask sends the message again, under the same idempotency key.
func (m *Machine) ask() {
	m.offline = false
	m.phase = asking
	m.Emit(retry.StopTimer{})
	m.exchange.Start()
}

type verdict int

const (
	fresh     verdict = iota // not delivered before, perhaps cut to the part that was not
	known                    // delivered before
	different                // not what was delivered
)

// admit compares an event of a replay with what was delivered.
func (m *Machine) admit(e *message) verdict {
	r := m.replay
	if !r.begun {
		r.begun = true
		r.byID = e.id != nil && m.delivered.identifies()
	}
	v := fresh
	switch {
	case e.kind == errorEvent:
		// The service says that it failed: that is news, however far the replay has come.
	case r.byID:
		v = m.admitByID(r, e)
	default:
		v = m.admitByContent(r, e)
	}
	if v == fresh {
		m.replay = nil
	}
	return v
}

// admitByID goes by the ids: the stream went on after the last event, or began anew with events that are known.
func (m *Machine) admitByID(r *replay, e *message) verdict {
	if e.id == nil {
		return different
	}
	seen, ok := m.delivered.ids.get(e.id)
	switch {
	case !ok && r.place >= 0 && r.place != m.delivered.ids.count-1:
		return different
	case !ok:
		return fresh
	case r.place >= 0 && seen.place != r.place+1, seen.hash != e.hash():
		return different
	}
	r.place = seen.place
	return known
}

func (m *Machine) admitByContent(r *replay, e *message) verdict {
	if e.chunk != nil {
		// Where the payload stands beside its type, data is a copy, and chunk is not a part of it.
		e.chunk = json.Members(e.data, "chunk")[0]
	}
	switch {
	case e.kind == textDelta && e.fragment():
		return m.overlap(r, e, e.chunk, m.text, &r.text)
	case e.kind == reasoningDelta && e.fragment():
		return m.overlap(r, e, reasoningChunk(*e), m.reasoning, &r.reasoning)
	}
	i := -1
	if e.kind >= toolCallStarted && e.kind <= toolResult {
		i = r.tools.apply(e.kind, e.data).place
		for len(r.fragments) <= i {
			r.fragments = append(r.fragments, nil)
		}
	}
	if e.kind == toolCallDelta && e.fragment() {
		var fragments []byte
		if i < len(m.tools.calls) {
			if m.tools.calls[i].id != r.tools.calls[i].id {
				return different
			}
			fragments = m.tools.calls[i].fragments
		}
		return m.overlap(r, e, argumentFragment(e.data), fragments, &r.fragments[i])
	}
	if r.matched == len(m.delivered.hashes) {
		return m.caughtUp(r)
	}
	r.matched++
	if m.delivered.hashes[r.matched-1] != e.hash() {
		return different
	}
	return known
}

// overlap compares a fragment with its channel; shown is what the replay has brought of that channel. Of a fragment
// that goes beyond, e keeps the part that is new. Each may end in half a character where the other does not.
func (m *Machine) overlap(r *replay, e *message, fragment, channel []byte, shown *[]byte) verdict {
	before, from := covers(*shown, channel), len(withoutHalf(*shown))
	*shown = json.AppendString(*shown, fragment)
	a, b := withoutHalf(*shown), withoutHalf(channel)
	half, delivered := (*shown)[len(a):], channel[len(b):]
	if n := min(len(a), len(b)); n > from && json.View(a[from:n]) != json.View(b[from:n]) {
		return different
	}
	switch {
	case len(a) < len(b), len(a) == len(b) && len(half) == 0:
		return known
	case len(a) == len(b) && len(delivered) > 0:
		if json.View(half) != json.View(delivered) {
			return different
		}
		return known
	}
	if v := m.caughtUp(r); v != fresh || before {
		return v
	}
	rest := (*shown)[len(b):]
	if len(delivered) > 0 {
		var ok bool
		if rest, ok = json.AfterHalf(rest, delivered); !ok {
			return different
		}
	}
	quoted := json.QuoteHalves(nil, rest)
	at := cap(e.data) - cap(fragment) // fragment is a part of e.data, so their capacities tell where
	data := append(append(append([]byte(nil), e.data[:at]...), quoted...), e.data[at+len(fragment):]...)
	if e.kind != toolCallDelta && json.IsString(e.chunk) {
		e.chunk = data[at : at+len(quoted)]
	}
	e.data = data
	return fresh
}

// covers reports whether a replay has shown all of a channel.
func covers(shown, channel []byte) bool {
	a, b := len(withoutHalf(shown)), len(withoutHalf(channel))
	return a > b || a == b && (json.EndsInHalf(shown) || !json.EndsInHalf(channel))
}

// caughtUp is the verdict on something that was not delivered: it is new if everything that was has been shown again.
func (m *Machine) caughtUp(r *replay) verdict {
	if !covers(r.text, m.text) || !covers(r.reasoning, m.reasoning) || r.matched < len(m.delivered.hashes) {
		return different
	}
	for i, c := range m.tools.calls {
		if len(c.fragments) > 0 && (i >= len(r.fragments) || !covers(r.fragments[i], c.fragments)) {
			return different
		}
	}
	return fresh
}

func mismatch(number int) *api.Error {
	return &api.Error{Kind: api.KindMismatch, Code: "replay_mismatch",
		Message: "event " + strconv.Itoa(number) + " of the replayed stream is not what was delivered before: nothing of the replay was delivered"}
}
