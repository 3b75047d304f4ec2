// Package jsbridge drives the core's machines: it performs what they ask for, by the functions of the page, and tells them
// what happened. It knows no JavaScript; what crosses to the page, and how, is package contract's and package page's.
//
// No code of the page's author runs below a function of this package: the page tells what came of its functions from tasks
// of their own.
package jsbridge

import (
	"github.com/seed-76f09577/turnwire/jsbridge/contract"
	"github.com/seed-76f09577/turnwire/jsbridge/streams"
	"github.com/seed-76f09577/turnwire/wasm/checksum"
	"github.com/seed-76f09577/turnwire/wasm/retry"
)

// Bridge is the module as the page knows it: a page.Module.
type Bridge struct {
	page        contract.Page
	connections *retry.Connections
	again       timer // for what is said to the origin's other pages again

	clients  table[client]
	calls    table[awaited]
	turns    table[liveTurn]
	uploads  table[liveUpload]
	asks     numbered[*keyAsked]
	requests numbered[*requester]
	timers   numbered[*timer]
	waits    numbered[*liveWait]
	notices  numbered[*liveNotice]
	chats    map[string]*chat

	streams streams.Streams
	hash    checksum.Hash
	left    []byte // what HashEnd left for the page to read
}

// cancelled is a call or a wait whose caller gives it up.
type cancelled interface{ cancel() }

// New makes a bridge to a page.
func New(page contract.Page) *Bridge {
	b := &Bridge{page: page, chats: map[string]*chat{}}
	b.connections = retry.NewConnections(b.clock, func(word int, host string) {
		page.TellPages(word, host)
		b.keepOn()
	})
	return b
}

// Streams is page.Module's.
func (b *Bridge) Streams() *streams.Streams { return &b.streams }

// monotonic is in milliseconds: steps of the machine's clock do not move it.
func (b *Bridge) monotonic() int64 { return int64(b.page.Now()) }

// clock is Unix time in milliseconds off monotonic: it does not jump, and can be compared with what others call time.
func (b *Bridge) clock() int64 { return int64(b.page.TimeOrigin()) + b.monotonic() }

// CancelCall is contract.Control's.
func (b *Bridge) CancelCall(number uint32) {
	if a := b.calls.get(number); a != nil {
		b.calls.remove(number)
		a.number = 0
		a.what.cancel()
	}
}

// WentOnline is contract.Control's.
func (b *Bridge) WentOnline() {
	b.turns.each(func(t *liveTurn) { t.machine.Online(); t.flush() })
	b.uploads.each(func(u *liveUpload) { u.machine.Online(b.clock()); u.flush() })
	b.waits.each(func(w *liveWait) { w.machine.Online(b.clock()); w.flush() })
	b.notices.each(func(n *liveNotice) { n.machine.Online(b.clock()); n.flush() })
}

// WentOffline is contract.Control's.
func (b *Bridge) WentOffline() {
	b.uploads.each(func(u *liveUpload) { u.machine.Offline(b.clock()); u.flush() })
	b.waits.each(func(w *liveWait) { w.machine.Offline(b.clock()); w.flush() })
	b.notices.each(func(n *liveNotice) { n.machine.Offline(b.clock()); n.flush() })
}

// PageSaid is contract.Control's.
func (b *Bridge) PageSaid(page uint32, word int, host string) {
	b.connections.Heard(page, word, host)
	b.keepOn()
}

// keepOn says again what this page has for as long as it has something, or another page does.
func (b *Bridge) keepOn() {
	switch shared := b.connections.Shared(); {
	case !shared:
		b.clearTimer(&b.again)
	case b.again.number == 0:
		b.setTimer(&b.again, retry.SayAgain, func() {
			b.connections.Again()
			b.keepOn()
		})
	}
}

// TimerFired is contract.Control's.
func (b *Bridge) TimerFired(number uint32) {
	if t, ok := b.timers.take(number); ok {
		t.number = 0
		t.fired()
	}
}

// timer is one timer at a time; its zero value is none.
type timer struct {
	number uint32
	fired  func()
}

// setTimer calls fn once in ms milliseconds, in place of what the timer was set to before.
func (b *Bridge) setTimer(t *timer, ms int64, fn func()) {
	b.clearTimer(t)
	t.fired = fn
	t.number = b.timers.add(t)
	b.page.SetTimer(t.number, ms)
}

func (b *Bridge) clearTimer(t *timer) {
	if t.number != 0 {
		b.timers.take(t.number)
		b.page.ClearTimer(t.number)
		t.number = 0
	}
}

// Live is how much is under way: clients, calls, turns, uploads, waits, notices, chats, and what the page has been asked for.
func (b *Bridge) Live() (n int) {
	b.clients.each(func(*client) { n++ })
	b.calls.each(func(*awaited) { n++ })
	b.turns.each(func(*liveTurn) { n++ })
	b.uploads.each(func(*liveUpload) { n++ })
	return n + len(b.waits.entries) + len(b.notices.entries) + len(b.chats) + len(b.asks.entries) + len(b.requests.entries) + len(b.timers.entries)
}
