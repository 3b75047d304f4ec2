package upload

import (
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
)

// flight is a request to the store under way.
type flight struct {
	id         int
	lane       *lane
	request    Request
	generation int // of the address that it was made with
	host       string
	begun      bool // its bytes are read, and the browser has it
	slot       *retry.Slot
	sent       int64 // bytes of the body
	moved      int64 // when it last made progress
	alive      bool  // bytes of it went out, or of its answer came
	spared     bool  // by a pause, because its last byte had left
}

// sending reports whether a part of the request has still to leave.
func (f *flight) sending() bool { return !f.request.carries() || f.sent < f.request.To-f.request.From }

func (m *Machine) launch(l *lane, r Request) {
	m.lastID++
	if l.role == commit {
		m.transfer.commits++
		m.save = true
	}
	if !m.wantsData() {
		m.dataAt = m.now
	}
	l.sent = max(l.sent, r.To)
	r.Want = append(r.Want[:len(r.Want):len(r.Want)], "retry-after")
	m.flights = append(m.flights, &flight{id: m.lastID, lane: l, request: r, generation: m.generation, host: host(resolve(m.config.Service, r.URL)), moved: m.now})
	m.sum.want = max(m.sum.want, r.To)
	m.Emit(Store{m.lastID, r})
}

// letGo cancels a request.
func (m *Machine) letGo(i int) {
	m.Emit(CancelStore{m.flights[i].id})
	m.flights[i].slot.Close()
	m.flights = remove(m.flights, i)
}

// land ends the flight of that id and returns it; nil where there is none, or none any more.
func (m *Machine) land(id int) *flight {
	for i, f := range m.flights {
		if f.id == id {
			m.flights = remove(m.flights, i)
			m.config.Policy.Connections.Moved(f.host)
			f.slot.Close()
			return f
		}
	}
	return nil
}

// StoreBegun tells that the bytes of a request are read and that the browser has been given it: from now on the store is
// waited for, and no longer the data.
func (m *Machine) StoreBegun(now int64, id int) {
	m.now, m.dataAt = now, now
	for _, f := range m.flights {
		if f.id == id && !f.begun {
			f.begun, f.moved = true, now
			f.slot = m.config.Policy.Connections.Open(f.host)
			if f.slot.Waiting() {
				m.log("info", "waiting for a connection", nil, retry.Field{Name: "host", Value: f.host})
			}
		}
	}
	m.arm()
}

// DataMoved tells that the data gave some bytes.
func (m *Machine) DataMoved(now int64) { m.dataAt = max(m.dataAt, now) }

// StoreAlive tells that bytes of the answer came: a store that takes its time may say so.
func (m *Machine) StoreAlive(now int64, id int) {
	for _, f := range m.flights {
		if f.id == id {
			f.moved, f.alive = now, true
			f.slot.Held()
		}
	}
}

// StoreProgress tells how many bytes of a request's body were sent.
func (m *Machine) StoreProgress(now int64, id int, sent int64) {
	m.now = now
	for _, f := range m.flights {
		if f.id == id && sent > f.sent {
			f.sent, f.moved, f.alive = sent, now, true
			f.slot.Held()
			m.config.Policy.Connections.Moved(f.host)
			if f.sending() {
				m.show()
				m.arm()
			} else {
				m.proceed()
			}
			return
		}
	}
}

// StoreAnswered tells the answer to a request: the headers that were wanted, as far as CORS shows them, and at most
// 64 KiB of the body.
func (m *Machine) StoreAnswered(now int64, id int, a Answer) {
	m.now = now
	f := m.land(id)
	if f == nil {
		return
	}
	l := f.lane
	switch l.role {
	case survey:
		if api.Transient(a.Status) {
			m.judge(f, refusal("a question", &a), &a)
			break
		}
		m.protocol.wire.surveyed(&m.transfer, &a)
		m.plan()
	case commit:
		v := m.protocol.wire.committed(&m.transfer, &a)
		if v.outcome == onward {
			m.transfer.committed, m.save = true, true
			break
		}
		m.judge(f, v, &a)
	default:
		m.judge(f, m.protocol.wire.answered(&m.transfer, l, &f.request, &a), &a)
	}
	m.proceed()
}

// StoreFailed tells that a request got no answer; detail is the browser's own word for it, offline whether it knows of
// no network.
func (m *Machine) StoreFailed(now int64, id int, detail string, offline bool) {
	m.now = now
	f := m.land(id)
	if f == nil {
		return
	}
	if offline {
		m.lostNetwork()
	}
	err := passing(unreachable, "the storage at "+host(f.request.URL)+
		" could not be reached: check the network, and that its CORS rules allow this page's origin, the method "+f.request.Method+" and the headers sent")
	if detail != "" {
		err.Message += " (" + detail + ")"
	}
	if l := f.lane; m.worked && m.renewals == 0 && !m.offline && l.role != survey && l.tries+1 >= m.config.BlockTries {
		// A store that worked until now may refuse in a way that this page is not allowed to see: without CORS headers.
		l.tries = 0
		m.refuse(f, err)
	} else {
		m.retry(l, err, 0, false)
	}
	m.proceed()
}

// unreachable is the code of a store that gives no answer.
const unreachable = "storage_unreachable"
