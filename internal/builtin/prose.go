package builtin

import (
	"strings"
	"unicode"

	"github.com/seed-76f09577/turnwire/internal/service"
)

// vocabulary mixes scripts, so that a cut between any two bytes meets characters of one to four bytes
// and emoji of several characters.
var vocabulary = strings.Fields(`the stream carries größere words über bridges and naïve rivers while
東京 answers quietly, each café keeps its 🚀 ready and Привет travels with こんにちは through
the süße evening light until 👩‍🚀 returns; nothing is lost when pieces arrive late or early because
every Straße leads home and Ελλάδα remembers 数据 in small careful steps 🌍`)

const (
	sentenceWords  = 11
	paragraphWords = 66
)

// proseWord gives word i of the prose: sentences, paragraphs, and some emphasis and code. No word is
// Markdown syntax alone, so that counting words counts exactly these.
func proseWord(i, n int) string {
	word := vocabulary[i%len(vocabulary)]
	if i%sentenceWords == 0 {
		first := []rune(word)
		first[0] = unicode.ToUpper(first[0])
		word = string(first)
	}
	switch {
	case i%17 == 5:
		word = "**" + word + "**"
	case i%23 == 9:
		word = "*" + word + "*"
	case i%29 == 12:
		word = "`" + word + "`"
	}
	if i%sentenceWords == sentenceWords-1 || i == n-1 {
		word += "."
	}
	switch {
	case i == n-1:
		return word
	case i%paragraphWords == paragraphWords-1:
		return word + "\n\n"
	default:
		return word + " "
	}
}

// prose sends n words, one event a word.
func (w writer) prose(n int) error {
	for i := range n {
		if err := w.chunk(service.TextDelta, proseWord(i, n)); err != nil {
			return err
		}
	}
	return nil
}
