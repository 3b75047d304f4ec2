//go:build !wasm && !tinygo

package checksum

import "math/bits"

// compress takes the whole blocks in p into state (FIPS 180-4, section 6.2.2), step by step as the standard does:
// natively only tests run it.
func compress(state *[8]uint32, p []byte) {
	for ; len(p) >= blockSize; p = p[blockSize:] {
		var w [64]uint32
		for t := range 16 {
			w[t] = getUint32(p[4*t:])
		}
		for t := 16; t < 64; t++ {
			w[t] = smallSigma1(w[t-2]) + w[t-7] + smallSigma0(w[t-15]) + w[t-16]
		}

		a, b, c, d, e, f, g, h := state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7]
		for t := range w {
			t1 := h + bigSigma1(e) + (e&f ^ ^e&g) + roundConstants[t] + w[t]
			t2 := bigSigma0(a) + (a&b ^ a&c ^ b&c)
			h, g, f, e, d, c, b, a = g, f, e, d+t1, c, b, a, t1+t2
		}
		for i, v := range [8]uint32{a, b, c, d, e, f, g, h} {
			state[i] += v
		}
	}
}

// The Σ and σ of FIPS 180-4, section 4.1.2. A rotation to the left by -n is one to the right by n.

func bigSigma0(x uint32) uint32 {
	return bits.RotateLeft32(x, -2) ^ bits.RotateLeft32(x, -13) ^ bits.RotateLeft32(x, -22)
}

func bigSigma1(x uint32) uint32 {
	return bits.RotateLeft32(x, -6) ^ bits.RotateLeft32(x, -11) ^ bits.RotateLeft32(x, -25)
}

func smallSigma0(x uint32) uint32 {
	return bits.RotateLeft32(x, -7) ^ bits.RotateLeft32(x, -18) ^ x>>3
}

func smallSigma1(x uint32) uint32 {
	return bits.RotateLeft32(x, -17) ^ bits.RotateLeft32(x, -19) ^ x>>10
}
