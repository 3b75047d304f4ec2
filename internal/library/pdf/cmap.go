package pdf

import (
	"cmp"
	"slices"
	"unicode/utf16"
)

// maxMapped bounds the entries of a map.
const maxMapped = 200_000

// cmap is what a CMap stream (ISO 32000-1, 9.7.5 and 9.10.3) tells: how long the codes of a string are,
// and which text they stand for.
type cmap struct {
	spaces []codeSpace
	single map[code]string
	ranges []codeRange // in the order of their first codes
}

// code is a character code; its length in bytes is part of it.
type code struct {
	value  uint32
	length int
}

type codeSpace struct{ low, high text }

type codeRange struct {
	low, high code
	to        []uint16 // the text of low, in UTF-16; its last unit counts up
}

func readCMap(content []byte) *cmap {
	m := &cmap{single: map[code]string{}}
	l := lexer{src: content}
	var operands []any
	for {
		v, ok := l.next()
		if !ok {
			break
		}
		if op, isOperator := v.(operator); isOperator {
			switch op {
			case "endcodespacerange":
				m.addSpaces(operands)
			case "endbfchar":
				m.addSingles(operands)
			case "endbfrange":
				m.addRanges(operands)
			}
			operands = operands[:0]
			continue
		}
		if len(operands) < maxMapped {
			operands = append(operands, v)
		}
	}
	slices.SortStableFunc(m.ranges, func(a, b codeRange) int {
		return cmp.Or(cmp.Compare(a.low.length, b.low.length), cmp.Compare(a.low.value, b.low.value))
	})
	return m
}

func (m *cmap) addSpaces(operands []any) {
	for pair := range slices.Chunk(operands, 2) {
		if low, high, ok := twoTexts(pair); ok && len(low) == len(high) && len(m.spaces) < 100 {
			m.spaces = append(m.spaces, codeSpace{low, high})
		}
	}
}

func (m *cmap) addSingles(operands []any) {
	for pair := range slices.Chunk(operands, 2) {
		if from, to, ok := twoTexts(pair); ok && len(m.single) < maxMapped {
			m.single[codeOf(from)] = string(utf16.Decode(units(to)))
		}
	}
}

func (m *cmap) addRanges(operands []any) {
	for triple := range slices.Chunk(operands, 3) {
		low, high, ok := twoTexts(triple)
		if !ok || len(triple) < 3 || len(low) != len(high) || len(m.ranges) >= maxMapped {
			continue
		}
		switch to := triple[2].(type) {
		case text:
			m.ranges = append(m.ranges, codeRange{codeOf(low), codeOf(high), units(to)})
		case []any:
			from := codeOf(low)
			for i, each := range to {
				if each, ok := each.(text); ok && len(m.single) < maxMapped {
					m.single[code{from.value + uint32(i), from.length}] = string(utf16.Decode(units(each)))
				}
			}
		}
	}
}

func twoTexts(operands []any) (a, b text, ok bool) {
	if len(operands) < 2 {
		return nil, nil, false
	}
	a, isText := operands[0].(text)
	b, alsoText := operands[1].(text)
	return a, b, isText && alsoText && len(a) > 0 && len(a) <= 4
}

func codeOf(t text) code {
	c := code{length: len(t)}
	for _, b := range t {
		c.value = c.value<<8 | uint32(b)
	}
	return c
}

// units reads UTF-16, big end first; a single byte is a unit too.
func units(t text) []uint16 {
	if len(t) == 1 {
		return []uint16{uint16(t[0])}
	}
	var out []uint16
	for i := 0; i+1 < len(t) && i < 64; i += 2 {
		out = append(out, uint16(t[i])<<8|uint16(t[i+1]))
	}
	return out
}

// length is how many bytes the first code of a string has; 0 where the map does not say.
func (m *cmap) length(s text) int {
	for n := 1; n <= 4 && n <= len(s); n++ {
		for _, space := range m.spaces {
			if len(space.low) != n {
				continue
			}
			inside := true
			for i := range n {
				inside = inside && space.low[i] <= s[i] && s[i] <= space.high[i]
			}
			if inside {
				return n
			}
		}
	}
	return 0
}

// text gives what a code stands for; false where the map has nothing.
func (m *cmap) text(c code) (string, bool) {
	if s, ok := m.single[c]; ok {
		return s, true
	}
	i, _ := slices.BinarySearchFunc(m.ranges, c, func(r codeRange, c code) int {
		if r.low.length != c.length {
			return cmp.Compare(r.low.length, c.length)
		}
		if r.low.value <= c.value {
			return -1
		}
		return 1
	})
	if i == 0 {
		return "", false
	}
	r := m.ranges[i-1]
	if r.low.length != c.length || c.value > r.high.value || len(r.to) == 0 {
		return "", false
	}
	to := slices.Clone(r.to)
	if len(to) == 2 && utf16.IsSurrogate(rune(to[0])) {
		return string(utf16.DecodeRune(rune(to[0]), rune(to[1])) + rune(c.value-r.low.value)), true
	}
	to[len(to)-1] += uint16(c.value - r.low.value)
	return string(utf16.Decode(to)), true
}
