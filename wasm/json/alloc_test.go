//go:build !race

package json

import (
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/allocs"
	"github.com/stretchr/testify/assert"
)

// TestNoAllocations shows that a reader that has seen its deepest text needs no more memory, and that text is taken
// from a string without any beside its own.
func TestNoAllocations(t *testing.T) {
	event := []byte(`{"type":"text_delta","data":{"chunk":"h\u00e9\n","list":[1,{"a":[true,null,-1.5e3]}]}}`)
	var r Reader
	assert.Zero(t, allocs.PerRun(100, func() {
		r.Reset(event)
		r.Enter()
		for first := true; ; first = false {
			key, ok := r.Next(first)
			if !ok {
				break
			}
			KeyIs(key, "data")
			r.Value()
		}
		if !r.Done() {
			t.Fatal("not read")
		}
	}))

	value, text := []byte(`"h\u00e9\n\ud83d\ude00 and more"`), make([]byte, 0, 100)
	assert.Zero(t, allocs.PerRun(100, func() { text = AppendString(text[:0], value) }))
	assert.Zero(t, allocs.PerRun(100, func() { ToUTF8(value) }))
	name := "a name"
	assert.Zero(t, allocs.PerRun(100, func() { text = Quote(text[:0], name) }))
}
