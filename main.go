//go:build (js && wasm) || tinygo

// Command turnwire is the WebAssembly module of the browser client. The page's script hands it what it may use of the page,
// and gets the functions of package jsbridge back.
package main

import (
	"github.com/seed-76f09577/turnwire/jsbridge"
	"github.com/seed-76f09577/turnwire/jsbridge/contract"
	"github.com/seed-76f09577/turnwire/jsbridge/page"
)

// Not in main, which nobody calls in the small build: it is a library, and runs only inside of calls.
func init() {
	page.Start(func(p contract.Page) page.Module { return jsbridge.New(p) })
}

func main() { select {} }
