package json

import (
	"bytes"
	"unicode/utf8"
)

// IsString reports whether value, the text of a JSON value, is a string.
func IsString(value []byte) bool { return len(value) >= 2 && value[0] == '"' }

// IsObject reports whether value, the text of a JSON value, is an object.
func IsObject(value []byte) bool { return len(value) >= 2 && value[0] == '{' }

// KeyIs reports whether key, as Next returned it, names name (ASCII).
func KeyIs(key []byte, name string) bool {
	if View(key) == name {
		return true
	}
	for _, c := range key {
		if c == '\\' {
			return View(appendUnescaped(nil, key)) == name
		}
	}
	return false
}

// String returns what a JSON string's text stands for; "" where value is none.
func String(value []byte) string {
	if !IsString(value) {
		return ""
	}
	return string(settle(appendUnescaped(nil, value[1:len(value)-1])))
}

// AppendString appends what the text of a JSON string stands for, as UTF-8. JavaScript strings may hold half of a
// surrogate pair, and a service that cuts its fragments by UTF-16 units sends one half in each of two events: a first
// half is kept in three bytes (as WTF-8 does) until something follows it in dst. With its other half it becomes the one
// character; before anything else U+FFFD, which is what a half alone is as UTF-8, and has three bytes too.
func AppendString(dst, value []byte) []byte {
	if !IsString(value) {
		return dst
	}
	return appendUnescaped(dst, value[1:len(value)-1])
}

func appendUnescaped(dst, raw []byte) []byte {
	if len(raw) == 0 {
		return dst
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return append(settle(dst), raw...)
	}
	start := 0
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			i++
			continue
		}
		if i > start {
			dst = append(settle(dst), raw[start:i]...)
		}
		i++
		if i >= len(raw) {
			return dst
		}
		c := raw[i]
		i++
		if c != 'u' {
			dst = settle(dst)
		}
		switch c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			if i+4 <= len(raw) {
				dst = appendUnit(dst, hex4(raw[i:i+4]))
				i += 4
			}
		default:
			dst = append(dst, c)
		}
		start = i
	}
	if start < len(raw) {
		dst = append(settle(dst), raw[start:]...)
	}
	return dst
}

// settle makes U+FFFD of a half that has waited in vain.
func settle(text []byte) []byte {
	if EndsInHalf(text) {
		copy(text[len(text)-3:], "\uFFFD")
	}
	return text
}

// appendUnit appends one UTF-16 code unit, joining a low surrogate with the high one before it.
func appendUnit(dst []byte, unit int) []byte {
	switch {
	case unit < 0:
		return dst
	case unit < 0xD800 || unit > 0xDFFF:
		return utf8.AppendRune(settle(dst), rune(unit))
	case unit < 0xDC00:
		return append(settle(dst), 0xED, 0x80|byte(unit>>6)&0x3F, 0x80|byte(unit)&0x3F)
	case EndsInHalf(dst):
		n := len(dst)
		high := 0xD000 | int(dst[n-2]&0x3F)<<6 | int(dst[n-1]&0x3F)
		return utf8.AppendRune(dst[:n-3], rune(0x10000+(high-0xD800)<<10+(unit-0xDC00)))
	}
	return append(dst, "\uFFFD"...)
}

// EndsInHalf reports whether text ends in a high surrogate still waiting for its low one.
func EndsInHalf(text []byte) bool {
	n := len(text)
	return n >= 3 && text[n-3] == 0xED && text[n-2] >= 0xA0 && text[n-2] <= 0xAF
}

// Quote appends s as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func Quote(dst []byte, s string) []byte {
	return append(appendQuoted(append(dst, '"'), s), '"')
}

const digits = "0123456789abcdef"

func appendQuoted(dst []byte, s string) []byte {
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', byte(c))
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		default:
			dst = utf8.AppendRune(dst, c)
		}
	}
	return dst
}

// AfterHalf is what text has beyond half, the first half of its first character, as AppendString keeps it: the other
// half in three bytes and all after it. It is false where text does not begin with half.
func AfterHalf(text, half []byte) ([]byte, bool) {
	r, n := utf8.DecodeRune(text)
	switch {
	case r == utf8.RuneError && n == 3:
		return text[n:], true // nothing joined the half
	case n == 4:
		unit := r - 0x10000
		if View(appendUnit(nil, 0xD800+int(unit>>10))) == View(half) {
			low := 0xDC00 + unit&0x3FF
			return append([]byte{0xED, 0x80 | byte(low>>6)&0x3F, 0x80 | byte(low)&0x3F}, text[n:]...), true
		}
	}
	return nil, false
}

// QuoteHalves appends text as a JSON string, each half character, as AppendString keeps it, as an escape.
func QuoteHalves(dst, text []byte) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i+2 < len(text); i++ {
		if text[i] == 0xED && text[i+1] >= 0xA0 {
			dst = appendQuoted(dst, View(text[start:i]))
			unit := 0xD000 | int(text[i+1]&0x3F)<<6 | int(text[i+2]&0x3F)
			dst = append(dst, '\\', 'u', 'd', digits[unit>>8&15], digits[unit>>4&15], digits[unit&15])
			start = i + 3
		}
	}
	return append(appendQuoted(dst, View(text[start:])), '"')
}

// ToUTF8 returns text with each ill-formed sequence replaced by U+FFFD as the Encoding standard's UTF-8 decoder does
// (one for each maximal subpart), so that the text reads the same here and in JavaScript. It returns text itself
// where nothing is ill-formed.
func ToUTF8(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	out := make([]byte, 0, len(text)+8)
	for i := 0; i < len(text); {
		if r, n := utf8.DecodeRune(text[i:]); r != utf8.RuneError || n > 1 {
			out = append(out, text[i:i+n]...)
			i += n
			continue
		}
		out = append(out, "\uFFFD"...)
		i += subpart(text[i:])
	}
	return out
}

// subpart is the length of the maximal subpart of an ill-formed sequence (Unicode 15, section 3.9, table 3-7).
func subpart(b []byte) int {
	low, high, need := byte(0x80), byte(0xBF), 0
	switch c := b[0]; {
	case c >= 0xC2 && c <= 0xDF:
		need = 1
	case c >= 0xE0 && c <= 0xEF:
		need = 2
		if c == 0xE0 {
			low = 0xA0
		} else if c == 0xED {
			high = 0x9F
		}
	case c >= 0xF0 && c <= 0xF4:
		need = 3
		if c == 0xF0 {
			low = 0x90
		} else if c == 0xF4 {
			high = 0x8F
		}
	}
	n := 1
	for n <= need && n < len(b) && b[n] >= low && b[n] <= high {
		low, high = 0x80, 0xBF
		n++
	}
	return n
}

// hex4 reads four hexadecimal digits, or returns -1.
func hex4(b []byte) int {
	v := 0
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9':
			v = v<<4 | int(c-'0')
		case c >= 'a' && c <= 'f':
			v = v<<4 | int(c-'a'+10)
		case c >= 'A' && c <= 'F':
			v = v<<4 | int(c-'A'+10)
		default:
			return -1
		}
	}
	return v
}
