//go:build (wasm || tinygo) && !testbuild

package page

// crashPoint is where the build with the tag testbuild can be made to panic.
func crashPoint(string) {}
