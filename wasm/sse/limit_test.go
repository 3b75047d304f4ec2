package sse

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// kept is the number of bytes that p holds on to by itself.
func kept(p *Parser) int {
	return cap(p.event.data) + cap(p.event.kind) + cap(p.event.id) + cap(p.line.id) + cap(p.last)
}

func TestLimit(t *testing.T) {
	const limit = 100
	x := func(n int) string { return strings.Repeat("x", n) }
	cases := []struct {
		name, stream string
		events       int
		err          error
	}{
		{"data of the limit", "data:" + x(limit) + "\n\n", 1, nil},
		{"data of the limit after a space", "data: " + x(limit) + "\n\n", 1, nil},
		{"data over it", "data:" + x(limit+1) + "\n\n", 0, ErrTooLong},
		{"unfinished data over it", "data:" + x(limit+1), 0, ErrTooLong},
		{"lines of the limit", "data:" + x(limit-2) + "\ndata:\ndata\n\n", 1, nil},
		{"lines over it", "data:" + x(limit-2) + "\ndata:\ndata:\ndata\n\n", 0, ErrTooLong},
		{"empty lines over it", strings.Repeat("data\n", limit+2), 0, ErrTooLong},
		{"events before it", "data:1\n\ndata:2\n\ndata:" + x(limit+1) + "\n\ndata:3\n\n", 2, ErrTooLong},
		{"each event anew", strings.Repeat("data:"+x(limit)+"\n\n", 5), 5, nil},
		{"type of the limit", "event:" + x(limit) + "\ndata:1\n\n", 1, nil},
		{"type over it", "event:" + x(limit+1) + "\ndata:1\n\n", 0, ErrTooLong},
		{"id of the limit", "id:" + x(limit) + "\ndata:1\n\n", 1, nil},
		{"id over it", "id:" + x(limit+1) + "\ndata:1\n\n", 0, ErrTooLong},
		{"id refused for NUL is not counted on", "id:\x00" + x(limit+1) + "\ndata:1\n\n", 1, nil},
		{"long comment", ":" + x(9*limit) + "\ndata:1\n\n", 1, nil},
		{"long unknown field", "other:" + x(9*limit) + "\ndata:1\n\n", 1, nil},
		{"long name", x(9*limit) + "\ndata:1\n\n", 1, nil},
		{"long retry", "retry:" + strings.Repeat("0", 9*limit) + "5\ndata:1\n\n", 1, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var p Parser
			p.limit = limit
			want := reference(c.stream, limit)
			require.Len(t, want.Events, c.events)
			require.Equal(t, c.err, want.Err)
			require.Equal(t, want, parse(&p, c.stream))
			require.Equal(t, want, parse(&p, c.stream, everyByte(len(c.stream))...))
			for cut := range len(c.stream) {
				require.Equal(t, want, parse(&p, c.stream, cut), "cut at %d", cut)
			}
		})
	}
}

func TestErrTooLongStays(t *testing.T) {
	var p Parser
	p.limit = 3
	assert.Equal(t, []event{ev("", "1")}, feed(&p, "data:1\n\ndata:1234"))
	assert.ErrorIs(t, p.Err(), ErrTooLong)
	assert.Empty(t, feed(&p, "\n\ndata:1\n\n"))
	_, ok := p.End()
	assert.False(t, ok)
	assert.ErrorIs(t, p.Err(), ErrTooLong)

	p.Reset()
	require.NoError(t, p.Err())
	assert.Equal(t, []event{ev("", "1")}, feed(&p, "data:1\n\n"))
	assert.Empty(t, feed(&p, "data:1234\n\n"), "the limit outlives Reset")
	assert.ErrorIs(t, p.Err(), ErrTooLong)
}

func TestDefaultLimit(t *testing.T) {
	piece := strings.Repeat("x", 1<<16)
	for _, p := range []*Parser{{}, {limit: DefaultLimit}} {
		feed(p, "data:")
		for range DefaultLimit / len(piece) {
			feed(p, piece)
		}
		require.NoError(t, p.Err())
		events := feed(p, "\n\n")
		require.Len(t, events, 1)
		assert.Len(t, events[0].Data, DefaultLimit)
		feed(p, "data:")
		for range DefaultLimit / len(piece) {
			feed(p, piece)
		}
		feed(p, "y")
		assert.ErrorIs(t, p.Err(), ErrTooLong)
		assert.Less(t, kept(p), DefaultLimit*3/2)
	}
}

func TestNamesAreShort(t *testing.T) {
	for _, name := range []string{"event", "id"} {
		var p Parser
		line := name + ":" + strings.Repeat("x", nameLimit)
		require.Len(t, parse(&p, line+"\ndata:1\n\n").Events, 1)
		require.Equal(t, result{Retry: -1, Err: ErrTooLong}, parse(&p, line+"y\ndata:1\n\n"))
		require.Equal(t, result{Retry: -1, Err: ErrTooLong}, parse(&p, line+"y\ndata:1\n\n", 1000, 60000))
	}
}

// TestEndlessLinesTakeNoMemory feeds 64 MiB of one line of each kind that is not kept.
func TestEndlessLinesTakeNoMemory(t *testing.T) {
	piece := []byte(strings.Repeat("7", 1<<20))
	for _, begin := range []string{":", "other:", "a name without end ", "\xEF\xBB", "id:\x00", "retry:", "data\x00"} {
		var p Parser
		p.Feed([]byte(begin))
		for range 64 {
			_, ok := p.Next()
			require.False(t, ok)
			p.Feed(piece)
		}
		require.Equal(t, []event(nil), feed(&p, ""), "%q", begin)
		require.NoError(t, p.Err())
		require.Less(t, kept(&p), 64)
		require.Equal(t, []event{ev("", "1")}, feed(&p, "\ndata:1\n\n"))
	}
}
