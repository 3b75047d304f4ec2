package jsbridge

// A range is hashed between HashBegin and HashEnd, without another in between: what one leaves the next goes on with, so
// that it may be hashed by another instance too.

// HashBegin is page.Module's.
func (b *Bridge) HashBegin(state []byte) (ok bool) {
	b.hash.Reset()
	return len(state) == 0 || b.hash.Restore(state)
}

// HashWrite is page.Module's.
func (b *Bridge) HashWrite(bytes []byte) { b.hash.Write(bytes) }

// HashEnd is page.Module's.
func (b *Bridge) HashEnd(last bool) []byte {
	if last {
		sum := b.hash.Sum()
		b.left = append(b.left[:0], sum[:]...)
	} else {
		b.left = b.hash.AppendState(b.left[:0])
	}
	return b.left
}
