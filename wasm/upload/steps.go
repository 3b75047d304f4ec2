package upload

import "github.com/seed-76f09577/turnwire/wasm/retry"

type step int

const (
	idle step = iota
	summingFirst
	registering
	surveying
	storing
	committing
	summing
	reporting
	processing
	closing // the service is told that it failed
	over
)

// proceed does all that can be done now. Every input ends in it.
func (m *Machine) proceed() {
	if m.step == over || m.step == idle {
		return
	}
	m.release()
	for m.advance() {
	}
	if m.step == over {
		return
	}
	m.pumpHash()
	if m.save && m.config.Resumable {
		m.Emit(Save{})
	}
	m.save = false
	m.show()
	m.arm()
}

// advance does what the step needs and reports whether it led to another.
func (m *Machine) advance() bool {
	was := m.step
	switch m.step {
	case summingFirst:
		if m.sum.value != "" {
			m.step = registering
		}
	case registering:
		if !m.resting() {
			m.register()
		}
	case surveying:
		if m.underWay() {
			m.schedule()
		} else if _, ok := m.protocol.wire.survey(&m.transfer, m.continued); !ok {
			m.plan()
		} else {
			m.enqueue(&lane{role: survey}, 0)
			m.schedule()
		}
	case storing:
		m.schedule()
		if m.step == storing && m.next == len(m.transfer.lanes) && !m.underWay() {
			m.step = committing
		}
	case committing:
		if !m.underWay() && !m.transfer.committed {
			if _, ok := m.protocol.wire.commit(&m.transfer); ok {
				m.enqueue(&lane{role: commit}, 0)
			} else {
				m.transfer.committed, m.save = true, true
			}
		}
		if m.transfer.committed {
			m.step = summing
			break
		}
		m.schedule()
	case summing:
		if m.config.Checksum == NoChecksum || m.sum.value != "" {
			m.step = reporting
		}
	case reporting:
		if m.asking == nobody && !m.resting() && m.report.due <= m.now {
			m.askReport()
		}
	case closing:
		if m.asking != nobody {
			break
		}
		if m.offline {
			m.untold, m.failures = append(m.untold, m.failures...), nil
		}
		if len(m.failures) == 0 {
			m.finish()
			break
		}
		m.reportFailure()
	}
	return m.step != was && m.step != over
}

func (m *Machine) underWay() bool { return len(m.flights)+len(m.waiting) > 0 }

// arm sets the timer to the earliest moment at which something is due. A timer that comes too early is left as it is.
func (m *Machine) arm() {
	due := int64(0)
	add := func(at int64) {
		if at != 0 && (due == 0 || at < due) {
			due = at
		}
	}
	if !m.resting() && !m.renewing {
		for _, l := range m.waiting {
			if l.due > m.now {
				add(l.due)
			}
		}
	}
	if m.config.BlockTimeout > 0 {
		for _, f := range m.flights {
			if f.begun {
				add(m.lively(f) + m.limit(f))
			}
		}
	}
	if m.wantsData() {
		add(m.dataAt + m.config.DataTimeout)
	}
	if m.step == reporting && m.asking == nobody && !m.resting() {
		add(m.report.due)
	}
	if m.offline && m.step < closing {
		add(m.offlineDue)
	}
	add(m.waitDue)
	add(m.progress.due())
	switch {
	case due == 0 && m.timer != 0:
		m.timer = 0
		m.Emit(retry.StopTimer{})
	case due != 0 && (m.timer == 0 || due < m.timer):
		m.timer = due
		m.Emit(retry.SetTimer{After: max(due-m.now, 0)})
	}
}
