//go:build js && wasm

// Command turnwire is the WebAssembly module of the browser client. The page's script hands it what it may use of the page,
// and gets the functions of package jsbridge back.
package main

import (
	"github.com/seed-76f09577/turnwire/jsbridge"
	"github.com/seed-76f09577/turnwire/jsbridge/contract"
	"github.com/seed-76f09577/turnwire/jsbridge/page"
)

func main() {
	if err := page.Start(func(p contract.Page) page.Module { return jsbridge.New(p) }); err != nil {
		// The loader turns the end of the program into a RuntimeLoadError; this is for its console.
		println("turnwire:", err.Error())
		return
	}
	select {}
}
