//go:build !tinygo

package heap

import "unsafe"

// memory is what a test gives: it stands for a module's.
type memory struct {
	base       unsafe.Pointer
	from, to   uint32 // the variables
	end, limit uint32
	mine       uint32 // where among the variables the heap's own lie
}

func (m *memory) at(a uint32) unsafe.Pointer { return unsafe.Add(m.base, a) }

func (m *memory) globals() (from, to uint32) { return m.from, m.to }

func (m *memory) own(*Heap) uint32 { return m.mine }

func (m *memory) extend(start, pages uint32) uint32 {
	if end := (start + pages<<pageBits + 1<<16 - 1) &^ (1<<16 - 1); end > m.end {
		if end > m.limit {
			panic("out of memory")
		}
		m.end = end
	}
	return (m.end - start) >> pageBits
}
