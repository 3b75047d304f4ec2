//go:build wasm && !crashtest

package page

// crashPoint is where the build with the tag crashtest can be made to panic.
func crashPoint(string) {}
