package checksum

// A saved state is the version, the number of bytes written, H(i) and the bytes after the last whole block; numbers
// are big-endian, as everything in SHA-256 is.
const (
	stateVersion = 1
	stateSize    = 1 + 8 + 32 // without the tail
)

// maxSize is the number of bytes from which on the length in bits would not fit (FIPS 180-4, section 1).
const maxSize = 1 << 61

// AppendState appends to dst what Restore needs to go on from here: 41 to 104 bytes.
func (h *Hash) AppendState(dst []byte) []byte {
	h.begin()
	var head [stateSize]byte
	head[0] = stateVersion
	putUint64(head[1:], uint64(h.size))
	putState(head[9:], &h.state)
	dst = append(dst, head[:]...)
	return append(dst, h.tail[:h.size%blockSize]...)
}

// Restore makes h the hash that AppendState saved. It returns false, and leaves h as it is, if state is of another
// version or not of the length that it claims: the stream has then to be read again from its start. Damage that keeps
// the length goes unseen.
func (h *Hash) Restore(state []byte) bool {
	if len(state) < stateSize || state[0] != stateVersion {
		return false
	}
	size := getUint64(state[1:])
	if size >= maxSize || uint64(len(state)-stateSize) != size%blockSize {
		return false
	}
	h.size = int64(size)
	for i := range h.state {
		h.state[i] = getUint32(state[9+4*i:])
	}
	copy(h.tail[:], state[stateSize:])
	return true
}

func getUint32(p []byte) uint32 {
	_ = p[3]
	return uint32(p[0])<<24 | uint32(p[1])<<16 | uint32(p[2])<<8 | uint32(p[3])
}

func getUint64(p []byte) uint64 {
	return uint64(getUint32(p))<<32 | uint64(getUint32(p[4:]))
}

func putUint32(p []byte, v uint32) {
	_ = p[3]
	p[0], p[1], p[2], p[3] = byte(v>>24), byte(v>>16), byte(v>>8), byte(v)
}

func putUint64(p []byte, v uint64) {
	putUint32(p, uint32(v>>32))
	putUint32(p[4:], uint32(v))
}

func putState(p []byte, state *[8]uint32) {
	for i, word := range state {
		putUint32(p[4*i:], word)
	}
}
