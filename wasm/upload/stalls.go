package upload

import "strconv"

const (
	slept = 2_000 // ms: a timer that comes so much too late shows that the machine slept
	grace = 5_000 // ms after a sleep, for the page to hear what had arrived
)

// lively is when a request last gave a sign of life. One that has sent nothing yet may be waiting for a connection: then
// any traffic with its host counts.
func (m *Machine) lively(f *flight) int64 {
	if f.alive {
		return f.moved
	}
	return max(f.moved, f.slot.Lively())
}

// limit is how long a request may give no sign of life. A commit gets more: stores need time to join the blocks, and the
// signs of life that they send meanwhile may be held back by Chromium until it knows the type of the answer.
func (m *Machine) limit(f *flight) int64 {
	if f.spared {
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
			return true // even where it has no bytes: a stream has still to end
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
