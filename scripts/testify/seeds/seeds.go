// Package seeds runs a fuzz target over its seeds, where TinyGo compiles the core's tests: its own testing.F does nothing.
// It is no part of testify, and lies here for it stands in for another package as those beside it do.
package seeds

import (
	"fmt"
	"testing"
)

// F stands in for testing.F.
type F struct {
	*testing.T
	seeds [][]any
}

func New(t *testing.T) *F { return &F{T: t} }

func (f *F) Add(seed ...any) { f.seeds = append(f.seeds, seed) }

// Fuzz calls the target with each seed. TinyGo's reflection calls no function, so the kinds of target are listed here.
func (f *F) Fuzz(target any) {
	if len(f.seeds) == 0 {
		f.Fatal("no seeds")
	}
	for i, s := range f.seeds {
		f.Run(fmt.Sprint("seed#", i), func(t *testing.T) {
			switch call := target.(type) {
			case func(*testing.T, string):
				call(t, s[0].(string))
			case func(*testing.T, []byte):
				call(t, s[0].([]byte))
			case func(*testing.T, string, string):
				call(t, s[0].(string), s[1].(string))
			case func(*testing.T, []byte, string):
				call(t, s[0].([]byte), s[1].(string))
			case func(*testing.T, string, string, uint16):
				call(t, s[0].(string), s[1].(string), s[2].(uint16))
			case func(*testing.T, []byte, []byte, []byte):
				call(t, s[0].([]byte), s[1].([]byte), s[2].([]byte))
			case func(*testing.T, []byte, uint64, uint8):
				call(t, s[0].([]byte), s[1].(uint64), s[2].(uint8))
			case func(*testing.T, []byte, uint64, uint16):
				call(t, s[0].([]byte), s[1].(uint64), s[2].(uint16))
			default:
				t.Fatalf("%T is no kind of target that is known", target)
			}
		})
	}
}
