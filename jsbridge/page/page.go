//go:build js && wasm

// Package page is the only code that touches JavaScript, here by safejs. What is called now and then crosses as callbacks
// (border.go); what is called for every chunk, as exports (exports.go).
package page

import (
	"errors"
	"fmt"

	"github.com/hack-pad/safejs"
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
	// host is the page's script, as the global object has it that was made for this instance.
	host   safejs.Value
	module Module
	feeds  *streams.Streams
)

// Start makes the module known to the page's script, and returns.
func Start(make func(contract.Page) Module) error {
	var err error
	if host, err = safejs.Global().Get("turnwire"); err != nil || host.IsUndefined() {
		return errors.New("no loader: this module is started by turnwire.mjs or turnwire.js")
	}
	module = make(&script{})
	feeds = module.Streams()
	object, err := safejs.Global().Get("Object")
	if err != nil {
		return fmt.Errorf("hand-off: %w", err)
	}
	control, err := object.New()
	if err != nil {
		return fmt.Errorf("hand-off: %w", err)
	}
	for _, f := range functions {
		fn, err := safejs.FuncOf(func(_ safejs.Value, args []safejs.Value) (result any) {
			// A panic must not cross a JavaScript frame, where it would stop the Go program with nobody told.
			defer recovered()
			crashPoint(f.name)
			var n [3]int64
			var words string
			for i, arg := range args {
				if arg.Type() == safejs.TypeString {
					words = text(arg)
				} else {
					n[i] = int64(number(arg))
				}
			}
			return f.call(module, &n, words)
		})
		if err == nil {
			err = control.Set(f.name, fn)
		}
		if err != nil {
			return fmt.Errorf("hand-off of %s: %w", f.name, err)
		}
	}
	_, err = host.Call("started", control, contract.Stamp)
	return err
}

// recovered ends a panic at the outermost Go frame: the instance's state can't be trusted any more, so the page is told to
// give it up. Deferred directly by every function that JavaScript calls.
func recovered() {
	if v := recover(); v != nil {
		_, _ = host.Call("crashed", fmt.Sprint(v))
	}
}

// invoke calls a function of the script with numbers.
func invoke(name string, numbers ...float64) safejs.Value { return enter(name, boxed(numbers)) }

// invokeWith calls a function of the script with a text as its last argument.
func invokeWith(text, name string, numbers ...float64) safejs.Value {
	return enter(name, append(boxed(numbers), text))
}

func boxed(numbers []float64) []any {
	args := make([]any, 0, 3)
	for _, n := range numbers {
		args = append(args, n)
	}
	return args
}

// enter calls a function of the script, which does not throw.
func enter(name string, args []any) safejs.Value {
	v, err := host.Call(name, args...)
	if err != nil {
		panic(err)
	}
	return v
}

func number(v safejs.Value) float64 {
	f, err := v.Float()
	if err != nil || f != f {
		panic("page: no number")
	}
	return f
}

func text(v safejs.Value) string {
	if v.Type() != safejs.TypeString {
		panic("page: no string")
	}
	s, err := v.String()
	if err != nil {
		panic(err)
	}
	return s
}

func truth(v safejs.Value) bool {
	b, err := v.Bool()
	if err != nil {
		panic(err)
	}
	return b
}
