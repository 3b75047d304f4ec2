package pdf

import (
	"math"
	"regexp"
	"strings"
)

// Distances in parts of the font's size, by which glyphs that follow each other are told apart.
const (
	wordGap      = 0.18
	spaceGap     = 0.08 // a space that is narrower is none: some writers put one wherever they kern
	lineGap      = 0.5
	paragraphGap = 1.75
	backwards    = -1.0
)

// gap is what parts two glyphs.
type gap int

const (
	noGap gap = iota
	word
	line
	paragraph
)

var gaps = [...]string{noGap: "", word: " ", line: "\n", paragraph: "\n\n"}

// layout makes text of placed glyphs, in the order in which a page shows them: a page has no spaces,
// lines or paragraphs, only distances.
type layout struct {
	b strings.Builder
	// The end of the last glyph but spaces, its direction, its size; 0 before the first one.
	x, y, cos, sin, height float64
	spaced                 bool // a space was shown since
	gap                    gap  // before the next text: the widest since the last one
}

func (l *layout) size() int { return l.b.Len() }

// put puts down a glyph at the origin of a matrix, so wide and so high in its space. One without text leaves
// its place.
func (l *layout) put(s string, at matrix, wide, high float64) {
	length := math.Hypot(at[0], at[1])
	if length == 0 || math.IsNaN(length) || math.IsInf(length, 0) {
		return
	}
	if s != "" && strings.TrimSpace(s) == "" {
		l.spaced = true
		return
	}
	cos, sin := at[0]/length, at[1]/length
	height := high * math.Hypot(at[2], at[3])
	x, y := at[4], at[5]
	if l.height > 0 && height > 0 {
		l.gap = max(l.gap, l.between(x, y, cos, sin, height))
	}
	l.x, l.y = x+wide*at[0], y+wide*at[1]
	l.cos, l.sin, l.height, l.spaced = cos, sin, height, false
	if s == "" {
		return
	}
	if l.b.Len() > 0 {
		l.b.WriteString(gaps[l.gap])
	}
	l.gap = noGap
	l.b.WriteString(s)
}

func (l *layout) between(x, y, cos, sin, height float64) gap {
	size := max(l.height, height)
	dx, dy := x-l.x, y-l.y
	along, down := dx*l.cos+dy*l.sin, dx*l.sin-dy*l.cos
	switch {
	case cos*l.cos+sin*l.sin < 0.9: // turned
		return paragraph
	case down > paragraphGap*size, down < -paragraphGap*size:
		return paragraph
	case math.Abs(down) > lineGap*size, along < backwards*size:
		return line
	case along > wordGap*size, l.spaced && along > spaceGap*size:
		return word
	}
	return noGap
}

var hyphenated = regexp.MustCompile(`(\pL)[-\x{AD}\x{2010}]\n(\p{Ll})`)

// text is what was put down: a paragraph's lines parted by line ends, paragraphs by blank lines. A word
// that a line's end divides is put together.
func (l *layout) text() string {
	return hyphenated.ReplaceAllString(l.b.String(), "$1$2")
}
