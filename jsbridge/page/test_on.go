//go:build (wasm || tinygo) && testbuild

package page

import (
	"runtime"
	"unsafe"
)

// crashAt is where the module is to panic or to run out of memory, "name" or "name:memory" and a zero: a test writes it.
var crashAt [64]byte

//go:wasmexport crashAt
func crashAtAddress() unsafe.Pointer { return unsafe.Pointer(&crashAt) }

func crashPoint(name string) {
	asked := crashAt[:]
	for i, c := range asked {
		if c == 0 {
			asked = asked[:i]
			break
		}
	}
	switch string(asked) {
	case name:
		crashAt[0] = 0
		panic("testbuild: " + name)
	case name + ":memory":
		crashAt[0] = 0
		var kept [][]byte
		for {
			kept = append(kept, make([]byte, 512<<20))
			kept[len(kept)-1][len(kept)] = 1
		}
	}
}

// live is how much the module has under way: none of it may outlive what it was for.
//
//go:wasmexport live
func live() uint32 { return uint32(module.(interface{ Live() int }).Live()) }

//go:wasmexport goroutines
func goroutines() uint32 { return uint32(runtime.NumGoroutine()) }
