package upload

// sum is the SHA-256 of all the data, as far as it is computed.
type sum struct {
	at     int64  // bytes that are in it
	state  string // the hasher's, at that point; "" where it can't be saved
	resume bool   // the next Hash goes on with state
	want   int64  // bytes that may be hashed by now: those that are being sent
	flying bool
	value  string // as the service gets it; "" until it is known
}

// HashState is what a hasher tells: how many bytes it has, where it can its state for a later Hash, and after the last
// range the sum in lower-case hexadecimal.
type HashState struct {
	At    int64
	State string
	Sum   string
}

// Hashed tells that the range of the last Hash is in the sum.
func (m *Machine) Hashed(now int64, h HashState) {
	m.now = now
	if !m.sum.flying || m.step >= closing {
		return
	}
	m.sum.flying, m.dataAt = false, now
	m.sum.at, m.sum.state = h.At, h.State
	if h.Sum != "" {
		m.sum.value = m.encode(h.Sum)
	}
	m.save = m.save || h.State != "" || h.Sum != ""
	m.proceed()
}

// pumpHash asks for the next range. Blocks are hashed as they are sent, while their bytes are near; where that falls
// behind, several at once, for between two ranges the hasher is idle. Those of a stream are kept until they are hashed.
func (m *Machine) pumpHash() {
	s := &m.sum
	if s.flying || s.value != "" || m.step >= closing {
		return
	}
	limit := m.config.Size
	switch m.config.Checksum {
	case ChecksumBefore:
	case ChecksumDuring:
		if m.step < storing {
			return
		}
		if m.step == storing && len(m.transfer.lanes) > 0 {
			limit = min(limit, s.want)
		}
	default:
		return
	}
	most := max(m.transfer.block, defaultBlock)
	if !m.config.Once {
		most *= 4
	}
	to := max(min(s.at+most, limit), s.at)
	if to == s.at && s.at < m.config.Size {
		return
	}
	h := Hash{From: s.at, To: to, Last: to == m.config.Size}
	if s.resume {
		h.State, s.resume = s.state, false
	}
	if !m.wantsData() {
		m.dataAt = m.now
	}
	s.flying = true
	m.Emit(h)
}

// encode turns a sum in hexadecimal into what the service wants.
func (m *Machine) encode(hexadecimal string) string {
	if !m.config.Base64 {
		return hexadecimal
	}
	out := make([]byte, 0, len(hexadecimal)/2)
	for i := 0; i+1 < len(hexadecimal); i += 2 {
		out = append(out, byte(hexDigit(hexadecimal[i])<<4|hexDigit(hexadecimal[i+1])))
	}
	return base64(out)
}
