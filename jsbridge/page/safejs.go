//go:build js && wasm

package page

import (
	"fmt"

	"github.com/hack-pad/safejs"
	"github.com/seed-76f09577/turnwire/jsbridge/contract"
)

// host is the page's script, as the global object has it that was made for this instance.
var host safejs.Value

// Start makes the module known to the page's script, and panics where there is none.
func Start(make func(contract.Page) Module) {
	var err error
	if host, err = safejs.Global().Get("turnwire"); err != nil || host.IsUndefined() {
		panic("no loader: this module is started by turnwire.mjs or turnwire.js")
	}
	use(make)
	object, err := safejs.Global().Get("Object")
	must(err)
	control, err := object.New()
	must(err)
	for _, f := range functions {
		fn, err := safejs.FuncOf(func(_ safejs.Value, args []safejs.Value) (result any) {
			// A panic must not cross a JavaScript frame, where it would stop the Go program with nobody told.
			defer recovered()
			entered(f.name)
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
		must(err)
		must(control.Set(f.name, fn))
	}
	_, err = host.Call("started", control, contract.Stamp)
	must(err)
}

// entered begins every function that the page calls.
func entered(name string) { crashPoint(name) }

func must(err error) {
	if err != nil {
		panic(err)
	}
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
