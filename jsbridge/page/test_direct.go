//go:build tinygo && testbuild

package page

import "unsafe"

// crashAsked is whether a test wants a crash at a place: 1 for a panic, 2 for a lack of memory.
//
//go:wasmimport turnwire crashAsked
func crashAsked(name *byte, size uint32) uint32

func crashPoint(name string) {
	if how := crashAsked(unsafe.StringData(name), uint32(len(name))); how != 0 {
		crash(name, how == 2)
	}
}
