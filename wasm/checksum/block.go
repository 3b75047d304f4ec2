package checksum

import "math/bits"

// roundConstants are K (FIPS 180-4, section 4.2.2).
var roundConstants = [64]uint32{
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
}

// compress takes the whole blocks in p into state (FIPS 180-4, section 6.2.2).
//
// Its form is what measures best in WebAssembly. Sixteen rounds are written out, and run four times a block: the eight
// working variables keep their places, each round calling them by other names, and every index is a constant, so that
// nothing is moved, checked or called. All 64 rounds written out are 5 % faster at three times the code; a loop of
// eight at a time has 0.6 of the speed. Within a round, Ch, Maj and the Σ are expressions, for as functions they are
// inlined with their parameters spilled; and a sum ends with what depends on the newest value. Either is worth up to
// 10 %. A rotation to the left by -n is one to the right by n.
//
//	Ch(e, f, g)  = g ^ e&(f^g)
//	Maj(a, b, c) = b ^ (a^b)&(b^c), where one round's a^b is the next one's b^c: ab and bc take turns
func compress(state *[8]uint32, p []byte) {
	a0, b0, c0, d0, e0, f0, g0, h0 := state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7]
	var w [16]uint32 // the message schedule's last 16 words: W(t) takes the place of W(t-16)
	for len(p) >= blockSize {
		block := (*[blockSize]byte)(p)
		w[0] = getUint32(block[0:])
		w[1] = getUint32(block[4:])
		w[2] = getUint32(block[8:])
		w[3] = getUint32(block[12:])
		w[4] = getUint32(block[16:])
		w[5] = getUint32(block[20:])
		w[6] = getUint32(block[24:])
		w[7] = getUint32(block[28:])
		w[8] = getUint32(block[32:])
		w[9] = getUint32(block[36:])
		w[10] = getUint32(block[40:])
		w[11] = getUint32(block[44:])
		w[12] = getUint32(block[48:])
		w[13] = getUint32(block[52:])
		w[14] = getUint32(block[56:])
		w[15] = getUint32(block[60:])

		a, b, c, d, e, f, g, h := a0, b0, c0, d0, e0, f0, g0, h0

		var ab uint32
		bc := b ^ c
		for t := 0; ; t += 16 {
			k := (*[16]uint32)(roundConstants[t&48:])

			h += k[0] + w[0] + (g ^ e&(f^g)) + (bits.RotateLeft32(e, -6) ^ bits.RotateLeft32(e, -11) ^ bits.RotateLeft32(e, -25))
			d += h
			ab = a ^ b
			h += (b ^ ab&bc) + (bits.RotateLeft32(a, -2) ^ bits.RotateLeft32(a, -13) ^ bits.RotateLeft32(a, -22))

			g += k[1] + w[1] + (f ^ d&(e^f)) + (bits.RotateLeft32(d, -6) ^ bits.RotateLeft32(d, -11) ^ bits.RotateLeft32(d, -25))
			c += g
			bc = h ^ a
			g += (a ^ bc&ab) + (bits.RotateLeft32(h, -2) ^ bits.RotateLeft32(h, -13) ^ bits.RotateLeft32(h, -22))

			f += k[2] + w[2] + (e ^ c&(d^e)) + (bits.RotateLeft32(c, -6) ^ bits.RotateLeft32(c, -11) ^ bits.RotateLeft32(c, -25))
			b += f
			ab = g ^ h
			f += (h ^ ab&bc) + (bits.RotateLeft32(g, -2) ^ bits.RotateLeft32(g, -13) ^ bits.RotateLeft32(g, -22))

			e += k[3] + w[3] + (d ^ b&(c^d)) + (bits.RotateLeft32(b, -6) ^ bits.RotateLeft32(b, -11) ^ bits.RotateLeft32(b, -25))
			a += e
			bc = f ^ g
			e += (g ^ bc&ab) + (bits.RotateLeft32(f, -2) ^ bits.RotateLeft32(f, -13) ^ bits.RotateLeft32(f, -22))

			d += k[4] + w[4] + (c ^ a&(b^c)) + (bits.RotateLeft32(a, -6) ^ bits.RotateLeft32(a, -11) ^ bits.RotateLeft32(a, -25))
			h += d
			ab = e ^ f
			d += (f ^ ab&bc) + (bits.RotateLeft32(e, -2) ^ bits.RotateLeft32(e, -13) ^ bits.RotateLeft32(e, -22))

			c += k[5] + w[5] + (b ^ h&(a^b)) + (bits.RotateLeft32(h, -6) ^ bits.RotateLeft32(h, -11) ^ bits.RotateLeft32(h, -25))
			g += c
			bc = d ^ e
			c += (e ^ bc&ab) + (bits.RotateLeft32(d, -2) ^ bits.RotateLeft32(d, -13) ^ bits.RotateLeft32(d, -22))

			b += k[6] + w[6] + (a ^ g&(h^a)) + (bits.RotateLeft32(g, -6) ^ bits.RotateLeft32(g, -11) ^ bits.RotateLeft32(g, -25))
			f += b
			ab = c ^ d
			b += (d ^ ab&bc) + (bits.RotateLeft32(c, -2) ^ bits.RotateLeft32(c, -13) ^ bits.RotateLeft32(c, -22))

			a += k[7] + w[7] + (h ^ f&(g^h)) + (bits.RotateLeft32(f, -6) ^ bits.RotateLeft32(f, -11) ^ bits.RotateLeft32(f, -25))
			e += a
			bc = b ^ c
			a += (c ^ bc&ab) + (bits.RotateLeft32(b, -2) ^ bits.RotateLeft32(b, -13) ^ bits.RotateLeft32(b, -22))

			h += k[8] + w[8] + (g ^ e&(f^g)) + (bits.RotateLeft32(e, -6) ^ bits.RotateLeft32(e, -11) ^ bits.RotateLeft32(e, -25))
			d += h
			ab = a ^ b
			h += (b ^ ab&bc) + (bits.RotateLeft32(a, -2) ^ bits.RotateLeft32(a, -13) ^ bits.RotateLeft32(a, -22))

			g += k[9] + w[9] + (f ^ d&(e^f)) + (bits.RotateLeft32(d, -6) ^ bits.RotateLeft32(d, -11) ^ bits.RotateLeft32(d, -25))
			c += g
			bc = h ^ a
			g += (a ^ bc&ab) + (bits.RotateLeft32(h, -2) ^ bits.RotateLeft32(h, -13) ^ bits.RotateLeft32(h, -22))

			f += k[10] + w[10] + (e ^ c&(d^e)) + (bits.RotateLeft32(c, -6) ^ bits.RotateLeft32(c, -11) ^ bits.RotateLeft32(c, -25))
			b += f
			ab = g ^ h
			f += (h ^ ab&bc) + (bits.RotateLeft32(g, -2) ^ bits.RotateLeft32(g, -13) ^ bits.RotateLeft32(g, -22))

			e += k[11] + w[11] + (d ^ b&(c^d)) + (bits.RotateLeft32(b, -6) ^ bits.RotateLeft32(b, -11) ^ bits.RotateLeft32(b, -25))
			a += e
			bc = f ^ g
			e += (g ^ bc&ab) + (bits.RotateLeft32(f, -2) ^ bits.RotateLeft32(f, -13) ^ bits.RotateLeft32(f, -22))

			d += k[12] + w[12] + (c ^ a&(b^c)) + (bits.RotateLeft32(a, -6) ^ bits.RotateLeft32(a, -11) ^ bits.RotateLeft32(a, -25))
			h += d
			ab = e ^ f
			d += (f ^ ab&bc) + (bits.RotateLeft32(e, -2) ^ bits.RotateLeft32(e, -13) ^ bits.RotateLeft32(e, -22))

			c += k[13] + w[13] + (b ^ h&(a^b)) + (bits.RotateLeft32(h, -6) ^ bits.RotateLeft32(h, -11) ^ bits.RotateLeft32(h, -25))
			g += c
			bc = d ^ e
			c += (e ^ bc&ab) + (bits.RotateLeft32(d, -2) ^ bits.RotateLeft32(d, -13) ^ bits.RotateLeft32(d, -22))

			b += k[14] + w[14] + (a ^ g&(h^a)) + (bits.RotateLeft32(g, -6) ^ bits.RotateLeft32(g, -11) ^ bits.RotateLeft32(g, -25))
			f += b
			ab = c ^ d
			b += (d ^ ab&bc) + (bits.RotateLeft32(c, -2) ^ bits.RotateLeft32(c, -13) ^ bits.RotateLeft32(c, -22))

			a += k[15] + w[15] + (h ^ f&(g^h)) + (bits.RotateLeft32(f, -6) ^ bits.RotateLeft32(f, -11) ^ bits.RotateLeft32(f, -25))
			e += a
			bc = b ^ c
			a += (c ^ bc&ab) + (bits.RotateLeft32(b, -2) ^ bits.RotateLeft32(b, -13) ^ bits.RotateLeft32(b, -22))

			if t == 48 {
				break
			}
			w[0] += smallSigma1(w[14]) + w[9] + smallSigma0(w[1])
			w[1] += smallSigma1(w[15]) + w[10] + smallSigma0(w[2])
			w[2] += smallSigma1(w[0]) + w[11] + smallSigma0(w[3])
			w[3] += smallSigma1(w[1]) + w[12] + smallSigma0(w[4])
			w[4] += smallSigma1(w[2]) + w[13] + smallSigma0(w[5])
			w[5] += smallSigma1(w[3]) + w[14] + smallSigma0(w[6])
			w[6] += smallSigma1(w[4]) + w[15] + smallSigma0(w[7])
			w[7] += smallSigma1(w[5]) + w[0] + smallSigma0(w[8])
			w[8] += smallSigma1(w[6]) + w[1] + smallSigma0(w[9])
			w[9] += smallSigma1(w[7]) + w[2] + smallSigma0(w[10])
			w[10] += smallSigma1(w[8]) + w[3] + smallSigma0(w[11])
			w[11] += smallSigma1(w[9]) + w[4] + smallSigma0(w[12])
			w[12] += smallSigma1(w[10]) + w[5] + smallSigma0(w[13])
			w[13] += smallSigma1(w[11]) + w[6] + smallSigma0(w[14])
			w[14] += smallSigma1(w[12]) + w[7] + smallSigma0(w[15])
			w[15] += smallSigma1(w[13]) + w[8] + smallSigma0(w[0])
		}

		a0, b0, c0, d0, e0, f0, g0, h0 = a0+a, b0+b, c0+c, d0+d, e0+e, f0+f, g0+g, h0+h
		p = p[blockSize:]
	}
	state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7] = a0, b0, c0, d0, e0, f0, g0, h0
}

// smallSigma0 and smallSigma1 are σ0 and σ1 of the message schedule (FIPS 180-4, section 4.1.2).
func smallSigma0(x uint32) uint32 {
	return bits.RotateLeft32(x, -7) ^ bits.RotateLeft32(x, -18) ^ x>>3
}

func smallSigma1(x uint32) uint32 {
	return bits.RotateLeft32(x, -17) ^ bits.RotateLeft32(x, -19) ^ x>>10
}
