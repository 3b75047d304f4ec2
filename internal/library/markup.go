package library

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	xhtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// HTML that stands in Markdown is passed on: its text is part of the page.
var toHTML = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))

// maxMarkdown bounds in bytes what is rendered at once: some inputs take the square of their length, and
// the renderer can't be stopped.
const maxMarkdown = 64 << 10

// extractMarkdown takes the text as a reader of the rendered page sees it.
func extractMarkdown(ctx context.Context, content []byte) ([]block, error) {
	text, err := decodeText(content)
	if err != nil {
		return nil, err
	}
	var blocks []block
	for rest := []byte(text); len(rest) > 0 && ctx.Err() == nil; {
		piece := rest[:min(len(rest), maxMarkdown)]
		if end := bytes.LastIndex(piece, []byte("\n\n")); end > 0 && len(piece) < len(rest) {
			piece = piece[:end]
		}
		rest = rest[len(piece):]
		var page bytes.Buffer
		if err := toHTML.Convert(piece, &page); err != nil {
			return nil, unreadable("%w", err)
		}
		found, err := extractHTML(ctx, &page, "text/html; charset=utf-8")
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, found...)
	}
	return blocks, ctx.Err()
}

// inline elements are those that do not end a paragraph; unseen ones hold no text for people.
var (
	inline = set(atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Big, atom.Button, atom.Cite, atom.Code, atom.Data, atom.Del,
		atom.Dfn, atom.Em, atom.Font, atom.I, atom.Img, atom.Ins, atom.Kbd, atom.Label, atom.Mark, atom.Q, atom.S, atom.Samp,
		atom.Small, atom.Span, atom.Strike, atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.Tt, atom.U, atom.Var, atom.Wbr)
	spacing  = set(atom.Br, atom.Td, atom.Th, atom.Input, atom.Option)
	headings = set(atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Title)
	unseen   = set(atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Iframe, atom.Object)
)

// extractHTML takes the text of a page, a block for each of its block elements. It looks at tags only,
// for a tree of a hostile page may take a hundred times the page's memory.
func extractHTML(ctx context.Context, r io.Reader, contentType string) ([]block, error) {
	decoded, err := charset.NewReader(r, contentType)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable("%w", err)
	}
	var (
		blocks  []block
		text    strings.Builder
		heading bool
		hiding  atom.Atom // the unseen element that is open
		depth   int
	)
	flush := func() {
		if s := strings.TrimSpace(text.String()); s != "" {
			blocks = append(blocks, block{heading: heading, text: s})
		}
		text.Reset()
	}
	page := xhtml.NewTokenizer(decoded)
	page.SetMaxBuf(maxText)
	for ctx.Err() == nil {
		kind := page.Next()
		if kind == xhtml.ErrorToken {
			if err := page.Err(); !errors.Is(err, io.EOF) {
				return nil, unreadable("%w", err)
			}
			break
		}
		if kind == xhtml.TextToken {
			if depth == 0 {
				text.Write(page.Text())
			}
			continue
		}
		name, _ := page.TagName()
		tag := atom.Lookup(name)
		switch {
		case kind != xhtml.StartTagToken && kind != xhtml.EndTagToken && kind != xhtml.SelfClosingTagToken:
		case depth > 0:
			if tag == hiding && kind == xhtml.StartTagToken {
				depth++
			}
			if tag == hiding && kind == xhtml.EndTagToken {
				depth--
			}
		case unseen[tag] && kind == xhtml.StartTagToken:
			hiding, depth = tag, 1
		case spacing[tag]:
			text.WriteByte('\n')
		case !inline[tag]:
			flush()
			heading = headings[tag] && kind == xhtml.StartTagToken
		}
	}
	flush()
	return blocks, ctx.Err()
}

func set(atoms ...atom.Atom) map[atom.Atom]bool {
	of := map[atom.Atom]bool{}
	for _, a := range atoms {
		of[a] = true
	}
	return of
}
