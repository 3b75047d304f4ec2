//go:build wasm || tinygo

package page

import (
	"unsafe"

	"github.com/seed-76f09577/turnwire/jsbridge/contract"
)

// Of what each function is for, contract.Exports tells.

var (
	shared *contract.Memory
	fed    contract.Fed
)

//go:wasmexport shared
func sharedMemory() unsafe.Pointer {
	// Not before: TinyGo would make a variable of it, which its collector searches for addresses, chunks of text and all.
	if shared == nil {
		shared = new(contract.Memory)
	}
	return unsafe.Pointer(shared)
}

//go:wasmexport feed
func feed(turn, bytes uint32, now float64) (flags uint32) {
	defer recovered()
	entered("feed")
	shared.Count = 0
	flags = feeds.Feed(turn, shared.In[:bytes], int64(now), &fed)
	leave(fed.Batch.JSON)
	shared.Count = uint32(copy(shared.Marks[:], fed.Batch.Marks))
	shared.Text, shared.Reasoning = address(fed.Text), address(fed.Reasoning)
	// The turn has them. Among the variables they would outlive it, and their lengths look like addresses.
	fed.Text, fed.Reasoning = nil, nil
	return flags
}

//go:wasmexport flush
func flush(turn uint32) {
	defer recovered()
	entered("flush")
	module.Flush(turn)
}

//go:wasmexport hold
func hold(turn, on uint32) {
	defer recovered()
	entered("hold")
	module.Hold(turn, on == 1)
}

//go:wasmexport tools
func tools(turn uint32) (left uint32) {
	defer recovered()
	entered("tools")
	calls, ok := feeds.Tools(turn)
	if !ok {
		return 0
	}
	leave(calls)
	return 1
}

//go:wasmexport release
func release(turn uint32) {
	defer recovered()
	entered("release")
	module.Release(turn)
}

//go:wasmexport hashBegin
func hashBegin(bytes uint32) (ok uint32) {
	defer recovered()
	entered("hashBegin")
	if !module.HashBegin(shared.In[:bytes]) {
		return 0
	}
	return 1
}

//go:wasmexport hashWrite
func hashWrite(bytes uint32) {
	defer recovered()
	entered("hashWrite")
	module.HashWrite(shared.In[:bytes])
}

//go:wasmexport hashEnd
func hashEnd(last uint32) {
	defer recovered()
	entered("hashEnd")
	leave(module.HashEnd(last == 1))
}

func leave(b []byte) {
	shared.Out, shared.Size = address(b), uint32(len(b))
}

func address(b []byte) uint32 {
	if len(b) == 0 {
		return 0
	}
	return uint32(uintptr(unsafe.Pointer(&b[0])))
}
