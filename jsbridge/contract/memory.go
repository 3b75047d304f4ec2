package contract

import "github.com/seed-76f09577/turnwire/wasm/turn"

// ChunkSize is how many bytes the module takes at once.
const ChunkSize = 64 << 10

// What Feed returns, beside one another.
const (
	// More asks for Feed with no bytes, once the batch is delivered.
	More = 1
	// WantsFlush asks for Flush after the events were delivered.
	WantsFlush = 2
)

// Memory is the memory that the page reads and writes, at the address that Exports.Shared gives. After In come 32-bit words.
type Memory struct {
	In [ChunkSize]byte
	// Out and Size are address and length of what the last call left.
	Out  uint32
	Size uint32
	// Count is how many events Out has, in the form of turn.Batch.
	Count uint32
	// Text and Reasoning are where those of the turn begin that was fed last. The page reads them straight from memory, at
	// any moment until that turn is fed again: also inside a call, and after a crash.
	Text      uint32
	Reasoning uint32
	// Marks say for each event how long the text (of a reasoning_delta: the reasoning) is with it.
	Marks [turn.BatchEvents]uint32
}

// Exports is what the module exports: what is called for every chunk, where a callback of JavaScript would cost more than
// all the rest. now is performance.now(), which JavaScript reads faster than Go does.
type Exports interface {
	// Shared is where Memory lies.
	Shared() uint32
	// Feed gives a turn so many bytes of Memory.In, 0 for none, and leaves a batch of its events.
	Feed(turn, bytes uint32, now float64) (flags uint32)
	// Flush performs what the turn asks for.
	Flush(turn uint32)
	// Hold says that the page stops reading a turn's stream for a while (on is 1), or goes on (0).
	Hold(turn, on uint32)
	// Tools leaves the tool calls of a turn that changed; 0 where it could not.
	Tools(turn uint32) (left uint32)
	// Release forgets a turn that has ended.
	Release(turn uint32)
	// HashBegin goes on with the state in so many bytes of Memory.In, or begins a new sum where there are none; 0 where they
	// are no state. HashWrite adds so many bytes of Memory.In. HashEnd leaves the state; where last is 1, the sum.
	HashBegin(bytes uint32) (ok uint32)
	HashWrite(bytes uint32)
	HashEnd(last uint32)
}

// Fed is what a turn was fed to, until the next call: Memory has the addresses of it.
type Fed struct {
	Batch           *turn.Batch
	Text, Reasoning []byte
}
