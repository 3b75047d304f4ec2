package checksum

import (
	"crypto/sha256"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzHash compares with crypto/sha256, over a stream that is repeated up to eight times, written in random pieces
// and saved and restored between them; and restores whatever state it is given.
func FuzzHash(f *testing.F) {
	for i, v := range vectors {
		if len(v.message) <= 1005 {
			f.Add(v.message, uint64(i), uint8(i*i))
		}
	}
	var h Hash
	h.Write(make([]byte, 100))
	f.Add(h.AppendState(nil), uint64(0), uint8(0))

	f.Fuzz(func(t *testing.T, stream []byte, seed uint64, times uint8) {
		var given Hash
		if given.Restore(stream) {
			require.Equal(t, stream[1:9], given.AppendState(nil)[1:9])
			given.Write(stream)
		}

		var h Hash
		want := sha256.New()
		rng := rand.New(rand.NewPCG(seed, 0))
		for range 1 + times%8 {
			want.Write(stream)
			for rest := stream; len(rest) > 0; {
				n := 1 + rng.IntN(len(rest))
				h.Write(rest[:n])
				rest = rest[n:]
				if rng.IntN(4) == 0 {
					var on Hash
					require.True(t, on.Restore(h.AppendState(nil)))
					h = on
				}
			}
		}
		sum := h.Sum()
		require.Equal(t, want.Sum(nil), sum[:])
		require.Equal(t, int64(len(stream))*int64(1+times%8), h.size)
	})
}
