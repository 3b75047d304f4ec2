package checksum

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// vectors are NIST's: the examples of FIPS 180-4 and their additions
// (https://csrc.nist.gov/projects/cryptographic-standards-and-guidelines/example-values), and the first short messages
// of CAVS 11.0, SHA256ShortMsg.
var vectors = []struct {
	name    string
	message []byte
	want    string
}{
	{"empty", nil, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
	{"abc", []byte("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
	{"448 bits", []byte("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
	{"896 bits", []byte("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"), "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
	{"a million a", bytes.Repeat([]byte{'a'}, 1_000_000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
	{"1 byte", []byte{0xbd}, "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b"},
	{"4 bytes", []byte{0xc9, 0x8c, 0x8e, 0x55}, "7abc22c0ae5af26ce93dbb94433a0e0b2e119d014f8e7f65bd56c61ccccd9504"},
	{"55 zeros, the most that one block holds", make([]byte, 55), "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7"},
	{"56 zeros", make([]byte, 56), "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb"},
	{"57 zeros", make([]byte, 57), "65a16cb7861335d5ace3c60718b5052e44660726da4cd13bb745381b235a1785"},
	{"64 zeros", make([]byte, 64), "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b"},
	{"1000 zeros", make([]byte, 1000), "541b3e9daa09b20bf85fa273e5cbd3e80185aa4ec298e765db87742b70138a53"},
	{"1000 A", bytes.Repeat([]byte{'A'}, 1000), "c2e686823489ced2017f6059b8b239318b6364f6dcd835d0a519105a1eadd6e4"},
	{"1005 U", bytes.Repeat([]byte{'U'}, 1005), "f4d62ddec0f3dd90ea1380fa16a5ff8dc4c54b21740650f24afc4120903552b0"},
	{"a million zeros", make([]byte, 1_000_000), "d29751f2649b32ff572b5e0a9f541ea660a50f94ff0beedfb0b692b924cc8025"},
	{"CAVS 8 bits", unhex("d3"), "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1"},
	{"CAVS 16 bits", unhex("11af"), "5ca7133fa735326081558ac312c620eeca9970d1e70a4b95533d956f072d1f98"},
	{"CAVS 24 bits", unhex("b4190e"), "dff2e73091f6c05e528896c4c831b9448653dc2ff043528f6769437bc7b975c2"},
	{"CAVS 32 bits", unhex("74ba2521"), "b16aa56be3880d18cd41e68384cf1ec8c17680c45a02b1575dc1518923ae8b0e"},
	{"CAVS 40 bits", unhex("c299209682"), "f0887fe961c9cd3beab957e8222494abb969b1ce4c6557976df8b0f6d20e9166"},
	{"CAVS 48 bits", unhex("e1dc724d5621"), "eca0a060b489636225b4fa64d267dabbe44273067ac679f20820bddc6b6a90ac"},
	{"CAVS 56 bits", unhex("06e076f5a442d5"), "3fd877e27450e6bbd5d74bb82f9870c64c66e109418baa8e6bbcff355e287926"},
	{"CAVS 64 bits", unhex("5738c929c4f4ccb6"), "963bb88f27f512777aab6c8b1a02c70ec0ad651d428f870036e1917120fb48bf"},
}

func unhex(s string) []byte {
	p, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return p
}

func sumOf(pieces ...[]byte) [32]byte {
	var h Hash
	for _, p := range pieces {
		h.Write(p)
	}
	return h.Sum()
}

// randomBytes returns n bytes that depend on seed alone.
func randomBytes(seed uint64, n int) []byte {
	var key [32]byte
	putUint64(key[:], seed)
	p := make([]byte, n)
	_, _ = rand.NewChaCha8(key).Read(p) // never fails
	return p
}

func TestVectors(t *testing.T) {
	for _, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			sum := sumOf(v.message)
			assert.Equal(t, v.want, hex.EncodeToString(sum[:]))
		})
	}
}

// TestMonteCarlo is NIST's test of long chains: each message is the last three sums
// (The Secure Hash Algorithm Validation System, section 6.4), with seed and results of CAVS 11.0, SHA256Monte.
func TestMonteCarlo(t *testing.T) {
	seed := [32]byte(unhex("6d1e72ad03ddeb5de891e572e2396f8da015d899ef0e79503152d6010a3fe691"))
	want := map[int]string{
		0:  "e93c330ae5447738c8aa85d71a6c80f2a58381d05872d26bdd39f1fcd4f2b788",
		99: "6a912ba4188391a78e6f13d88ed2d14e13afce9db6f7dcbf4a48c24f3db02778",
	}
	for i := range 100 {
		a, b, c := seed, seed, seed
		for range 1000 {
			a, b, c = b, c, sumOf(a[:], b[:], c[:])
		}
		seed = c
		if w, ok := want[i]; ok {
			require.Equal(t, w, hex.EncodeToString(seed[:]), "result %d", i)
		}
	}
}

// TestEveryCut writes streams of every length about the first blocks in two pieces, cut everywhere.
func TestEveryCut(t *testing.T) {
	stream := randomBytes(1, 300)
	for n := range len(stream) + 1 {
		want := sha256.Sum256(stream[:n])
		for cut := range n + 1 {
			if got := sumOf(stream[:cut], stream[cut:n]); got != want {
				require.Equal(t, want, got, "%d bytes cut at %d", n, cut)
			}
		}
	}
}

// TestRandomPieces writes long streams in pieces of random sizes, from bytes to several passes, and looks at the sum
// on the way.
func TestRandomPieces(t *testing.T) {
	stream := randomBytes(2, 1<<20)
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 0))
		most := 1 << (1 + rng.IntN(18))
		var h Hash
		want := sha256.New()
		for rest := stream[:rng.IntN(min(len(stream), 2000*most))]; len(rest) > 0; {
			n := min(rng.IntN(most+1), len(rest))
			h.Write(rest[:n])
			want.Write(rest[:n])
			rest = rest[n:]
			if rng.IntN(50) == 0 || len(rest) == 0 {
				sum := h.Sum()
				require.Equal(t, want.Sum(nil), sum[:], "seed %d, %d bytes left", seed, len(rest))
			}
		}
	}
}

func TestPassEnds(t *testing.T) {
	stream := randomBytes(3, 3*passSize+2*blockSize)
	for _, near := range []int{passSize, 2 * passSize, 3 * passSize} {
		for n := near - blockSize - 1; n <= near+blockSize+1; n++ {
			for _, cut := range []int{0, 1, blockSize - 1, blockSize} {
				require.Equal(t, sha256.Sum256(stream[:n]), sumOf(stream[:cut], stream[cut:n]), "%d bytes cut at %d", n, cut)
			}
		}
	}
}

func TestHashGoesOn(t *testing.T) {
	var h Hash
	assert.Equal(t, sha256.Sum256(nil), h.Sum(), "the zero value")
	assert.Zero(t, h.size)

	h.Write([]byte("ab"))
	assert.Equal(t, sha256.Sum256([]byte("ab")), h.Sum())
	assert.Equal(t, h.Sum(), h.Sum(), "a sum changes nothing")

	fork := h
	h.Write([]byte("c"))
	fork.Write([]byte("d"))
	assert.Equal(t, sha256.Sum256([]byte("abc")), h.Sum(), "after a sum")
	assert.Equal(t, sha256.Sum256([]byte("abd")), fork.Sum(), "a copy")
	assert.Equal(t, int64(3), h.size)

	h.Write(make([]byte, 1000))
	assert.Equal(t, int64(1003), h.size)
	h.Reset()
	assert.Zero(t, h.size)
	assert.Equal(t, sha256.Sum256(nil), h.Sum(), "reset")
	h.Write([]byte("abc"))
	assert.Equal(t, sha256.Sum256([]byte("abc")), h.Sum(), "written to after a reset")
}
