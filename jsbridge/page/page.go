//go:build wasm || tinygo

// Package page is the only code that touches JavaScript, in one of two ways. In the standard build what is called now and
// then crosses as callbacks of safejs (safejs.go); in the small one, compiled by TinyGo, everything is an import or an
// export of the module, and only numbers and bytes cross (direct.go). What is called for every chunk is an export in both
// (exports.go).
package page

import (
	"github.com/seed-76f09577/turnwire/jsbridge/contract"
	"github.com/seed-76f09577/turnwire/jsbridge/streams"
)

// Module is what package jsbridge makes of the module: beside Control what contract.Exports has, with bytes in place of
// their addresses.
type Module interface {
	contract.Control
	Streams() *streams.Streams
	Flush(turn uint32)
	Hold(turn uint32, on bool)
	Release(turn uint32)
	HashBegin(state []byte) (ok bool)
	HashWrite(bytes []byte)
	HashEnd(last bool) []byte
}

var (
	module Module
	feeds  *streams.Streams
)

// script is the page's own half of the contract, as its script implements it.
type script struct{}

// use makes the module what calls of the page reach.
func use(make func(contract.Page) Module) {
	module = make(&script{})
	feeds = module.Streams()
}
