package library

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
)

func inUTF16(text string, high, low int) string {
	b := make([]byte, 2)
	var out strings.Builder
	for _, unit := range utf16.Encode([]rune("\uFEFF" + text)) {
		b[high], b[low] = byte(unit>>8), byte(unit)
		out.Write(b)
	}
	return out.String()
}

func TestExtract(t *testing.T) {
	cases := map[string]struct {
		name, kind, content string
		want                []string
	}{
		"text":                     {"a.txt", "text/plain", "one\ntwo\n\nthree", []string{"one two", "three"}},
		"text of Windows":          {"a.txt", "text/plain; charset=utf-8", "one\r\ntwo\r\n\r\n\r\nthree\r\n", []string{"one two", "three"}},
		"text with a mark":         {"a.txt", "text/plain", "\uFEFFgrün", []string{"grün"}},
		"UTF-16, big end":          {"a.txt", "text/plain", inUTF16("grün 🚀", 0, 1), []string{"grün 🚀"}},
		"UTF-16, little end":       {"a.txt", "text/plain", inUTF16("grün 🚀", 1, 0), []string{"grün 🚀"}},
		"soft hyphens and such":    {"a.txt", "text/plain", "zero\u200Bwidth soft\u00ADhyphen bell\a", []string{"zerowidth softhyphen bell"}},
		"by the ending":            {"A.MD", "", "*one* `two`", []string{"one two"}},
		"by the ending, not bytes": {"a.html", "application/octet-stream", "one <b>two</b>", []string{"one two"}},
		"by the bytes":             {"a", "", "<!doctype html><title>one</title>two", []string{"one", "two"}},
		"by the bytes, text":       {"Makefile", "", "all: x", []string{"all: x"}},
		"JSON":                     {"a", "application/json", `{"a":1}`, []string{`{"a":1}`}},
		"code":                     {"a.go", "text/x-go", "package a", []string{"package a"}},
		"Markdown": {"a.md", "text/markdown", "# Title &amp; *more*\n\nsome\n**words** [link](http://x) \\* ![image](x.png)\n\n- one\n- two\n\n| a | b |\n|---|---|\n| c | d |\n\n```go\nx := 1\n```\n<div>raw &lt;</div>",
			[]string{"Title & more", "some words link *", "one", "two", "a b", "c d", "x := 1", "raw <"}},
		"HTML": {"a.html", "text/html", "<html><head><title>T</title><style>p{}</style></head><body><script>var x</script><h1>He<b>ad</b></h1><p>one<br>two &eacute; <template>no <template>no</template> no</template>yes<ul><li>three<li>four</ul><table><tr><td>a<td>b<tr><td>c</table><!-- no --><noscript>no</noscript>",
			[]string{"T", "Head", "one two é yes", "three", "four", "a b", "c"}},
		"HTML in Latin-1":           {"a.html", "text/html; charset=iso-8859-1", "<p>gr\xfcn", []string{"grün"}},
		"HTML that says its own":    {"a.html", "text/html", "<meta charset=windows-1251><p>\xcf\xf0\xe8\xe2\xe5\xf2", []string{"Привет"}},
		"HTML in pieces":            {"a.html", "text/html", "<p>a<p", []string{"a"}},
		"HTML, nothing":             {"a.html", "text/html", "", nil},
		"Markdown of several parts": {"a.md", "text/markdown", strings.Repeat("word\n\n", maxMarkdown/3), nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			blocks, err := extract(t.Context(), File{Name: c.name, ContentType: c.kind, Content: strings.NewReader(c.content), Size: int64(len(c.content))})
			require.NoError(t, err)
			var got []string
			for _, b := range blocks {
				got = append(got, clean(b.text))
			}
			if name == "Markdown of several parts" {
				require.Len(t, got, maxMarkdown/3)
				return
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestUnreadable(t *testing.T) {
	l := open(t, "")
	cases := map[string]struct{ name, kind, content, says string }{
		"Latin-1":       {"a.txt", "text/plain", "gr\xfcn", "it is no text in UTF-8, nor in UTF-16 with a byte order mark; save it as UTF-8"},
		"UTF-16 bare":   {"a.txt", "text/plain", "a\x00b\x00", "it is no text in UTF-8"},
		"UTF-32":        {"a.txt", "text/plain", "\xff\xfe\x00\x00a\x00\x00\x00", "it is no text in UTF-8"},
		"Markdown":      {"a.md", "text/markdown", "\xff", "it is no text in UTF-8"},
		"an image":      {"a.png", "image/png", "x", "no text is taken out of image/png; upload plain text, Markdown, HTML or PDF"},
		"an image yet":  {"a", "", "\x89PNG\r\n\x1a\n", "no text is taken out of image/png"},
		"any bytes":     {"a", "application/octet-stream", "\x00\x01\x02", "no text is taken out of application/octet-stream"},
		"empty":         {"a.txt", "text/plain", "", "it holds no text"},
		"white space":   {"a.txt", "text/plain", " \n\t\n ", "it holds no text"},
		"markup alone":  {"a.html", "text/html", "<p><img>", "it holds no text"},
		"no PDF":        {"a.pdf", "application/pdf", "hello", "it is no PDF"},
		"a locked PDF":  {"a.pdf", "", string(pdfOf(t, "locked")), "the PDF is protected by a password"},
		"half a PDF":    {"a.pdf", "", string(pdfOf(t, "paper")[:9000]), "the PDF is broken: it has no pages"},
		"more than fit": {"a.txt", "text/plain", strings.Repeat("a", maxText+1), "it has 16777217 bytes, and text may have 16777216 at most"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := file("a", c.name, c.content)
			f.ContentType = c.kind
			err := l.Add(t.Context(), f)
			require.ErrorIs(t, err, ErrUnreadable)
			require.ErrorContains(t, err, "the file can't be read: "+c.says)
		})
	}
	t.Run("the store fails", func(t *testing.T) {
		for _, name := range []string{"a.txt", "a", "a.pdf"} {
			f := file("a", name, "x")
			f.Content = broken{}
			err := l.Add(t.Context(), f)
			require.ErrorIs(t, err, errBroken)
			require.NotErrorIs(t, err, ErrUnreadable)
		}
	})
}

var errBroken = errors.New("the disk is gone")

type broken struct{}

func (broken) ReadAt([]byte, int64) (int, error) { return 0, errBroken }

func TestPassages(t *testing.T) {
	sentence := "This is a sentence of ten words, and nothing else matters. "
	cases := map[string]struct {
		blocks []block
		want   []passage
	}{
		"short ones come together":      {[]block{{text: "a"}, {text: "b"}}, []passage{{text: "a\nb"}}},
		"a heading begins":              {[]block{{text: "a"}, {heading: true, text: "H"}, {text: "b"}}, []passage{{text: "a"}, {text: "H\nb"}}},
		"a page ends":                   {[]block{{page: 1, text: "a"}, {page: 2, text: "b"}, {page: 2, text: "c"}}, []passage{{1, "a"}, {2, "b\nc"}}},
		"nothing":                       {[]block{{text: " "}, {text: "\n"}}, nil},
		"long ones are cut at a stop":   {[]block{{text: strings.Repeat(sentence, 15)}}, []passage{{text: strings.TrimSpace(strings.Repeat(sentence, 11))}, {text: strings.TrimSpace(strings.Repeat(sentence, 4))}}},
		"else at a line":                {[]block{{text: strings.Repeat("a;b;c;d\n", 100)}}, []passage{{text: strings.TrimSpace(strings.Repeat("a;b;c;d ", 87))}, {text: strings.TrimSpace(strings.Repeat("a;b;c;d ", 13))}}},
		"else at a word":                {[]block{{text: strings.Repeat("word ", 150)}}, []passage{{text: strings.TrimSpace(strings.Repeat("word ", 140))}, {text: strings.TrimSpace(strings.Repeat("word ", 10))}}},
		"else anywhere":                 {[]block{{text: strings.Repeat("ü", passageRunes+1)}}, []passage{{text: strings.Repeat("ü", passageRunes)}, {text: "ü"}}},
		"what is long is not put along": {[]block{{text: "a"}, {text: strings.Repeat("b", passageRunes)}}, []passage{{text: "a"}, {text: strings.Repeat("b", passageRunes)}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, passages(c.blocks)) })
	}
}
