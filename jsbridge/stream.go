//go:build js && wasm

package jsbridge

import (
	"runtime"
	"unsafe"

	"github.com/seed-76f09577/turnwire/wasm/turn"
)

const chunkSize = 64 << 10

// shared is the memory that the loader reads and writes, at a fixed address. The loader knows its layout:
// chunkSize bytes of input, then 32-bit words.
var shared struct {
	in    [chunkSize]byte
	out   uint32 // address and length of what the last call left
	size  uint32
	count uint32 // events in out, as a JSON array
	// state is where the text and the reasoning of the turn that was fed last begin. The loader reads them straight
	// from memory, at any moment until that turn is fed again: also inside a call, and after a crash.
	state [2]uint32
	// marks says for each event how long the text (of a reasoning_delta: the reasoning) is with it.
	marks [turn.BatchEvents]uint32
}

// batch and out hold what shared.out points to.
var (
	batch turn.Batch
	out   []byte
)

const (
	more  = 1 // call feed again with 0 bytes, once the batch is delivered
	wants = 2 // call flush after the events were delivered
)

//go:wasmexport memory
func memory() unsafe.Pointer { return unsafe.Pointer(&shared) }

// feed gives a turn the first n bytes of shared.in and leaves a batch of its events. now is performance.now(), which
// JavaScript reads faster than Go does.
//
//go:wasmexport feed
func feed(id, n uint32, now float64) (flags uint32) {
	defer recovered()
	crashPoint("feed")
	t := turns.get(id)
	shared.count = 0
	if t == nil {
		return 0
	}
	m := t.machine
	if n > 0 {
		m.Feed(int64(now), shared.in[:n])
	}
	if m.Batch(&batch) {
		flags |= more
	}
	leave(batch.JSON)
	shared.count = uint32(copy(shared.marks[:], batch.Marks))
	shared.state = [2]uint32{address(m.Text()), address(m.Reasoning())}
	if m.Wants() {
		flags |= wants
	}
	return flags
}

// flush performs what the turn asks for.
//
//go:wasmexport flush
func flush(id uint32) {
	defer recovered()
	crashPoint("flush")
	if t := turns.get(id); t != nil {
		t.flush()
	}
}

// tools leaves a turn's tool calls as a JSON array, and 0 where it could not.
//
//go:wasmexport tools
func tools(id uint32) (left uint32) {
	defer recovered()
	crashPoint("tools")
	t := turns.get(id)
	if t == nil {
		return 0
	}
	out = t.machine.AppendToolCalls(out[:0])
	leave(out)
	return 1
}

// release forgets a turn that has ended.
//
//go:wasmexport release
func release(id uint32) {
	defer recovered()
	crashPoint("release")
	if turns.get(id) != nil {
		turns.remove(id)
	}
}

// liveCallbacks and liveGoroutines are read by the leak test.
//
//go:wasmexport liveCallbacks
func liveCallbacks() uint32 { return uint32(live) }

//go:wasmexport liveGoroutines
func liveGoroutines() uint32 { return uint32(runtime.NumGoroutine()) }

// hold says that the loader stops reading a turn's stream for a while (on 1), or goes on (0).
//
//go:wasmexport hold
func hold(id, on uint32) {
	defer recovered()
	crashPoint("hold")
	if t := turns.get(id); t != nil {
		t.machine.Hold(monotonic(), on == 1)
	}
}

func leave(b []byte) {
	shared.out, shared.size = address(b), uint32(len(b))
}

func address(b []byte) uint32 {
	if len(b) == 0 {
		return 0
	}
	return uint32(uintptr(unsafe.Pointer(&b[0])))
}
