package builtin

import (
	"context"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed-76f09577/turnwire/internal/service"
)

// writer sends the events of one turn.
type writer struct {
	ctx context.Context
	to  service.Sink
}

func (w writer) emit(kind service.Kind, data any) error { return w.to.Emit(w.ctx, kind, data) }

func (w writer) chunk(kind service.Kind, chunk string) error {
	return w.emit(kind, map[string]string{"chunk": chunk})
}

// say sends the answer word by word.
func (w writer) say(markdown string) error {
	for _, word := range words(markdown) {
		if err := w.chunk(service.TextDelta, word); err != nil {
			return err
		}
	}
	return nil
}

// think sends reasoning, a few words at a time.
func (w writer) think(text string) error {
	const together = 5
	all := words(text)
	for len(all) > 0 {
		n := min(together, len(all))
		if err := w.chunk(service.ReasoningDelta, strings.Join(all[:n], "")); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// count sends "1 2 3 … n", one event a number.
func (w writer) count(n int) error {
	for i := 1; i <= n; i++ {
		chunk := strconv.Itoa(i)
		if i > 1 {
			chunk = " " + chunk
		}
		if err := w.chunk(service.TextDelta, chunk); err != nil {
			return err
		}
	}
	return nil
}

// words cuts a text behind every run of white space, so that the pieces joined are the text.
func words(s string) []string {
	var out []string
	start, space := 0, false
	for i, r := range s {
		if space && !unicode.IsSpace(r) {
			out = append(out, s[start:i])
			start = i
		}
		space = unicode.IsSpace(r)
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}

// cut cuts a text into pieces of n characters.
func cut(s string, n int) []string {
	var out []string
	runes := []rune(s)
	for len(runes) > n {
		out = append(out, string(runes[:n]))
		runes = runes[n:]
	}
	return append(out, string(runes))
}
