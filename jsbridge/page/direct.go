//go:build tinygo

package page

import (
	"unsafe"

	"github.com/seed-76f09577/turnwire/jsbridge/contract"
)

// Start makes the module known to the page's script.
func Start(make func(contract.Page) Module) {
	use(make)
	started(unsafe.StringData(contract.Stamp), uint32(len(contract.Stamp)))
}

//go:wasmimport turnwire started
func started(stamp *byte, size uint32)

// given is the text that the page hands over ahead of a call.
var given []byte

// room makes room for the text of the next call, and gives its address.
//
//go:wasmexport room
func room(size uint32) unsafe.Pointer {
	given = make([]byte, size)
	return unsafe.Pointer(unsafe.SliceData(given))
}

// taken is the text of this call.
func taken() string {
	text := unsafe.String(unsafe.SliceData(given), len(given))
	given = nil
	return text
}

// recovered has nothing to do: a panic of this build prints and traps, which the page sees.
func recovered() {}
