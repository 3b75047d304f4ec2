//go:build !race

package sse

import (
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/allocs"
	"github.com/stretchr/testify/assert"
)

// TestNoAllocations shows that a parser that has seen its largest event needs no more memory.
func TestNoAllocations(t *testing.T) {
	streams := map[string]string{
		"data":  "data: {\"type\":\"text_delta\"}\n\n",
		"typed": "event: text_delta\ndata: {}\n\n",
		"crlf":  "id: 12\r\nevent: text_delta\r\ndata: {}\r\n\r\n",
		"lines": "data: {\ndata: }\nid: 3\nretry: 100\n: comment\nunknown: field\n\n",
	}
	for name, stream := range streams {
		for _, size := range []int{len(stream), 7, 1} {
			chunk := []byte(stream)
			var p Parser
			events := 0
			round := func() {
				for from := 0; from < len(chunk); from += size {
					p.Feed(chunk[from:min(from+size, len(chunk))])
					for _, ok := p.Next(); ok; _, ok = p.Next() {
						events++
					}
				}
			}
			round()
			assert.Zero(t, allocs.PerRun(100, round), "%s in chunks of %d", name, size)
			assert.Equal(t, 102, events)
		}
	}
}
