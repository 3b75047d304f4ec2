//go:build (wasm || tinygo) && testbuild

package page

import "runtime"

// crash panics, or runs out of memory.
func crash(name string, memory bool) {
	if !memory {
		panic("testbuild: " + name)
	}
	var kept [][]byte
	for {
		kept = append(kept, make([]byte, 512<<20))
		kept[len(kept)-1][len(kept)] = 1
	}
}

// live is how much the module has under way: none of it may outlive what it was for.
//
//go:wasmexport live
func live() uint32 { return uint32(module.(interface{ Live() int }).Live()) }

//go:wasmexport goroutines
func goroutines() uint32 { return uint32(runtime.NumGoroutine()) }
