package upload

// plan cuts the data, unless it is cut already, and begins to store it.
func (m *Machine) plan() {
	t := &m.transfer
	if t.lanes == nil {
		lay, err := m.protocol.wire.layout(t)
		if err == nil {
			err = t.cut(lay)
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
	if m.resting() || m.renewing && m.asking != nobody {
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
	for m.next < len(m.transfer.lanes) && m.room() {
		l := m.transfer.lanes[m.next]
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
func (m *Machine) wantsAddress() bool { return len(m.waiting) > 0 || m.next < len(m.transfer.lanes) }

func (m *Machine) request(l *lane) Request {
	var r Request
	switch l.role {
	case survey:
		r, _ = m.protocol.wire.survey(&m.transfer, m.continued)
		return r
	case commit:
		r, _ = m.protocol.wire.commit(&m.transfer)
		return r
	}
	return m.protocol.wire.next(&m.transfer, l)
}

// enqueue has a lane tried (again), not before due.
func (m *Machine) enqueue(l *lane, due int64) {
	l.due = due
	m.waiting = append(m.waiting, l)
}

func remove[T any](list []*T, i int) []*T { return append(list[:i], list[i+1:]...) }
