//go:build js && wasm

package jsbridge

import "github.com/seed-76f09577/turnwire/wasm/checksum"

// A range is hashed between hashBegin and hashEnd, without another in between: what one leaves the next goes on with,
// so that it may be hashed by another instance too.
var hash checksum.Hash

// hashBegin goes on with the state in the first n bytes of shared.in, or begins a new sum where n is 0. It returns 0
// where that is no state.
//
//go:wasmexport hashBegin
func hashBegin(n uint32) (ok uint32) {
	defer recovered()
	crashPoint("hashBegin")
	hash.Reset()
	if n > 0 && !hash.Restore(shared.in[:n]) {
		return 0
	}
	return 1
}

// hashWrite adds the first n bytes of shared.in.
//
//go:wasmexport hashWrite
func hashWrite(n uint32) {
	defer recovered()
	hash.Write(shared.in[:n])
}

// hashEnd leaves the state; where last is 1, the sum.
//
//go:wasmexport hashEnd
func hashEnd(last uint32) {
	defer recovered()
	crashPoint("hashEnd")
	if last == 1 {
		sum := hash.Sum()
		out = append(out[:0], sum[:]...)
	} else {
		out = hash.AppendState(out[:0])
	}
	leave(out)
}
