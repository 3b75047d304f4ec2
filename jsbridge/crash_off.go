//go:build js && wasm && !crashtest

package jsbridge

// crashPoint is where the build with the tag crashtest can be made to panic.
func crashPoint(string) {}
