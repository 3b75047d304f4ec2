package library

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"
	"path"
	"strings"
)

// maxText bounds the bytes of a file of text, and the text taken out of any file.
const maxText = 16 << 20

// block is a paragraph, a heading or the like, as it stands in a file.
type block struct {
	page    int // from 1; 0 where the format has no pages
	heading bool
	text    string
}

// The kinds of file whose text is understood.
const (
	plainText = "text/plain"
	markdown  = "text/markdown"
	hypertext = "text/html"
	pdfFile   = "application/pdf"
)

// extract takes the text out of a file.
func extract(ctx context.Context, f File) ([]block, error) {
	kind, err := kindOf(f)
	if err != nil {
		return nil, err
	}
	if kind == pdfFile {
		return extractPDF(ctx, f)
	}
	if f.Size > maxText {
		return nil, unreadable("it has %d bytes, and text may have %d at most", f.Size, maxText)
	}
	content, err := io.ReadAll(io.NewSectionReader(f.Content, 0, f.Size))
	if err != nil {
		return nil, err
	}
	switch kind {
	case hypertext:
		return extractHTML(ctx, bytes.NewReader(content), f.ContentType)
	case markdown:
		return extractMarkdown(ctx, content)
	default:
		return extractText(content)
	}
}

var kindOfExtension = map[string]string{
	".txt": plainText, ".text": plainText, ".log": plainText, ".csv": plainText, ".tsv": plainText,
	".json": plainText, ".yaml": plainText, ".yml": plainText, ".xml": plainText, ".rst": plainText,
	".md": markdown, ".markdown": markdown,
	".html": hypertext, ".htm": hypertext, ".xhtml": hypertext,
	".pdf": pdfFile,
}

func kindOf(f File) (string, error) {
	declared, _, _ := mime.ParseMediaType(f.ContentType)
	if declared == "" || declared == "application/octet-stream" {
		if kind, ok := kindOfExtension[strings.ToLower(path.Ext(f.Name))]; ok {
			return kind, nil
		}
		head := make([]byte, 512) // what http.DetectContentType looks at
		n, err := f.Content.ReadAt(head[:min(int64(len(head)), f.Size)], 0)
		if err != nil && err != io.EOF {
			return "", err
		}
		declared, _, _ = mime.ParseMediaType(http.DetectContentType(head[:n]))
	}
	switch {
	case declared == "text/markdown" || declared == "text/x-markdown":
		return markdown, nil
	case declared == "text/html" || declared == "application/xhtml+xml":
		return hypertext, nil
	case declared == "application/pdf" || declared == "application/x-pdf":
		return pdfFile, nil
	case strings.HasPrefix(declared, "text/"), strings.HasSuffix(declared, "+json"), declared == "application/json",
		declared == "application/xml", declared == "application/yaml", declared == "application/x-ndjson":
		return plainText, nil
	}
	return "", unreadable("no text is taken out of %s; upload plain text, Markdown, HTML or PDF", declared)
}
