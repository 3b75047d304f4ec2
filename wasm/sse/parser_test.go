package sse

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// feed hands chunk to p and takes the events out. The chunk's memory is wiped after, as that of a buffer used
// again would be: what the parser still needs of it, it has to have copied.
func feed(p *Parser, chunk string) (events []event) {
	memory := []byte(chunk)
	p.Feed(memory)
	for {
		e, ok := p.Next()
		if !ok {
			break
		}
		events = append(events, hold(e))
	}
	for i := range memory {
		memory[i] = '!'
	}
	return events
}

func hold(e Event) event {
	return event{Type: string(e.Type), Data: string(e.Data), ID: string(e.ID), HasID: e.HasID}
}

// parse resets p and gives it the stream, cut at the given ascending positions.
func parse(p *Parser, stream string, cuts ...int) result {
	p.Reset()
	var r result
	from := 0
	for _, cut := range append(cuts, len(stream)) {
		r.Events = append(r.Events, feed(p, stream[from:cut])...)
		from = cut
	}
	r.LastID = string(p.LastEventID())
	if e, ok := p.End(); ok {
		r.End = append(r.End, hold(e))
	}
	r.Retry = -1
	if ms, ok := p.Retry(); ok {
		r.Retry = ms
	}
	r.Err = p.Err()
	return r
}

// randomCuts returns ascending positions in a stream of n bytes, on average mean bytes apart.
func randomCuts(rng *rand.Rand, n, mean int) (cuts []int) {
	for at := rng.IntN(2 * mean); at < n; at += rng.IntN(2 * mean) {
		cuts = append(cuts, at)
	}
	return cuts
}

func everyByte(n int) (cuts []int) {
	for i := 1; i < n; i++ {
		cuts = append(cuts, i)
	}
	return cuts
}

func TestStreams(t *testing.T) {
	for _, c := range streamCases {
		t.Run(c.name, func(t *testing.T) {
			want := result{Events: c.want, End: c.end, LastID: c.lastID, Retry: c.retry}
			if c.retry == 0 {
				want.Retry = -1
			}
			require.Equal(t, want, reference(c.stream, DefaultLimit), "the reference parser")
			require.Equal(t, want, parse(new(Parser), c.stream))
		})
	}
}

// TestCuts shows that where a stream is cut changes nothing.
func TestCuts(t *testing.T) {
	for _, c := range streamCases {
		t.Run(c.name, func(t *testing.T) {
			var p Parser
			n := len(c.stream)
			want := parse(&p, c.stream)
			for cut := range n + 1 {
				require.Equal(t, want, parse(&p, c.stream, cut), "cut at %d", cut)
			}
			require.Equal(t, want, parse(&p, c.stream, everyByte(n)...), "one byte at a time")
			if n < 120 {
				for a := range n + 1 {
					for b := a; b <= n; b++ {
						require.Equal(t, want, parse(&p, c.stream, a, b), "cut at %d and %d", a, b)
					}
				}
			}
			for seed := range uint64(50) {
				cuts := randomCuts(rand.New(rand.NewPCG(seed, 0)), n, 1+int(seed%9))
				require.Equal(t, want, parse(&p, c.stream, cuts...), "seed %d", seed)
			}
		})
	}
}

// TestAllCasesInOneStream shows that no case leaves anything behind for the next one.
func TestAllCasesInOneStream(t *testing.T) {
	var all strings.Builder
	for _, c := range streamCases {
		all.WriteString(c.stream + "\n\n\n")
	}
	want := reference(all.String(), DefaultLimit)
	require.Greater(t, len(want.Events), 100)
	var p Parser
	require.Equal(t, want, parse(&p, all.String()))
	require.Equal(t, want, parse(&p, all.String(), everyByte(all.Len())...))
	for seed := range uint64(100) {
		cuts := randomCuts(rand.New(rand.NewPCG(seed, 1)), all.Len(), 1+int(seed))
		require.Equal(t, want, parse(&p, all.String(), cuts...), "seed %d", seed)
	}
}

// TestDispatchDoesNotWait shows that a blank line ended by CR dispatches before it is known whether LF follows.
func TestDispatchDoesNotWait(t *testing.T) {
	for _, blank := range []string{"\n\n", "\r\r", "\n\r", "\r\n\r", "\r\n\n"} {
		for _, next := range []string{"", "\n"} {
			if next == "\n" && !strings.HasSuffix(blank, "\r") {
				continue
			}
			var p Parser
			assert.Equal(t, []event{ev("", "a")}, feed(&p, "data:a"+blank), "%q", blank)
			assert.Empty(t, feed(&p, next+"data:b"))
			assert.Equal(t, []event{ev("", "b")}, feed(&p, "\n\n"), "%q then %q", blank, next)
		}
	}
}

func TestDataIsInTheChunk(t *testing.T) {
	for _, stream := range []string{"data: a\n\n", "event: t\ndata: a\n\n", "id: 1\r\ndata: a\r\n\r\n", "data: a\r\r"} {
		var p Parser
		feed(&p, ":\n")
		chunk := []byte(stream)
		p.Feed(chunk)
		e, ok := p.Next()
		require.True(t, ok)
		assert.Same(t, &chunk[strings.Index(stream, " a")+1], &e.Data[0], "%q", stream)
	}
}

func TestFeedKeepsWhatWasNotRead(t *testing.T) {
	var p Parser
	p.Feed([]byte("data:1\n\ndata:2\n\nda"))
	e, ok := p.Next()
	require.True(t, ok)
	assert.Equal(t, ev("", "1"), hold(e))
	p.Feed([]byte("ta:3\n\n"))
	p.Feed(nil)
	assert.Equal(t, []event{ev("", "2"), ev("", "3"), ev("", "4")}, feed(&p, "data:4\n\n"))
}

func TestEnd(t *testing.T) {
	t.Run("offers the event once", func(t *testing.T) {
		var p Parser
		feed(&p, "data:1")
		e, ok := p.End()
		require.True(t, ok)
		assert.Equal(t, ev("", "1"), hold(e))
		_, ok = p.End()
		assert.False(t, ok)
	})
	t.Run("goes on with what Next has left", func(t *testing.T) {
		var p Parser
		p.Feed([]byte("data:1\n\ndata:2\n\ndata:3"))
		for _, want := range []string{"1", "2", "3"} {
			e, ok := p.End()
			require.True(t, ok)
			assert.Equal(t, want, string(e.Data))
		}
		_, ok := p.End()
		assert.False(t, ok)
	})
	t.Run("before anything was fed", func(t *testing.T) {
		_, ok := new(Parser).End()
		assert.False(t, ok)
	})
	t.Run("does not move the last event id", func(t *testing.T) {
		var p Parser
		feed(&p, "id:1\n\nid:2\ndata:x")
		e, ok := p.End()
		require.True(t, ok)
		assert.Equal(t, withID(ev("", "x"), "2"), hold(e))
		assert.Equal(t, "1", string(p.LastEventID()))
	})
}

func TestReset(t *testing.T) {
	for _, before := range []string{"data:1", "data:1\n", "event:t\n", "id:1\n", "id:1\n\n", "retry:5\n", ": c", "x", "data:1\n\r", "\xEF"} {
		var p Parser
		feed(&p, before)
		assert.Equal(t, parse(new(Parser), "\ndata:2\n\ndata:3"), parse(&p, "\ndata:2\n\ndata:3"), "after %q", before)
	}
}
