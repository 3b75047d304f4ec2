package library

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// passageRunes is about a long paragraph: enough to answer a question, little enough to quote.
const passageRunes = 700

type passage struct {
	page int
	text string
}

// passages puts short blocks together and cuts long ones. None goes over a page's end or a heading.
func passages(blocks []block) []passage {
	var found []passage
	var open passage
	length := 0
	flush := func() {
		if open.text != "" {
			found = append(found, open)
		}
		open, length = passage{}, 0
	}
	for _, b := range blocks {
		if b.heading || b.page != open.page {
			flush()
		}
		for _, piece := range cut(b.text) {
			n := utf8.RuneCountInString(piece)
			if length+n > passageRunes {
				flush()
			}
			if open.text != "" {
				piece = "\n" + piece
			}
			open.page = b.page
			open.text += piece
			length += n
		}
	}
	flush()
	return found
}

// cut cuts a text into pieces of a passage's length at most, and cleans them: behind a sentence where
// the second half of a piece has one's end, else behind a line, else behind a word.
func cut(text string) []string {
	var pieces []string
	runes := []rune(strings.TrimSpace(text))
	for len(runes) > 0 {
		end := len(runes)
		if end > passageRunes {
			end = breakOff(runes[:passageRunes])
		}
		if piece := clean(string(runes[:end])); piece != "" {
			pieces = append(pieces, piece)
		}
		runes = runes[end:]
	}
	return pieces
}

func breakOff(runes []rune) int {
	line, word := 0, 0
	for i := len(runes) - 1; i > len(runes)/2; i-- {
		switch r := runes[i]; {
		case strings.ContainsRune("。！？", r), unicode.IsSpace(r) && strings.ContainsRune(".!?…:", runes[i-1]):
			return i + 1
		case r == '\n':
			line = max(line, i+1)
		case unicode.IsSpace(r):
			word = max(word, i+1)
		}
	}
	switch {
	case line > 0:
		return line
	case word > 0:
		return word
	}
	return len(runes)
}

// clean leaves single spaces between words, and drops what no one sees.
func clean(text string) string {
	seen := strings.Map(func(r rune) rune {
		if r == '\u00AD' || !unicode.IsSpace(r) && (unicode.IsControl(r) || r == joint || r == '\uFEFF') {
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(seen), " ")
}
