//go:build js && wasm

// Command turnwire is the WebAssembly module of the browser client. The loader hands it what it may use of the page,
// and gets the functions of package jsbridge back.
package main

import "github.com/seed-76f09577/turnwire/jsbridge"

func main() {
	if err := jsbridge.Start(); err != nil {
		// The loader turns the end of the program into a RuntimeLoadError; this is for its console.
		println("turnwire:", err.Error())
		return
	}
	select {}
}
