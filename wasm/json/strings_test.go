package json

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestKeyIs(t *testing.T) {
	for _, c := range []struct {
		key, name string
		want      bool
	}{
		{`data`, "data", true},
		{`data`, "dat", false},
		{`dat`, "data", false},
		{``, "", true},
		{``, "data", false},
		{`Data`, "data", false},
		{`\u0064ata`, "data", true},
		{`\u0064\u0061\u0074\u0061`, "data", true},
		{`dat\u0061x`, "data", false},
		{`\u0044ata`, "data", false},
		{`a\/b`, "a/b", true},
		{`a\\b`, `a\b`, true},
		{`a\\b`, `a\\b`, true},
		{`a\"b`, `a"b`, true},
		{`\n`, "n", false},
	} {
		t.Run(c.key+" "+c.name, func(t *testing.T) { assert.Equal(t, c.want, KeyIs([]byte(c.key), c.name)) })
	}
}

func TestString(t *testing.T) {
	for value, want := range map[string]string{
		`""`:                         "",
		`"a"`:                        "a",
		`"\"\\\/\b\f\n\r\t"`:         "\"\\/\b\f\n\r\t",
		`"\u0000\u001f\u007f"`:       "\x00\x1f\x7f",
		`"\u00e9\u20AC"`:             "é€",
		`"\ud83d\ude00"`:             "😀",
		`"\uDBFF\uDFFF"`:             "\U0010FFFF",
		`"\ud800\udc00"`:             "\U00010000",
		`"a\ud83db"`:                 "a\uFFFDb",
		`"\ud83d"`:                   "\uFFFD",
		`"\ude00"`:                   "\uFFFD",
		`"\ude00\ud83d"`:             "\uFFFD\uFFFD",
		`"\ud83d\ud83d\ude00"`:       "\uFFFD😀",
		`"\ud83d\n"`:                 "\uFFFD\n",
		`"\ud83d\u0041"`:             "\uFFFDA",
		`"日本語"`:                      "日本語",
		`7`:                          "",
		`null`:                       "",
		`{"a":"b"}`:                  "",
		`"`:                          "",
		``:                           "",
		`"\uFFFF\uFFFE\uD7FF\uE000"`: "\uFFFF\uFFFE\uD7FF\uE000",
	} {
		t.Run(value, func(t *testing.T) {
			assert.Equal(t, want, String([]byte(value)))
			assert.True(t, utf8.ValidString(String([]byte(value))))
		})
	}
}

// TestFragments joins what a service has cut by UTF-16 units, at each place, and in three.
func TestFragments(t *testing.T) {
	const text = "a😀é𝄞👩‍👩‍👧z"
	units := utf16.Encode([]rune(text))
	for i := range units {
		for j := i; j < len(units); j++ {
			var got []byte
			for _, part := range [][]uint16{units[:i], units[i:j], units[j:]} {
				got = AppendString(got, quoted(part))
				assert.True(t, utf8.Valid(got) || EndsInHalf(got) && utf8.Valid(got[:len(got)-3]))
			}
			require.Equal(t, text, string(got), "cut at %d and %d", i, j)
		}
	}
}

func quoted(units []uint16) []byte {
	const digits = "0123456789ABCDEF"
	b := []byte{'"'}
	for _, u := range units {
		b = append(b, '\\', 'u', digits[u>>12], digits[u>>8&15], digits[u>>4&15], digits[u&15])
	}
	return append(b, '"')
}

func TestHalves(t *testing.T) {
	half := AppendString(nil, []byte(`"\ud83d"`))
	assert.True(t, EndsInHalf(half))
	assert.Len(t, half, 3)
	assert.False(t, EndsInHalf(AppendString(nil, []byte(`"\ude00"`))))
	assert.False(t, EndsInHalf([]byte("\uD7FF")))
	assert.False(t, EndsInHalf(nil))
	assert.Equal(t, "\uFFFD", string(settle(half)))

	for _, c := range []struct {
		name, text string // a JSON string
		half       string // what was delivered of its first character
		rest       string // as a JSON string; "" where text does not begin so
	}{
		{"joined", `"😀b"`, `"\ud83d"`, `"\ude00b"`},
		{"joined, nothing more", `"😀"`, `"\ud83d"`, `"\ude00"`},
		{"not joined", `"\ud83db"`, `"\ud83d"`, `"b"`},
		{"ends in a half", `"😀\ud83d"`, `"\ud83d"`, `"\ude00\ud83d"`},
		{"another character", `"𝄞"`, `"\ud83d"`, ``},
		{"a short one", `"é"`, `"\ud83d"`, ``},
		{"nothing", `""`, `"\ud83d"`, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			rest, ok := AfterHalf(AppendString(nil, []byte(c.text)), AppendString(nil, []byte(c.half)))
			require.Equal(t, c.rest != "", ok)
			if ok {
				assert.Equal(t, c.rest, string(QuoteHalves(nil, rest)))
			}
		})
	}
	assert.Equal(t, `x"\ud83d\ude00\ud83d\""`, string(QuoteHalves([]byte("x"), []byte("\xED\xA0\xBD\xED\xB8\x80\xED\xA0\xBD\""))))
}

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"":             `""`,
		"a":            `"a"`,
		`a"b\c/`:       `"a\"b\\c/"`,
		"\n\t\x00":     `"\u000a\u0009\u0000"`,
		"\x1f\x7f":     "\"\\u001f\x7f\"",
		"é😀\u2028":     "\"é😀\u2028\"",
		"a\xff\xfeb":   "\"a\uFFFD\uFFFDb\"",
		"\xED\xA0\x80": "\"\uFFFD\uFFFD\uFFFD\"",
		"</script>":    `"</script>"`,
	} {
		t.Run(want, func(t *testing.T) {
			got := Quote([]byte("x"), text)
			assert.Equal(t, "x"+want, string(got))
			assert.True(t, json.Valid(got[1:]))
			assert.Equal(t, strings.ToValidUTF8(text, ""), strings.ReplaceAll(String(got[1:]), "\uFFFD", ""))
		})
	}
}

func TestKinds(t *testing.T) {
	assert.True(t, IsString([]byte(`""`)))
	assert.False(t, IsString([]byte(`"`)))
	assert.False(t, IsString(nil))
	assert.False(t, IsString([]byte(`null`)))
	assert.True(t, IsObject([]byte(`{}`)))
	assert.False(t, IsObject([]byte(`[]`)))
	assert.False(t, IsObject(nil))
}

func compareString(t *testing.T, value []byte) {
	var want string
	require.NoError(t, json.Unmarshal(value, &want))
	// encoding/json replaces each byte that is not UTF-8, where the stream's decoder has replaced them before.
	if got := String(value); utf8.Valid(value) && got != want {
		t.Fatalf("%q is %q, not %q", value, got, want)
	}
}
