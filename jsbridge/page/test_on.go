//go:build js && wasm && testbuild

package page

import (
	"runtime"

	"github.com/hack-pad/safejs"
)

// crashPoint panics, or runs out of memory, where the page has asked for it by performance.turnwireCrash:
// "name" or "name:memory". The object performance is the one thing that a test's page shares with the module.
func crashPoint(name string) {
	performance, err := safejs.Global().Get("performance")
	if err != nil {
		panic(err)
	}
	value, err := performance.Get("turnwireCrash")
	if err != nil || value.Type() != safejs.TypeString {
		return
	}
	asked := text(value)
	if asked != name && asked != name+":memory" {
		return
	}
	if err := performance.Set("turnwireCrash", ""); err != nil {
		panic(err)
	}
	if asked == name {
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
