//go:build js && wasm

package jsbridge

import (
	"github.com/hack-pad/safejs"
	"github.com/seed-76f09577/turnwire/wasm/retry"
)

// connections are those of the page, to the service and to the stores. Other pages are told how many it has.
var connections = retry.NewConnections(clock, func(root string, held int) { method(host, "holds", root, held) })

// online reports whether the browser knows of a network.
func online() bool { return truthy(method(host, "online")) }

// wentOnline(): the browser has a network again.
func wentOnline([]safejs.Value) any {
	turns.each(func(t *liveTurn) { t.machine.Online(); t.flush() })
	uploads.each(func(u *liveUpload) { u.machine.Online(clock()); u.flush() })
	waits.each(func(w *liveWait) { w.machine.Online(clock()); w.flush() })
	notices.each(func(n *liveNotice) { n.machine.Online(clock()); n.flush() })
	return nil
}

// wentOffline(): the browser knows of no network.
func wentOffline([]safejs.Value) any {
	uploads.each(func(u *liveUpload) { u.machine.Offline(clock()); u.flush() })
	waits.each(func(w *liveWait) { w.machine.Offline(clock()) })
	notices.each(func(n *liveNotice) { n.machine.Offline(clock()) })
	return nil
}

// othersMove(root): another page's bytes move to a host; root is an address of it with the path "/".
func othersMove(args []safejs.Value) any {
	connections.Moved(str(args[0]))
	return nil
}

// othersHold(root, held): how many connections other pages have to a host.
func othersHold(args []safejs.Value) any {
	connections.Others(str(args[0]), int(whole(args[1])))
	return nil
}
