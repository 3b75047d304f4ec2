package heap

// Spoil writes over what the last collection left free, so that tests find who still uses it, whether it is given out again
// or not. It comes right after Collect: what was given out since would be taken for free.
func (h *Heap) Spoil() {
	for i := range h.pages {
		switch p := h.page(i); {
		case p.kind == free && i < h.fresh:
			h.spoil(h.address(i), pageSize)
		case p.kind >= cells:
			size := h.runs[p.kind-cells].size
			for k := range pageSize / size {
				if p.marks[k>>5&7]>>(k&31)&1 == 0 {
					h.spoil(h.address(i)+k*size, size)
				}
			}
		}
	}
}

// spoil leaves no address: no test has memory so far up. It copies, which is one instruction for many bytes: all of memory
// may be written over at every call.
func (h *Heap) spoil(a, n uint32) {
	free := h.bytes(a, n)
	free[0] = 0xDB
	for done := 1; done < len(free); done *= 2 {
		copy(free[done:], free[:done])
	}
}
