package upload

// lowest is the first byte that may be asked for again.
func (m *Machine) lowest() int64 {
	low := m.config.Size
	lanes := m.transfer.lanes
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
	return !m.config.Once || l.role != data || (l.at-m.lowest())/m.transfer.block < int64(m.config.Concurrency)
}

func (m *Machine) release() {
	if !m.config.Once || m.transfer.lanes == nil || m.step >= closing {
		return
	}
	if low := m.lowest(); low > m.released {
		m.released = low
		m.Emit(Release{low})
	}
}
