//go:build js && wasm && crashtest

package jsbridge

import "github.com/hack-pad/safejs"

// crashPoint panics, or runs out of memory, where the page has asked for it by performance.turnwireCrash:
// "name" or "name:memory". The object performance is the one thing that a test's page shares with the module.
func crashPoint(name string) {
	performance := property(safejs.Global(), "performance")
	asked := text(performance, "turnwireCrash")
	if asked != name && asked != name+":memory" {
		return
	}
	if err := performance.Set("turnwireCrash", ""); err != nil {
		panic(err)
	}
	if asked == name {
		panic("crashtest: " + name)
	}
	var kept [][]byte
	for {
		kept = append(kept, make([]byte, 512<<20))
		kept[len(kept)-1][len(kept)] = 1
	}
}
