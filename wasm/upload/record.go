package upload

import (
	"strconv"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/json"
)

// recordForm is the record's version, which changes with its form: a record of another is not continued.
const recordForm = 3

// What a record has of an upload.
const (
	recordVersion = iota
	recordData
	recordTicket
	recordSum
	recordHashed
	recordHasher
	recordAble
	recordCommitted
	recordCommits
	recordReporting
	recordReported
	recordBlock
	recordSpan
	recordLanes
)

var recordMembers = []string{
	recordVersion: "version", recordData: "data", recordTicket: "ticket",
	recordSum: "sum", recordHashed: "hashed", recordHasher: "hasher",
	recordAble: "able", recordCommitted: "committed", recordCommits: "commits",
	recordReporting: "reporting", recordReported: "reported",
	recordBlock: "block", recordSpan: "span", recordLanes: "lanes",
}

// Record is what a later page needs to go on, as JSON; of an upload that was given up, what the service has to be told.
// It holds signed addresses: keep it where only this origin reads.
func (m *Machine) Record() []byte {
	recorded := m.step < closing || m.keep
	var space []byte
	if recorded {
		// All at once: a ticket may have megabytes of addresses, and growing by steps would take them several times.
		space = make([]byte, 0, len(m.transfer.ticketText())+100*len(m.transfer.lanes)+1000)
	}
	w := json.WriterTo(space)
	w.Open("", '{')
	w.Int("version", recordForm)
	if failed := append(m.untold[:len(m.untold):len(m.untold)], m.failures...); len(failed) > 0 {
		w.Open("abandoned", '[')
		for _, f := range failed {
			w.String("", f.FileID)
			w.String("", f.Why)
		}
		w.Close(']')
	}
	if recorded {
		m.record(w)
	}
	w.Close('}')
	return w.Text()
}

func (m *Machine) record(w *json.Writer) {
	t := &m.transfer
	w.String("data", m.identity())
	w.Raw("ticket", t.ticketText())
	w.String("sum", m.sum.value)
	if m.sum.state != "" {
		w.Int("hashed", m.sum.at)
		w.String("hasher", m.sum.state)
	}
	w.Bool("able", t.able)
	w.Bool("committed", t.committed)
	w.Int("commits", int64(t.commits))
	w.Bool("reporting", m.report.begun)
	w.Bool("reported", m.reported)
	w.Int("block", t.block)
	w.Int("span", t.span)
	w.Open("lanes", '[')
	for _, l := range t.lanes {
		if l.at == l.from && l.url == "" && !l.done {
			continue
		}
		w.Open("", '[')
		w.Int("", int64(l.index))
		w.Int("", l.at)
		w.Bool("", l.done)
		if l.url != "" || l.tag != "" {
			w.String("", l.url)
			w.String("", l.tag)
		}
		w.Close(']')
	}
	w.Close(']')
}

func isTrue(value []byte) bool { return json.View(value) == "true" }

// identity tells the data, and what the service was told of it, from others.
func (m *Machine) identity() string {
	c := &m.config
	sum := "hex"
	if c.Base64 {
		sum = "base64"
	}
	if c.Checksum == ChecksumKnown {
		sum += c.KnownSum
	}
	return c.Name + "\x00" + strconv.FormatInt(c.Size, 10) + "\x00" + c.ContentType + "\x00" + c.Purpose + "\x00" + sum + "\x00" + c.Fingerprint
}

// Restored begins with a record that Save kept: the upload goes on where it is of the same data, else it begins anew, and
// the service is told that the other one failed.
func (m *Machine) Restored(now int64, record []byte) {
	if m.step != idle {
		return
	}
	m.now = now
	if !json.Valid(record) {
		m.Start(now)
		return
	}
	for failed := json.Items(json.Members(record, "abandoned")[0]); len(failed) > 1; failed = failed[2:] {
		m.abandon(json.String(failed[0]), json.String(failed[1]))
	}
	r := json.Members(record, recordMembers...)
	ticket, err := api.ParseTicket(&api.Request{}, &api.Response{}, r[recordTicket])
	version, _ := json.Int(r[recordVersion])
	p, unknown := recognise(ticket)
	m.transfer.ticket = ticket
	if err != nil || unknown != nil || version != recordForm || json.String(r[recordData]) != m.identity() || m.config.Once ||
		!m.relay(r[recordBlock], r[recordSpan], r[recordLanes]) || !m.transfer.addressed(p) {
		m.transfer.ticket, m.transfer.lanes, m.transfer.acked, m.transfer.block = &api.Ticket{}, nil, 0, 0
		// One of which the service may have been told that it is stored is its own matter.
		if !isTrue(r[recordReporting]) {
			m.abandon(ticket.FileID, notContinued)
		}
		m.Start(now)
		return
	}
	m.transfer.able, m.transfer.committed = isTrue(r[recordAble]), isTrue(r[recordCommitted])
	if n, ok := json.Int(r[recordCommits]); ok {
		m.transfer.commits = int(min(max(n, 0), 1))
	}
	m.report.begun, m.reported = isTrue(r[recordReporting]), isTrue(r[recordReported])
	m.takeSum(r[recordSum], r[recordHashed], r[recordHasher])
	m.continued = true
	m.protocol = *p
	m.resume(expiry(ticket))
	m.proceed()
}

// resume finds the step at which a restored upload goes on.
func (m *Machine) resume(expires int64) {
	m.expire()
	switch {
	case m.reported && m.config.Wait != nil:
		m.step = processing
		m.beginWait()
	case m.reported:
		m.step = reporting
	case m.transfer.committed:
		m.step = summing
	default:
		m.step = surveying
		m.renewing = expires != 0 && expires <= m.now
	}
}

// takeSum goes on with a saved sum, as far as this upload computes one.
func (m *Machine) takeSum(value, at, state []byte) {
	if m.config.Checksum != ChecksumDuring && m.config.Checksum != ChecksumBefore {
		return
	}
	n, ok := json.Int(at)
	if m.sum.value = json.String(value); m.sum.value == "" && ok && n >= 0 && n <= m.config.Size && json.String(state) != "" {
		m.sum.at, m.sum.state, m.sum.resume = n, json.String(state), true
	}
}

// relay lays the lanes of a record, and reports whether they fit the data.
func (m *Machine) relay(blockSize, laneSize, lanes []byte) bool {
	t := &m.transfer
	block, ok1 := json.Int(blockSize)
	span, ok2 := json.Int(laneSize)
	if !ok1 || !ok2 || block == 0 {
		return ok1 && ok2 // nothing was cut yet
	}
	if block < 0 || span < block || ceil(t.size, span) > 100_000 {
		return false
	}
	t.block, t.span = block, span
	t.lay()
	for _, l := range t.lanes {
		l.sent = l.to // by whom, is not known any more
	}
	fits := true
	json.EachItem(lanes, func(item []byte) { fits = fits && t.relayLane(json.Items(item)) })
	return fits
}

// relayLane takes what a record has of a lane.
func (t *transfer) relayLane(v [][]byte) bool {
	if len(v) < 3 {
		return false
	}
	index, ok1 := json.Int(v[0])
	at, ok2 := json.Int(v[1])
	done := isTrue(v[2])
	if !ok1 || !ok2 || index < 0 || index >= int64(len(t.lanes)) {
		return false
	}
	l := t.lanes[index]
	if at < l.from || at > l.to || done && at != l.to {
		return false
	}
	t.move(l, at)
	l.best, l.done, l.unsure = at, done, !done
	if len(v) >= 5 {
		l.url, l.tag = json.String(v[3]), json.String(v[4])
	}
	return true
}
