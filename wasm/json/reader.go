// Package json reads JSON texts in place: it validates and finds members in one pass and builds no values.
//
// The client looks at every event of every stream, but needs two or three members of each; encoding/json would add
// 245 KB (brotli) to the binary, and a reader that validates first and searches afterwards touches every byte twice.
// What it accepts is exactly what JSON.parse accepts (ECMA-404), so that nothing handed to the page can fail there.
// It does not recurse: a stream of 16 MiB of "[" costs 2 MiB, not a stack.
package json

// Reader walks one JSON text. The zero value reads nothing; call Reset first.
type Reader struct {
	text []byte
	pos  int
	bad  bool
	// open has one bit for each container being skipped: 1 for an object, 0 for an array.
	open []uint64
}

// Reset makes r read text, which has to stay untouched while slices of it are in use.
func (r *Reader) Reset(text []byte) {
	r.text, r.pos, r.bad = text, 0, false
}

// Enter consumes the "{" of an object and reports whether there was one. Where there was none nothing is consumed.
func (r *Reader) Enter() bool {
	r.space()
	if r.bad || r.pos >= len(r.text) || r.text[r.pos] != '{' {
		return false
	}
	r.pos++
	return true
}

// Next returns the key of the next member of the object that was entered last (without its quotes, escapes as they
// stand) and leaves r before its value, which has to be read by Value or entered. It returns false at the object's
// end, which it consumes, and where the text is not JSON. first says that no member has been read yet.
func (r *Reader) Next(first bool) (key []byte, ok bool) {
	r.space()
	c := r.peek()
	if c == '}' {
		r.pos++
		return nil, false
	}
	if !first {
		if c != ',' {
			return nil, r.fail()
		}
		r.pos++
		r.space()
		c = r.peek()
	}
	if c != '"' {
		return nil, r.fail()
	}
	start := r.pos + 1
	if !r.str() {
		return nil, false
	}
	key = r.text[start : r.pos-1]
	r.space()
	if r.peek() != ':' {
		return nil, r.fail()
	}
	r.pos++
	return key, true
}

// Value consumes one value of any kind and returns its text.
func (r *Reader) Value() []byte {
	r.space()
	start := r.pos
	if !r.value() {
		return nil
	}
	return r.text[start:r.pos]
}

// Pos is the offset of the next byte to be read, after white space.
func (r *Reader) Pos() int {
	r.space()
	return r.pos
}

// Done reports whether the whole text was read and was JSON.
func (r *Reader) Done() bool {
	r.space()
	return !r.bad && r.pos == len(r.text)
}

// Valid reports whether text is one JSON value.
func Valid(text []byte) bool {
	var r Reader
	r.Reset(text)
	return r.value() && r.Done()
}

func (r *Reader) fail() bool {
	r.bad = true
	return false
}

// peek returns 0 at the end: no JSON token starts with NUL.
func (r *Reader) peek() byte {
	if r.bad || r.pos >= len(r.text) {
		return 0
	}
	return r.text[r.pos]
}

func (r *Reader) space() {
	for r.pos < len(r.text) {
		switch r.text[r.pos] {
		case ' ', '\t', '\n', '\r':
			r.pos++
		default:
			return
		}
	}
}

// value consumes one value; containers are walked with a stack of bits.
func (r *Reader) value() bool {
	depth := 0
	for {
		// Here a value is due.
		r.space()
		switch c := r.peek(); {
		case c == '"':
			if !r.str() {
				return false
			}
		case c == '{':
			r.pos++
			r.space()
			if r.peek() == '}' {
				r.pos++
				break
			}
			r.push(depth, 1)
			depth++
			if !r.key() {
				return false
			}
			continue
		case c == '[':
			r.pos++
			r.space()
			if r.peek() == ']' {
				r.pos++
				break
			}
			r.push(depth, 0)
			depth++
			continue
		case c == '-' || c >= '0' && c <= '9':
			if !r.number() {
				return false
			}
		case c == 't':
			if !r.word("true") {
				return false
			}
		case c == 'f':
			if !r.word("false") {
				return false
			}
		case c == 'n':
			if !r.word("null") {
				return false
			}
		default:
			return r.fail()
		}
		// Here a value is complete: go on in, or close, what holds it.
		for {
			if depth == 0 {
				return true
			}
			r.space()
			object := r.open[(depth-1)>>6]>>((depth-1)&63)&1 == 1
			c := r.peek()
			if c == ',' {
				r.pos++
				if object {
					r.space()
					if !r.key() {
						return false
					}
				}
				break
			}
			if object && c == '}' || !object && c == ']' {
				r.pos++
				depth--
				continue
			}
			return r.fail()
		}
	}
}

func (r *Reader) push(depth int, bit uint64) {
	if depth>>6 >= len(r.open) {
		r.open = append(r.open, 0)
	}
	word := &r.open[depth>>6]
	*word = *word&^(1<<(depth&63)) | bit<<(depth&63)
}

// key consumes a member's name and its colon.
func (r *Reader) key() bool {
	if r.peek() != '"' {
		return r.fail()
	}
	if !r.str() {
		return false
	}
	r.space()
	if r.peek() != ':' {
		return r.fail()
	}
	r.pos++
	return true
}

// str consumes a string, from its opening quote to its closing one.
func (r *Reader) str() bool {
	text := r.text
	i := r.pos + 1
	for i < len(text) {
		c := text[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			i++
			continue
		}
		if c == '"' {
			r.pos = i + 1
			return true
		}
		if c != '\\' || i+1 >= len(text) {
			break
		}
		switch text[i+1] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			i += 2
		case 'u':
			if i+6 > len(text) || hex4(text[i+2:i+6]) < 0 {
				return r.fail()
			}
			i += 6
		default:
			return r.fail()
		}
	}
	return r.fail()
}

func (r *Reader) number() bool {
	if r.peek() == '-' {
		r.pos++
	}
	if r.peek() == '0' {
		r.pos++
	} else if !r.digits() {
		return false
	}
	if r.peek() == '.' {
		r.pos++
		if !r.digits() {
			return false
		}
	}
	if c := r.peek(); c == 'e' || c == 'E' {
		r.pos++
		if c := r.peek(); c == '+' || c == '-' {
			r.pos++
		}
		return r.digits()
	}
	return true
}

func (r *Reader) digits() bool {
	start := r.pos
	for r.pos < len(r.text) && r.text[r.pos]-'0' <= 9 {
		r.pos++
	}
	return r.pos > start || r.fail()
}

func (r *Reader) word(w string) bool {
	if len(r.text)-r.pos < len(w) || View(r.text[r.pos:r.pos+len(w)]) != w {
		return r.fail()
	}
	r.pos += len(w)
	return true
}
