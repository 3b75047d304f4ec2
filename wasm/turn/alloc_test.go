//go:build !race

package turn

import (
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/allocs"
	"github.com/stretchr/testify/assert"
)

// TestNoAllocations shows that an event needs no memory but what its text adds to the turn's.
func TestNoAllocations(t *testing.T) {
	streams := map[string]string{
		"text":              hello,
		"text with escapes": `data: {"type":"text_delta","data":{"chunk":"n\u00e9\n"}}` + "\n\n",
		"text in UTF-8":     `data: {"type":"text_delta","data":{"chunk":"né"}}` + "\n\n",
		"text and more":     `data: {"type":"text_delta","data":{"chunk":"a","n":[1,true]}}` + "\n\n",
		"a typed event":     "event: text_delta\ndata: {\"chunk\":\"a\"}\n\n",
		"several lines":     "event: text_delta\r\ndata: {\r\ndata: \"chunk\":\"a\"}\r\n\r\n",
		"an id":             "id: 12\n" + hello,
		"reasoning":         thinking,
		"another kind":      `data: {"type":"usage","data":{"n":1}}` + "\n\n",
		"no kind":           "data: {\"n\":1}\n\n",
		"the end's marker":  "data: [DONE]\n\n",
	}
	const each = 20
	for name, event := range streams {
		for _, size := range []int{len(event), 7} {
			var stream []byte
			for range each {
				stream = append(stream, event...)
			}
			m := New(config())
			m.Start()
			m.Sent()
			m.Headers(0, eventStream)
			m.Take()
			m.text, m.reasoning = make([]byte, 0, 100<<10), make([]byte, 0, 100<<10)
			var events Batch
			count := 0
			round := func() {
				for from := 0; from < len(stream); from += size {
					m.Feed(0, stream[from:min(from+size, len(stream))])
					for more := true; more; {
						more = m.Batch(&events)
						count += len(events.Marks)
					}
				}
			}
			round()
			assert.Zero(t, allocs.PerRun(50, round), "%s in chunks of %d", name, size)
			if name != "the end's marker" {
				assert.Equal(t, 52*each, count)
			}
		}
	}
}
