package checksum

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRestoreAtEveryCut saves at every position of a stream and goes on in a Hash that has seen another one.
func TestRestoreAtEveryCut(t *testing.T) {
	stream := randomBytes(4, 300)
	want := sha256.Sum256(stream)
	for cut := range len(stream) + 1 {
		var h Hash
		h.Write(stream[:cut])
		state := h.AppendState([]byte("kept"))
		require.Equal(t, "kept", string(state[:4]))
		require.Len(t, state, 4+stateSize+cut%blockSize)

		var on Hash
		on.Write([]byte("another stream"))
		require.True(t, on.Restore(state[4:]), "cut at %d", cut)
		require.Equal(t, int64(cut), on.size)
		require.Equal(t, sha256.Sum256(stream[:cut]), on.Sum(), "cut at %d", cut)
		require.Equal(t, state[4:], on.AppendState(nil), "saved again")
		on.Write(stream[cut:])
		require.Equal(t, want, on.Sum(), "cut at %d", cut)
		h.Write(stream[cut:])
		require.Equal(t, want, h.Sum(), "saving at %d changes nothing", cut)
	}
}

// TestStateStays holds the saved form: a page may be reloaded with a newer module than the one that saved.
func TestStateStays(t *testing.T) {
	stream := bytes.Repeat([]byte("0123456789"), 7)
	var h Hash
	h.Write(stream)
	want := append(unhex(savedState), "456789"...)
	assert.Equal(t, want, h.AppendState(nil))
}

// TestLongStreams goes on with streams of lengths that 32 bits do not hold, in bytes or in bits, beside crypto/sha256.
func TestLongStreams(t *testing.T) {
	stream := randomBytes(9, 200)
	for _, size := range []uint64{1<<29 - 64, 1 << 29, 1<<31 - 64, 1 << 31, 1<<32 - 64, 1 << 32, 5<<40 + 64, maxSize - 256} {
		for tail := range uint64(2) {
			var h Hash
			h.Write(stream[:64+tail])
			state := h.AppendState(nil)
			putUint64(state[1:], size+tail)
			require.True(t, h.Restore(state))

			// The form that crypto/sha256 saves: a mark, H(i), the block begun, the length.
			theirs := append([]byte("sha\x03"), state[9:9+32]...)
			theirs = append(theirs, append(bytes.Clone(stream[64:64+tail]), make([]byte, blockSize-tail)...)...)
			theirs = append(theirs, state[1:9]...)
			want := sha256.New()
			require.NoError(t, want.(encoding.BinaryUnmarshaler).UnmarshalBinary(theirs))

			h.Write(stream[:150])
			want.Write(stream[:150])
			sum := h.Sum()
			require.Equal(t, want.Sum(nil), sum[:], "after %d bytes", size+tail)
			require.Equal(t, int64(size+tail+150), h.size)
		}
	}
}

func TestRestoreRefuses(t *testing.T) {
	var h Hash
	h.Write(randomBytes(5, 100))
	good := h.AppendState(nil)
	with := func(at int, b byte) []byte {
		state := bytes.Clone(good)
		state[at] = b
		return state
	}
	cases := map[string][]byte{
		"nothing":                   nil,
		"a version alone":           good[:1],
		"less than the fixed part":  good[:stateSize-1],
		"no tail":                   good[:stateSize],
		"a byte short":              good[:len(good)-1],
		"a byte over":               append(bytes.Clone(good), 0),
		"a block over":              append(bytes.Clone(good), make([]byte, blockSize)...),
		"version 0":                 with(0, 0),
		"a later version":           with(0, stateVersion+1),
		"a length of another tail":  with(8, 101),
		"a length past the largest": with(1, 0x20),
		"a negative length":         with(1, 0x80),
	}
	for name, state := range cases {
		t.Run(name, func(t *testing.T) {
			before := h
			assert.False(t, h.Restore(state))
			assert.Equal(t, before, h, "it stays as it was")
		})
	}

	require.True(t, h.Restore(with(1, 0x1f)), "the largest length there is")
	assert.Equal(t, int64(0x1f00000000000064), h.size)
}

// savedState is version 1, 70 bytes, and H(1).
const savedState = "01" + "0000000000000046" +
	"f1fe7b0990beace30f0b4ecb81f036bc154ecb060d1b3fda528f9103b9275e1c"
