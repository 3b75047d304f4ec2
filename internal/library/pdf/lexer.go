package pdf

import (
	"bytes"
	"strconv"
)

// The values of content streams and CMaps are float64, text, name, []any (an array) and operator. A
// dictionary is read over: nothing here needs one.
type (
	text     []byte // the bytes of a string
	name     string
	operator string
	skipped  struct{}
)

// lexer reads the values and operators of a content stream (ISO 32000-1, 7.2 and 7.8) or a CMap. It takes
// whatever comes: broken syntax is read over.
type lexer struct {
	src []byte
	pos int
}

// next gives the next value; false at the end.
func (l *lexer) next() (any, bool) { return l.value(0) }

func (l *lexer) value(depth int) (any, bool) {
	for l.skipSpace(); l.pos < len(l.src); l.skipSpace() {
		switch c := l.src[l.pos]; c {
		case '(':
			return l.literal(), true
		case '<':
			if l.at(1) == '<' {
				l.pos += 2
				l.until(">>", depth)
				return skipped{}, true
			}
			return l.hex(), true
		case '/':
			l.pos++
			return l.name(), true
		case '[':
			l.pos++
			return l.until("]", depth), true
		case ']', '{', '}', ')':
			l.pos++
			return operator(c), true
		case '>':
			l.pos++
			if l.at(0) == '>' {
				l.pos++
			}
			return operator(">>"), true
		default:
			word := l.word()
			if n, err := strconv.ParseFloat(word, 64); err == nil && (c <= '9') {
				return n, true
			}
			return operator(word), true
		}
	}
	return nil, false
}

// until reads the values of an array or a dictionary, up to its end.
func (l *lexer) until(end string, depth int) []any {
	var values []any
	for {
		if depth == maxDepth {
			return values
		}
		v, ok := l.value(depth + 1)
		if !ok || v == operator(end) {
			return values
		}
		if len(values) < maxMapped {
			values = append(values, v)
		}
	}
}

func (l *lexer) at(n int) byte {
	if l.pos+n < len(l.src) {
		return l.src[l.pos+n]
	}
	return 0
}

func (l *lexer) skipSpace() {
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case isSpace(c):
			l.pos++
		case c == '%':
			for l.pos < len(l.src) && l.src[l.pos] != '\n' && l.src[l.pos] != '\r' {
				l.pos++
			}
		default:
			return
		}
	}
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func (l *lexer) word() string {
	start := l.pos
	for l.pos < len(l.src) && !isSpace(l.src[l.pos]) && bytes.IndexByte([]byte("()<>[]{}/%"), l.src[l.pos]) < 0 {
		l.pos++
	}
	return string(l.src[start:l.pos])
}

func (l *lexer) name() name {
	word := l.word()
	var out []byte
	for i := 0; i < len(word); i++ {
		if word[i] == '#' && i+2 < len(word) {
			if n, err := strconv.ParseUint(word[i+1:i+3], 16, 8); err == nil {
				out = append(out, byte(n))
				i += 2
				continue
			}
		}
		out = append(out, word[i])
	}
	return name(out)
}

func (l *lexer) hex() text {
	l.pos++
	out := text{}
	digits, high := 0, byte(0)
	for ; l.pos < len(l.src) && l.src[l.pos] != '>'; l.pos++ {
		n, err := strconv.ParseUint(string(l.src[l.pos]), 16, 8)
		if err != nil {
			continue
		}
		if digits++; digits%2 == 1 {
			high = byte(n) << 4
		} else {
			out = append(out, high|byte(n))
		}
	}
	l.pos++
	if digits%2 == 1 {
		out = append(out, high)
	}
	return out
}

func (l *lexer) literal() text {
	l.pos++
	out := text{}
	for depth := 1; l.pos < len(l.src); l.pos++ {
		c := l.src[l.pos]
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				l.pos++
				return out
			}
		case '\\':
			l.pos++
			out = append(out, l.escaped()...)
			continue
		}
		out = append(out, c)
	}
	return out
}

// escaped reads what follows a backslash and stays on its last byte.
func (l *lexer) escaped() []byte {
	c := l.at(0)
	switch c {
	case 'n':
		return []byte{'\n'}
	case 'r':
		return []byte{'\r'}
	case 't':
		return []byte{'\t'}
	case 'b':
		return []byte{'\b'}
	case 'f':
		return []byte{'\f'}
	case '\r':
		if l.at(1) == '\n' {
			l.pos++
		}
		return nil
	case '\n':
		return nil
	}
	if c < '0' || c > '7' {
		return []byte{c}
	}
	n := int(c - '0')
	for range 2 {
		if d := l.at(1); d < '0' || d > '7' {
			break
		}
		l.pos++
		n = n*8 + int(l.at(0)-'0')
	}
	return []byte{byte(n)}
}

// skipImage reads over the data of an inline image, up to its EI: what stands in it looks like anything.
func (l *lexer) skipImage() {
	for l.pos < len(l.src) {
		i := bytes.Index(l.src[l.pos:], []byte("EI"))
		if i < 0 {
			l.pos = len(l.src)
			return
		}
		before := l.pos + i - 1
		l.pos += i + 2
		if before >= 0 && isSpace(l.src[before]) && (l.pos == len(l.src) || isSpace(l.src[l.pos])) {
			return
		}
	}
}
