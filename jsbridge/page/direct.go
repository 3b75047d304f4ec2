//go:build tinygo

package page

import (
	"unsafe"

	"github.com/seed-76f09577/turnwire/jsbridge/contract"
	"github.com/seed-76f09577/turnwire/jsbridge/heap"
)

// Start makes the module known to the page's script.
func Start(make func(contract.Page) Module) {
	use(make)
	away++
	started(unsafe.StringData(contract.Stamp), uint32(len(contract.Stamp)))
	away--
}

//go:wasmimport turnwire started
func started(stamp *byte, size uint32)

// away counts the calls of the page that have not returned: what it calls below one of them finds functions of the module
// under way.
var away int

// entered begins every function that the page calls. Here alone nothing is collected that is still of use: what is under
// way elsewhere has addresses where nobody looks.
func entered(name string) {
	crashPoint(name)
	if away == 0 && (always || heap.Due()) {
		collect()
	}
}

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
