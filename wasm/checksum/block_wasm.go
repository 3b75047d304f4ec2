//go:build !tinygo

package checksum

// compress takes the whole blocks in p into state (FIPS 180-4, section 6.2.2).
//
//go:noescape
func compress(state *[8]uint32, p []byte)
