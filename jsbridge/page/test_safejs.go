//go:build js && wasm && testbuild

package page

import "github.com/hack-pad/safejs"

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
	crash(name, asked != name)
}
