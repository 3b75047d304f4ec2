// Package heap is the memory of the small module: it gives memory out, and takes back what can't be reached any more.
//
// TinyGo's own collectors may run wherever memory is asked for. Compiled for one of them, code keeps every pointer where the
// collector sees it too: a fifth of the module. This module is compiled for none ("gc": "none"), and Collect runs only where
// a call of the page begins and no other is under way (page's entered). No function then has a pointer that is nowhere else,
// and the variables of packages are the only roots.
//
// Behind those variables memory is pages of 4 KiB; a table says of each what it is. Objects up to 2 KiB are cells in pages
// of cells of one size and kind: those that may hold addresses are searched, and end with a word that says where by TinyGo's
// layout; the others are not. A larger object has pages of its own, and its layout in the table. What was marked and is not
// searched yet is on a stack in pages too, so that no list is too long to be followed.
//
// What is given out is zero and begins at a multiple of 16 bytes. It never moves. The address of any of its bytes keeps all
// of it, be it in a variable or in a word of another object that is kept and may hold one, and so does a number that looks
// like it. All else is free after the next Collect, and not before: cells one by one, for objects of their size and kind, and
// pages where none of the cells is kept for whatever needs them. To the browser nothing goes back, for the memory of a module
// can't shrink.
package heap

import (
	"math/bits"
	"unsafe"
)

const (
	pageBits = 12
	pageSize = 1 << pageBits
	classes  = 16      // of cells: 16, 32 … 128 bytes, then 192, 256, 384 … 2048
	largest  = 1 << 11 // a larger object has pages of its own
	least    = 256 << 10
	text     = 1 << 29 // four letters make a larger number
)

// What a page is.
const (
	free = iota
	raw  // the heap's own
	tail // goes on from the page that link tells
	head // of one object, over as many pages as link tells
	cells
)

// page is what the table has of each. From cells on, kind is that and the class: first those without pointers.
type page struct {
	kind uint32
	link uint32
	// marks are the cells that the last collection reached. Of a head the first tells that, the second is its layout.
	marks [pageSize / 16 / 32]uint32
}

// run is the cells of a class that are given out next, all zero.
type run struct {
	next, end uint32
	size      uint32 // of a cell
	page      uint32 // from which they are, and below which cell it was looked at; a page's number and one, 0 for none
	cell      uint32
	list      uint32 // more pages where some are free
}

// Heap gives out memory from an address on. Its zero value is ready for use.
type Heap struct {
	memory
	start, pages uint32
	table, room  uint32 // where the table is, and for how many pages
	fresh        uint32 // this page and those after it were never used: they are zero
	hint, wide   uint32 // where to look for a free page, and for several
	runs         [2 * classes]run
	stack        uint32 // a page's number: what is marked and not yet searched
	depth, most  uint32
	fixed        uint32 // where pairs of words say of variables that looked like addresses at the start where and what they were
	fixedEnd     uint32
	taken, live  uint32
	work         uint32 // how many bytes the last collection had to look at
}

// Alloc gives the address of so many bytes, which are zero. layout is TinyGo's: which of their words may be addresses.
func (h *Heap) Alloc(size, layout uint32) uint32 {
	if h.room == 0 {
		h.begin()
	}
	need, c := size, uint32(0)
	if pointers(layout) {
		need, c = size+4, classes
	}
	if need > largest {
		return h.large(size, layout)
	}
	if need == 0 {
		need = 1
	}
	c += class(need)
	r := &h.runs[c]
	if r.next == r.end {
		h.refill(c)
	}
	a := r.next
	r.next = a + r.size
	if c >= classes {
		*h.word(r.next - 4) = layout
	}
	return a
}

func pointers(layout uint32) bool { return layout&1 == 0 || layout>>6 != 0 }

func class(size uint32) uint32 {
	n := (size - 1) >> 4
	if n < 8 {
		return n
	}
	k := uint32(bits.Len32(n))
	return 2*k + n>>(k-2)&1
}

func (h *Heap) begin() {
	from, to := h.globals()
	h.start = (to + pageSize - 1) &^ (pageSize - 1)
	for c := range uint32(classes) {
		size := (c + 1) << 4
		if c >= 8 {
			size = (3 + c&1) << (c>>1 + 2)
		}
		h.runs[c].size, h.runs[c+classes].size = size, size
	}
	h.grow(1)
	for ; from < to; from += 4 {
		if w := *h.word(from); w >= h.start && w < text {
			h.push(from)
			h.push(w)
		}
	}
	h.fixed = h.address(h.stack)
	h.fixedEnd = h.fixed + h.depth*4
	h.depth, h.most = 0, 0
}

func (h *Heap) large(size, layout uint32) uint32 {
	n := size >> pageBits
	if size&(pageSize-1) != 0 {
		n++
	}
	i := h.take(n, head)
	h.page(i).marks[1] = layout
	h.taken += n << pageBits
	return h.address(i)
}

// refill finds the next run of a class.
func (h *Heap) refill(c uint32) {
	r := &h.runs[c]
	n, zero := pageSize/r.size, false
	for {
		if r.page != 0 {
			marks := &h.page(r.page - 1).marks
			if i := seek(marks, r.cell, n, ^uint32(0)); i < n {
				r.cell = seek(marks, i, n, 0)
				r.next, r.end = h.address(r.page-1)+i*r.size, h.address(r.page-1)+r.cell*r.size
				h.taken += r.end - r.next
				if !zero {
					h.clear(r.next, r.end-r.next)
				}
				return
			}
		}
		r.page, r.cell = r.list, 0
		if r.page != 0 {
			r.list = h.page(r.page - 1).link
		} else {
			r.page = h.take(1, cells+c) + 1
			zero = true
		}
	}
}

// seek is the first cell from i on, below n, whose mark is set; with invert, is not.
func seek(marks *[8]uint32, i, n, invert uint32) uint32 {
	for i < n {
		if w := (marks[i>>5&7] ^ invert) >> (i & 31); w != 0 {
			return min(n, i+uint32(bits.TrailingZeros32(w)))
		}
		i = i | 31 + 1
	}
	return n
}

// take gives the number of the first of n pages that are zero.
func (h *Heap) take(n, kind uint32) uint32 {
	hint := &h.hint
	if n > 1 {
		hint = &h.wide
	}
	i, found := *hint, uint32(0)
	for found < n {
		if i+found == h.pages {
			h.grow(n - found)
		}
		if h.page(i+found).kind == free {
			found++
		} else {
			i, found = i+found+1, 0
		}
	}
	*hint = i + n
	*h.page(i) = page{kind: kind, link: n}
	for k := i + 1; k < i+n; k++ {
		*h.page(k) = page{kind: tail, link: i}
	}
	if i < h.fresh {
		h.clear(h.address(i), (min(i+n, h.fresh)-i)<<pageBits)
	}
	h.fresh = max(h.fresh, i+n)
	return i
}

// release makes pages free.
func (h *Heap) release(i uint32) {
	n := uint32(1)
	if p := h.page(i); p.kind < cells {
		n = p.link
	}
	for ; n > 0; n-- {
		h.page(i + n - 1).kind = free
	}
}

// grow adds pages: an eighth of what there is, so that neither adding is frequent nor much is left over.
func (h *Heap) grow(n uint32) {
	const entry = uint32(unsafe.Sizeof(page{}))
	was, need, more := h.pages, h.pages+max(n, h.pages/8), uint32(0)
	// Memory grows by 16 pages, so that there may be more of them than are needed.
	if need+16 > h.room {
		more = (2*need*entry + pageSize - 1) >> pageBits
	}
	h.pages = h.extend(h.start, need+more)
	if more == 0 {
		return
	}
	old := h.table
	h.table = h.address(was)
	h.room = more << pageBits / entry
	copy(h.bytes(h.table, was*entry), h.bytes(old, was*entry))
	*h.page(was) = page{kind: raw, link: more}
	for i := uint32(1); i < more; i++ {
		*h.page(was + i) = page{kind: tail, link: was}
	}
	if old != 0 {
		h.release((old - h.start) >> pageBits)
	}
}

func (h *Heap) address(i uint32) uint32 { return h.start + i<<pageBits }

func (h *Heap) page(i uint32) *page {
	return (*page)(h.at(h.table + i*uint32(unsafe.Sizeof(page{}))))
}

func (h *Heap) word(a uint32) *uint32 { return (*uint32)(h.at(a)) }

func (h *Heap) bytes(a, n uint32) []byte { return unsafe.Slice((*byte)(h.at(a)), n) }

func (h *Heap) clear(a, n uint32) { clear(h.bytes(a, n)) }
