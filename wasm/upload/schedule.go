package upload

import (
	"strconv"

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
	alive      bool  // something went or came
	kept       bool  // through a pause, because its last byte had left
}

// sending reports whether a part of the request has still to leave.
func (f *flight) sending() bool { return !f.request.carries() || f.sent < f.request.To-f.request.From }

// plan cuts the data, unless it is cut already, and begins to store it.
func (m *Machine) plan() {
	s := &m.session
	if s.lanes == nil {
		lay, err := m.protocol.wire.layout(s)
		if err == nil {
			err = s.cut(lay)
		}
		if err != nil {
			m.fail(err)
			return
		}
	}
	m.next, m.low, m.continued = 0, 0, false
	m.step = storing
}

// room reports whether one more request may be begun. One that has left does not count while its answer is awaited, so
// that the line is not idle for a round trip, but for half as many at most: the default is then what a browser has
// connections for (six a host with HTTP/1.1). On the service's own host some are left to the service.
func (m *Machine) room() bool {
	sending, most := 0, m.config.Concurrency
	all := most + most/2
	for _, f := range m.flights {
		if f.sending() {
			sending++
		}
		if f.host == m.serviceHost {
			all = most
		}
	}
	return sending < most && len(m.flights) < all
}

// schedule begins what may be begun, in order, what failed before what is new.
func (m *Machine) schedule() {
	if m.held() || m.renewing && m.asking != nobody {
		return
	}
	if m.renewing || m.expiresAt != 0 && m.now >= m.expiresAt && m.wantsAddress() {
		m.renew()
		return
	}
	for i := 0; i < len(m.waiting) && m.room(); {
		l := m.waiting[i]
		if l.due > m.now || !m.inWindow(l) {
			i++
			continue
		}
		m.waiting = remove(m.waiting, i)
		m.launch(l, m.request(l))
	}
	if m.step != storing {
		return
	}
	for m.next < len(m.session.lanes) && m.room() {
		l := m.session.lanes[m.next]
		if !l.done && !m.inWindow(l) {
			return
		}
		m.next++
		if l.done {
			m.sum.want = max(m.sum.want, l.to)
			continue
		}
		m.launch(l, m.request(l))
	}
}

// wantsAddress reports whether something is left to be sent: an address is not renewed for nothing.
func (m *Machine) wantsAddress() bool { return len(m.waiting) > 0 || m.next < len(m.session.lanes) }

func (m *Machine) request(l *lane) Request {
	var r Request
	switch l.role {
	case survey:
		r, _ = m.protocol.wire.survey(&m.session, m.continued)
		return r
	case commit:
		r, _ = m.protocol.wire.commit(&m.session)
		return r
	}
	return m.protocol.wire.next(&m.session, l)
}

func (m *Machine) launch(l *lane, r Request) {
	m.lastID++
	if l.role == commit {
		m.session.commits++
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

// enqueue has a lane tried (again), not before due.
//
//go:noinline
func (m *Machine) enqueue(l *lane, due int64) {
	l.due = due
	m.waiting = append(m.waiting, l)
}

// letGo cancels a request.
func (m *Machine) letGo(i int) {
	m.Emit(CancelStore{m.flights[i].id})
	m.flights[i].slot.Close()
	m.flights = remove(m.flights, i)
}

func remove[T any](list []*T, i int) []*T { return append(list[:i], list[i+1:]...) }

// land takes the flight out, nil where there is none of that id (any more).
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
		m.protocol.wire.surveyed(&m.session, &a)
		m.plan()
	case commit:
		v := m.protocol.wire.committed(&m.session, &a)
		if v.outcome == onward {
			m.session.committed, m.save = true, true
			break
		}
		m.judge(f, v, &a)
	default:
		m.judge(f, m.protocol.wire.answered(&m.session, l, &f.request, &a), &a)
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

// judge goes on after an answer to a block or a commit.
func (m *Machine) judge(f *flight, v verdict, a *Answer) {
	l := f.lane
	switch v.outcome {
	case onward:
		m.moved(f)
	case again:
		after, told := retry.After(a.get("retry-after"), m.now)
		m.retry(l, v.err, after, told)
	case expired:
		m.refuse(f, v.err)
	case gone:
		m.restart(l, v.err)
	case failed:
		m.blame(l, v.err)
	}
}

// moved goes on with a lane that the store understood.
func (m *Machine) moved(f *flight) {
	l := f.lane
	m.save, m.worked = true, true
	if l.done || l.at > l.best {
		l.best, l.tries, m.renewals = max(l.best, l.at), 0, 0
	} else if f.request.carries() {
		m.retry(l, passing("storage_unavailable", "the storage accepted a block and kept nothing of it"), 0, false)
		return
	}
	if !l.done {
		m.enqueue(l, 0)
	}
}

const retryAfterMost = 60_000

// retry waits and tries once more, or gives up with err.
func (m *Machine) retry(l *lane, err *api.Error, after int64, told bool) {
	l.unsure = true
	if m.offline {
		m.enqueue(l, 0)
		return
	}
	l.tries++
	giveUp := l.tries >= m.config.BlockTries || told && after > retryAfterMost
	if giveUp && l.role == survey {
		m.plan() // its answer is welcome, not needed
		return
	}
	if giveUp {
		err.RetryAfter, err.HasRetry = after, told
		m.blame(l, err)
		return
	}
	if !told {
		after = retry.Backoff(l.tries-1, m.config.Policy.Jitter())
	}
	m.log("warn", "trying a block again", err,
		retry.Field{Name: "block", Value: int64(m.blockOf(l))}, retry.Field{Name: "attempt", Value: int64(l.tries)}, retry.Field{Name: "waitMs", Value: after})
	m.enqueue(l, m.now+after)
}

// blockOf is the index of the block that a lane is at, -1 where it is none's.
func (m *Machine) blockOf(l *lane) int {
	if l.role != data {
		return -1
	}
	return int(min(l.at/m.session.block, m.session.blocks()-1))
}

// blame fails the upload for one lane.
func (m *Machine) blame(l *lane, err *api.Error) {
	if l.role == data {
		err.Block, err.HasBlock = m.blockOf(l), true
		err.Message += " (block " + strconv.Itoa(err.Block) + " of " + strconv.FormatInt(m.session.blocks(), 10) + ")"
	}
	m.fail(err)
}

const (
	mostRenewals = 2 // without progress
	mostRestarts = 2
)

// refuse has the address renewed that the store does not accept. Of several blocks that are refused together only the
// first asks.
func (m *Machine) refuse(f *flight, err *api.Error) {
	if f.generation == m.generation {
		if m.renewals >= mostRenewals {
			err.Message += "; a new address from the service did not help"
			m.blame(f.lane, err)
			return
		}
		m.renewing, m.refused = true, err
	}
	m.enqueue(f.lane, 0)
}

// restart begins a lane anew of which the store has nothing any more; after a commit, all of them.
func (m *Machine) restart(l *lane, err *api.Error) {
	m.restarts++
	if m.restarts > mostRestarts || m.config.Once {
		m.blame(l, err)
		return
	}
	m.log("warn", "beginning anew", err)
	m.save = true
	if l.role == data {
		m.session.reset(l)
		m.enqueue(l, 0)
		return
	}
	m.restartAll()
}

// restartAll takes every lane as not stored, and asks the store where it can tell.
func (m *Machine) restartAll() {
	for len(m.flights) > 0 {
		m.letGo(0)
	}
	m.waiting = nil
	for _, l := range m.session.lanes {
		m.session.reset(l)
		l.tries, l.due = 0, 0
	}
	m.continued, m.save = true, true
	m.step = surveying
}

const (
	slept = 2_000 // a timer that comes so much late shows that the machine slept
	grace = 5_000 // for what had arrived meanwhile to be told
)

// lively is when a request last gave a sign of life. One of which nothing went may still be waiting for a connection that
// another has: then its host's traffic counts.
func (m *Machine) lively(f *flight) int64 {
	if f.alive {
		return f.moved
	}
	return max(f.moved, f.slot.Lively())
}

// limit is how long a request may give no sign of life. Stores take their time to make one thing of the blocks, and what
// they say meanwhile Chromium may hold back until it knows the type of the answer.
func (m *Machine) limit(f *flight) int64 {
	if f.kept {
		// Who pauses and resumes may do so because nothing moves.
		return min(m.config.BlockTimeout, 10_000)
	}
	if f.lane.role == commit {
		return 5 * m.config.BlockTimeout
	}
	return m.config.BlockTimeout
}

// wantsData reports whether bytes of the data are being waited for.
func (m *Machine) wantsData() bool {
	if m.config.DataTimeout <= 0 || m.paused || m.step >= reporting {
		return false
	}
	for _, f := range m.flights {
		if !f.begun {
			return true // also where there are none: a stream has to end
		}
	}
	return m.sum.flying
}

// checkData ends an upload whose data has given nothing for too long. due is when the timer should have come.
func (m *Machine) checkData(due int64) {
	limit := m.config.DataTimeout
	if !m.wantsData() {
		return
	}
	if due != 0 && m.now-due > slept {
		m.dataAt = max(m.dataAt, m.now-limit+min(grace, limit))
	}
	if m.dataAt+limit <= m.now {
		m.fail(passing("data_timeout", "the data gave nothing for "+strconv.FormatInt(limit, 10)+" ms (option dataTimeout): does its source still work?"))
	}
}

// checkStalls tries again what has made no progress for too long. due is when the timer should have come.
func (m *Machine) checkStalls(due int64) {
	limit := m.config.BlockTimeout
	if limit <= 0 || m.step >= closing {
		return
	}
	if due != 0 && m.now-due > slept {
		for _, f := range m.flights {
			f.moved = max(f.moved, m.now-limit+min(grace, limit))
		}
	}
	for i := 0; i < len(m.flights); {
		f := m.flights[i]
		if !f.begun || m.lively(f)+m.limit(f) > m.now {
			i++
			continue
		}
		m.letGo(i)
		m.retry(f.lane, passing("block_timeout",
			"the storage took nothing for "+strconv.FormatInt(m.limit(f), 10)+" ms (option blockTimeout)"), 0, false)
		if m.step >= closing {
			return
		}
	}
}

// lowest is the first byte that may be asked for again.
func (m *Machine) lowest() int64 {
	low := m.config.Size
	lanes := m.session.lanes
	for m.low < len(lanes) && lanes[m.low].done {
		m.low++
	}
	if m.low < len(lanes) {
		low = lanes[m.low].at
	}
	if m.config.Checksum == ChecksumDuring && m.sum.value == "" {
		low = min(low, m.sum.at)
	}
	return low
}

// inWindow reports whether a lane's next block may be read, of data that has to be kept until it is stored.
func (m *Machine) inWindow(l *lane) bool {
	return !m.config.Once || l.role != data || l.at < m.lowest()+int64(m.config.Concurrency)*m.session.block
}

func (m *Machine) release() {
	if !m.config.Once || m.session.lanes == nil || m.step >= closing {
		return
	}
	if low := m.lowest(); low > m.released {
		m.released = low
		m.Emit(Release{low})
	}
}

// host is where an address leads, for a message: never its query.
func host(address string) string {
	return place(resolve(address, "/"))
}
