//go:build js && wasm

// Package jsbridge is the only code that touches JavaScript. It performs what the core's machines ask for and tells
// them what happened (control plane, by safejs), and hands the events of a stream to the loader (data plane, by
// exported functions, because a callback for each event would cost more than all the rest).
//
// No code of the page's author runs inside a call from here: the loader calls listeners, keys and a fetch of the
// page's own from tasks of their own, so that no Go frame is ever below them.
package jsbridge

import (
	"errors"
	"fmt"

	"github.com/hack-pad/safejs"
)

// host is what the loader lends: timers, fetch and its own functions. It is set once, before any export is called.
var host safejs.Value

// monotonic is performance.now(), in milliseconds: steps of the machine's clock do not move it.
func monotonic() int64 {
	f, err := method(host, "now").Float()
	if err != nil {
		panic(err)
	}
	return int64(f)
}

// clock is Unix time in milliseconds off monotonic: it does not jump, and can be compared with what others call time.
func clock() int64 {
	f, err := property(host, "origin").Float()
	if err != nil {
		panic(err)
	}
	return int64(f) + monotonic()
}

// Start takes the loader's hand-off, the property "turnwire" of the global object that the loader made for this
// instance, and gives it the control functions.
func Start() error {
	var err error
	if host, err = safejs.Global().Get("turnwire"); err != nil || host.IsUndefined() {
		return errors.New("no loader: this module is started by turnwire.mjs or turnwire.js")
	}
	control, err := property(safejs.Global(), "Object").New()
	if err != nil {
		return fmt.Errorf("hand-off: %w", err)
	}
	for name, fn := range map[string]func([]safejs.Value) any{
		"openClient":     openClient,
		"closeClient":    closeClient,
		"createChat":     createChat,
		"abortChat":      abortChat,
		"cancelCall":     cancelCall,
		"startTurn":      startTurn,
		"abortTurn":      abortTurn,
		"disconnectTurn": disconnectTurn,
		"streamEnded":    streamEnded,
		"wentOnline":     wentOnline,
		"wentOffline":    wentOffline,
		"othersMove":     othersMove,
		"othersHold":     othersHold,
		"getFile":        getFile,
		"reportFailed":   reportFailed,
		"waitFile":       waitFile,
		"cancelWait":     cancelWait,
		"startUpload":    startUpload,
		"pauseUpload":    pauseUpload,
		"resumeUpload":   resumeUpload,
		"abortUpload":    abortUpload,
		"uploadRecord":   uploadRecord,
		"ticketMapped":   ticketMapped,
		"storeBegun":     storeBegun,
		"storeAlive":     storeAlive,
		"dataMoved":      dataMoved,
		"storeProgress":  storeProgress,
		"storeAnswered":  storeAnswered,
		"storeFailed":    storeFailed,
		"hashed":         hashed,
		"dataFailed":     dataFailed,
	} {
		value, _ := callback(name, fn)
		if err := control.Set(name, value); err != nil {
			return fmt.Errorf("hand-off of %s: %w", name, err)
		}
	}
	_, err = host.Call("started", control, stamp)
	return err
}

// stamp tells this module's contract with the loader from that of another build; see scripts/gowasm.mjs.
var stamp string

// recovered ends a panic at the outermost Go frame: the instance's state can't be trusted any more, so the loader is
// told to give it up. Deferred directly by every function that JavaScript calls.
func recovered() {
	if v := recover(); v != nil {
		_, _ = host.Call("crashed", fmt.Sprint(v))
	}
}
