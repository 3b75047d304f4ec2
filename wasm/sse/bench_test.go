package sse

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

const benchEvents = 50_000

// BenchmarkParser reads a stream of 50,000 text events, cut three ways. ns/event is the number to watch: the
// parser runs in the page, on every byte that arrives.
func BenchmarkParser(b *testing.B) {
	shapes := []struct{ name, event string }{
		{"data", "data: {\"type\":\"text_delta\",\"data\":{\"chunk\":\"word \"}}\n\n"},
		{"typed", "event: text_delta\ndata: {\"chunk\":\"word \"}\n\n"},
		{"crlf", "data: {\"type\":\"text_delta\",\"data\":{\"chunk\":\"word \"}}\r\n\r\n"},
	}
	for _, shape := range shapes {
		stream := bytes.Repeat([]byte(shape.event), benchEvents)
		rng := rand.New(rand.NewPCG(1, 2))
		cuts := []struct {
			name string
			size func() int
		}{
			{"event", func() int { return len(shape.event) }},
			{"16KiB", func() int { return 16 << 10 }},
			{"random", func() int { return 1 + rng.IntN(1500) }},
		}
		for _, cut := range cuts {
			var chunks [][]byte
			for rest := stream; len(rest) > 0; {
				n := min(cut.size(), len(rest))
				chunks, rest = append(chunks, rest[:n]), rest[n:]
			}
			b.Run(shape.name+"/"+cut.name, func(b *testing.B) {
				var p Parser
				b.ReportAllocs()
				for b.Loop() {
					events := 0
					for _, chunk := range chunks {
						p.Feed(chunk)
						for {
							if _, ok := p.Next(); !ok {
								break
							}
							events++
						}
					}
					if events != benchEvents {
						b.Fatalf("%d events", events)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchEvents, "ns/event")
			})
		}
	}
}
