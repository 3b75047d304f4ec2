//go:build js && wasm

package jsbridge

import (
	"errors"
	"math"
	"syscall/js"

	"github.com/hack-pad/safejs"
)

// live counts the callbacks registered with JavaScript and not yet released: none may outlive what it was for.
var live int

// callback makes fn callable from JavaScript until remove is called. A panic ends here: it must not cross a
// JavaScript frame, where it would stop the Go program with nobody told.
// Its name is for the build that is made to panic.
func callback(name string, fn func(args []safejs.Value) any) (value safejs.Value, remove func()) {
	f, err := safejs.FuncOf(func(_ safejs.Value, args []safejs.Value) (result any) {
		defer recovered()
		crashPoint(name)
		return fn(args)
	})
	if err != nil {
		panic(err)
	}
	live++
	removed := false
	return f.Value(), func() {
		if !removed {
			removed = true
			live--
			f.Release()
		}
	}
}

// then calls one of ok and fail when promise settles; both callbacks are released with it.
func then(promise safejs.Value, ok func(safejs.Value), fail func(safejs.Value)) {
	var removeOK, removeFail func()
	settle := func(f func(safejs.Value)) func([]safejs.Value) any {
		return func(args []safejs.Value) any {
			removeOK()
			removeFail()
			value := safejs.Undefined()
			if len(args) > 0 {
				value = args[0]
			}
			f(value)
			return nil
		}
	}
	var onOK, onFail safejs.Value
	onOK, removeOK = callback("resolved", settle(ok))
	onFail, removeFail = callback("rejected", settle(fail))
	method(host, "then", promise, onOK, onFail)
}

// after calls fn once in ms milliseconds, unless stop is called before.
func after(ms int64, fn func()) (stop func()) {
	// Browsers hold delays in 32 bits and fire at once where they are longer.
	ms = min(ms, math.MaxInt32)
	var remove func()
	var cb safejs.Value
	cb, remove = callback("timer", func([]safejs.Value) any {
		remove()
		fn()
		return nil
	})
	id, err := host.Call("setTimeout", cb, float64(ms))
	if err != nil {
		remove()
		panic(err)
	}
	return func() {
		remove()
		_, _ = host.Call("clearTimeout", id)
	}
}

// timer is one timer at a time; its zero value is none.
type timer struct{ stop func() }

// set calls fn once in ms milliseconds, in place of what was set before.
func (t *timer) set(ms int64, fn func()) {
	t.clear()
	t.stop = after(ms, func() {
		t.stop = nil
		fn()
	})
}

func (t *timer) clear() {
	if t.stop != nil {
		t.stop()
		t.stop = nil
	}
}

// thrown is the JavaScript value behind an error of safejs; undefined where there is none.
func thrown(err error) safejs.Value {
	var e js.Error
	if errors.As(err, &e) {
		return safejs.Safe(e.Value)
	}
	return safejs.Undefined()
}

// property reads a property that the loader always sets.
func property(object safejs.Value, name string) safejs.Value {
	v, err := object.Get(name)
	if err != nil {
		panic(err)
	}
	return v
}

// text reads a property as a string; "" where it is none.
func text(object safejs.Value, name string) string {
	return str(property(object, name))
}

// str is a value as a string; "" where it is none.
func str(v safejs.Value) string {
	if v.Type() != safejs.TypeString {
		return ""
	}
	s, err := v.String()
	if err != nil {
		panic(err)
	}
	return s
}

// number reads a property as a whole number, such as of milliseconds, tries or bytes; 0 where it is none.
func number(object safejs.Value, name string) int64 {
	v := property(object, name)
	if v.Type() != safejs.TypeNumber {
		return 0
	}
	return whole(v)
}

// whole is a number as a whole one.
func whole(v safejs.Value) int64 {
	f, err := v.Float()
	if err != nil || f != f {
		panic("jsbridge: no number")
	}
	return int64(f)
}

// index reads an argument that the loader passes as a handle.
func index(v safejs.Value) uint32 {
	n, err := v.Int()
	if err != nil {
		panic(err)
	}
	return uint32(n)
}

// invoke calls a function of the loader, which does not throw.
func invoke(fn safejs.Value, args ...any) {
	if _, err := fn.Invoke(args...); err != nil {
		panic(err)
	}
}

// method calls a method of an object of the loader, which does not throw.
func method(object safejs.Value, name string, args ...any) safejs.Value {
	v, err := object.Call(name, args...)
	if err != nil {
		panic(err)
	}
	return v
}

// truthy is JavaScript's own notion of it.
func truthy(v safejs.Value) bool {
	b, err := v.Truthy()
	return err == nil && b
}
