// Package allocs counts allocations, for tests.
package allocs

import "runtime"

// PerRun is how many times f allocates, on average and rounded down, after a first call that is not counted.
// testing.AllocsPerRun says 0 of everything under TinyGo.
func PerRun(runs int, f func()) uint64 {
	f()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		f()
	}
	runtime.ReadMemStats(&after)
	return (after.Mallocs - before.Mallocs) / uint64(runs)
}
