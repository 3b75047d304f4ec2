//go:build tinygo

package heap

import "unsafe"

var module Heap

// alloc is what TinyGo's runtime leaves to us in a build without a collector.
//
//go:linkname alloc runtime.alloc
//go:noinline
func alloc(size uintptr, layout unsafe.Pointer) unsafe.Pointer {
	return module.at(module.Alloc(uint32(size), uint32(uintptr(layout))))
}

// Due reports whether it is time to collect.
func Due() bool { return module.Due() }

// Live is how many bytes the last collection left.
func Live() uint32 { return module.live }

// Collect takes back what no variable of a package leads to: no function may be under way that has more in its own.
func Collect() {
	module.Collect()
}

// Spoil writes over what Collect has just left free: for tests.
func Spoil() { module.Spoil() }

// The linker's: where variables begin, and where they end.

//go:extern __global_base
var globalBase [0]byte

//go:extern __heap_base
var heapBase [0]byte

//export llvm.wasm.memory.size.i32
func memorySize(memory int32) int32

//export llvm.wasm.memory.grow.i32
func memoryGrow(memory, by int32) int32

// memory is the module's own, by its addresses.
type memory struct{}

func (memory) at(a uint32) unsafe.Pointer { return unsafe.Pointer(uintptr(a)) }

func (memory) globals() (from, to uint32) {
	return uint32(uintptr(unsafe.Pointer(&globalBase))), uint32(uintptr(unsafe.Pointer(&heapBase)))
}

// own is where a heap lies among the variables.
func (memory) own(h *Heap) uint32 { return uint32(uintptr(unsafe.Pointer(h))) }

// extend makes at least so many pages from an address on, and tells how many there are.
func (memory) extend(start, pages uint32) uint32 {
	const shift = 16 - pageBits
	want := (start>>pageBits + pages + 1<<shift - 1) >> shift
	have := uint32(memorySize(0))
	if want > have {
		if memoryGrow(0, int32(want-have)) < 0 {
			panic("out of memory")
		}
		have = want
	}
	return have<<shift - start>>pageBits
}
