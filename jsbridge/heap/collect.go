package heap

import "unsafe"

// Due reports whether so much was given out since the last collection that another is worth its time. That goes by what has
// to be looked at: a long text costs it nothing, and much of what made it long may be taken back.
func (h *Heap) Due() bool { return h.taken > max(least, h.work) }

// Collect takes back what can't be reached from the package's variables. What lies among those and is as it was before
// anything was given out is no address, most of it constants: a few of them would keep megabytes of a large heap.
func (h *Heap) Collect() {
	for i := range h.pages {
		if p := h.page(i); p.kind >= cells {
			clear(p.marks[:])
		} else if p.kind == head {
			p.marks[0] = 0
		}
	}
	h.live, h.work = 0, h.pages*uint32(unsafe.Sizeof(page{}))
	fixed, own := h.fixed, h.own(h)
	for from, to := h.globals(); from < to; from += 4 {
		if from == own {
			// Numbers of bytes look like addresses.
			from += uint32(unsafe.Sizeof(*h))
		}
		w := *h.word(from)
		if fixed < h.fixedEnd && *h.word(fixed) == from {
			fixed += 8
			if *h.word(fixed - 4) == w {
				continue
			}
		}
		h.reach(w)
		for h.depth > 0 {
			h.depth--
			h.search(*h.word(h.address(h.stack) + h.depth*4))
		}
	}
	if h.most > 0 {
		h.release(h.stack)
		h.most = 0
	}
	for c := range h.runs {
		h.runs[c] = run{size: h.runs[c].size}
	}
	// From the last on, so that the first are used first and the last may become free.
	for i := h.pages; i > 0; i-- {
		switch p := h.page(i - 1); {
		case p.kind == head && p.marks[0] == 0, p.kind >= cells && p.marks == [8]uint32{}:
			h.release(i - 1)
		case p.kind >= cells:
			r := &h.runs[p.kind-cells]
			p.link, r.list = r.list, i
		}
	}
	h.hint, h.wide, h.taken = 0, 0, 0
}

// reach marks the object that an address lies in, if it does.
func (h *Heap) reach(a uint32) {
	i := (a - h.start) >> pageBits
	if i >= h.pages {
		return
	}
	p := h.page(i)
	if p.kind == tail {
		i = p.link
		p = h.page(i)
	}
	switch {
	case p.kind == head:
		if p.marks[0] == 0 {
			p.marks[0] = 1
			h.live += p.link << pageBits
			if pointers(p.marks[1]) {
				h.work += p.link << pageBits
				h.push(h.address(i))
			}
		}
	case p.kind >= cells:
		c := p.kind - cells
		size := h.runs[c].size
		k := a & (pageSize - 1) / size
		bit, marks := uint32(1)<<(k&31), &p.marks[k>>5&7]
		// Behind the last cell there is no other.
		if *marks&bit == 0 && (k+1)*size <= pageSize {
			*marks |= bit
			h.live += size
			if c >= classes {
				h.work += size
				h.push(h.address(i) + k*size)
			}
		}
	}
}

func (h *Heap) push(a uint32) {
	if h.depth == h.most {
		n := max(1, h.most>>(pageBits-2)*2)
		i := h.take(n, raw)
		if h.most > 0 {
			copy(h.bytes(h.address(i), h.most*4), h.bytes(h.address(h.stack), h.most*4))
			h.release(h.stack)
		}
		h.stack, h.most = i, n<<(pageBits-2)
	}
	*h.word(h.address(h.stack) + h.depth*4) = a
	h.depth++
}

// search reaches what an object has the addresses of.
//
// A layout with its lowest bit set has a size in words in the next five, and a bit for each word above them; another is
// the address of the size as a word, and the bits behind it. The layout is that of one element, which repeats. 0 is that
// of an object of which nothing is known.
func (h *Heap) search(a uint32) {
	var end, layout uint32
	if p := h.page((a - h.start) >> pageBits); p.kind == head {
		end, layout = a+p.link<<pageBits, p.marks[1]
	} else {
		end = a + h.runs[p.kind-cells].size - 4
		layout = *h.word(end)
	}
	size, bits, more := uint32(1), uint32(1), uint32(0)
	if layout&1 != 0 {
		size, bits = layout>>1&31, layout>>6
	} else if layout != 0 {
		size, more = *h.word(layout), layout+4
	}
	for k := uint32(0); a < end; a += 4 {
		if w := *h.word(a); w-h.start < h.pages<<pageBits {
			b := bits >> k
			if more != 0 {
				b = uint32(h.bytes(more+k>>3, 1)[0] >> (k & 7))
			}
			if b&1 != 0 {
				h.reach(w)
			}
		}
		if k++; k == size {
			k = 0
		}
	}
}
