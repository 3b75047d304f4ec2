//go:build tinygo && testbuild

package page

import "github.com/seed-76f09577/turnwire/jsbridge/heap"

var (
	always      bool
	collections uint32
	longest     float64
)

func collect() {
	began := pageNow()
	heap.Collect()
	collections++
	longest = max(longest, pageNow()-began)
	heap.Spoil()
}

// heapAlways makes every call collect, so that what is taken back too early is missed at once: it is written over.
//
//go:wasmexport heapAlways
func heapAlways(on uint32) { always = on == 1 }

// heapLive is how many bytes the last collection left.
//
//go:wasmexport heapLive
func heapLive() uint32 { return heap.Live() }

//go:wasmexport heapCollections
func heapCollections() uint32 { return collections }

// heapLongest is how many milliseconds the longest collection took.
//
//go:wasmexport heapLongest
func heapLongest() float64 { return longest }
