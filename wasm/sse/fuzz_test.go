package sse

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzParser compares the parser with the reference, the stream whole and at random cuts, under a limit that
// short streams reach.
func FuzzParser(f *testing.F) {
	for i, c := range streamCases {
		f.Add([]byte(c.stream), uint64(i), uint16(0))
		f.Add([]byte(c.stream), uint64(i), uint16(1+i%12))
	}
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64, limit uint16) {
		var p Parser
		n := int(limit)
		if n == 0 {
			n = DefaultLimit
		}
		p.limit = n
		want := reference(string(stream), n)
		require.Equal(t, want, parse(&p, string(stream)))
		rng := rand.New(rand.NewPCG(seed, 0))
		for _, mean := range []int{1, 3, 20, 200} {
			cuts := randomCuts(rng, len(stream), mean)
			require.Equal(t, want, parse(&p, string(stream), cuts...), "cut about every %d bytes", mean)
			require.LessOrEqual(t, kept(&p), 1024+10*min(n, len(stream)))
		}
	})
}
