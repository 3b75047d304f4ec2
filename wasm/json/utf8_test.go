package json

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// decoded is the UTF-8 decoder of the Encoding standard (section 8.1.1), step by step as it is written there.
func decoded(text []byte) string {
	var out []rune
	var point rune
	seen, needed := 0, 0
	lower, upper := byte(0x80), byte(0xBF)
	for i := 0; i < len(text); i++ {
		b := text[i]
		if needed == 0 {
			switch {
			case b <= 0x7F:
				out = append(out, rune(b))
			case b >= 0xC2 && b <= 0xDF:
				needed, point = 1, rune(b&0x1F)
			case b >= 0xE0 && b <= 0xEF:
				if b == 0xE0 {
					lower = 0xA0
				}
				if b == 0xED {
					upper = 0x9F
				}
				needed, point = 2, rune(b&0xF)
			case b >= 0xF0 && b <= 0xF4:
				if b == 0xF0 {
					lower = 0x90
				}
				if b == 0xF4 {
					upper = 0x8F
				}
				needed, point = 3, rune(b&0x7)
			default:
				out = append(out, 0xFFFD)
			}
			continue
		}
		if b < lower || b > upper {
			point, needed, seen, lower, upper = 0, 0, 0, 0x80, 0xBF
			out = append(out, 0xFFFD)
			i-- // the byte is read again
			continue
		}
		lower, upper = 0x80, 0xBF
		point = point<<6 | rune(b&0x3F)
		if seen++; seen == needed {
			out = append(out, point)
			point, needed, seen = 0, 0, 0
		}
	}
	if needed != 0 {
		out = append(out, 0xFFFD)
	}
	return string(out)
}

func TestToUTF8(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		"abc é 日本語 😀":                "abc é 日本語 😀",
		"\x80":                       "\uFFFD",
		"\xC0\x80":                   "\uFFFD\uFFFD",
		"\xE2\x82":                   "\uFFFD",
		"\xE2\x82A":                  "\uFFFDA",
		"\xE2A\x82":                  "\uFFFDA\uFFFD",
		"\xF0\x9F\x98":               "\uFFFD",
		"\xF0\x9F\x98x":              "\uFFFDx",
		"\xF0\x80\x80\x80":           "\uFFFD\uFFFD\uFFFD\uFFFD",
		"\xED\xA0\x80":               "\uFFFD\uFFFD\uFFFD",
		"\xF4\x90\x80\x80":           "\uFFFD\uFFFD\uFFFD\uFFFD",
		"\xF5\x80":                   "\uFFFD\uFFFD",
		"\xE2\x82\xE2\x82\xAC":       "\uFFFD€",
		"\uFFFD":                     "\uFFFD",
		"a\xF1\x80\x80\xE1\x80\xC2b": "a\uFFFD\uFFFD\uFFFDb",
	} {
		assert.Equal(t, want, string(ToUTF8([]byte(text))), "%q", text)
		assert.Equal(t, want, decoded([]byte(text)), "%q", text)
	}
	same := []byte("é")
	assert.Same(t, &same[0], &ToUTF8(same)[0], "what is well-formed is not copied")
}

// TestToUTF8Everywhere has every text of two bytes, and of four where they matter.
func TestToUTF8Everywhere(t *testing.T) {
	for a := range 256 {
		for b := range 256 {
			compareUTF8(t, []byte{byte(a), byte(b)})
		}
	}
	edges := []byte{0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xFF}
	for _, a := range edges {
		for _, b := range edges {
			for _, c := range edges {
				for _, d := range edges {
					compareUTF8(t, []byte{a, b, c, d})
				}
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		text := make([]byte, rng.IntN(40))
		for i := range text {
			text[i] = edges[rng.IntN(len(edges))]
		}
		compareUTF8(t, text)
	}
}

func compareUTF8(t *testing.T, text []byte) {
	if got, want := string(ToUTF8(text)), decoded(text); got != want {
		require.Equal(t, want, got, "%q", text)
	}
}

func FuzzToUTF8(f *testing.F) {
	f.Add([]byte("a\xF1\x80\x80\xE1\x80\xC2b"))
	f.Fuzz(compareUTF8)
}
