package library

import (
	"context"
	"io"

	"github.com/seed-76f09577/turnwire/internal/library/pdf"
)

// maxPDF bounds the bytes of a PDF, which is held in memory.
const maxPDF = 128 << 20

// extractPDF takes the paragraphs out of the pages of a PDF.
func extractPDF(ctx context.Context, f File) ([]block, error) {
	if f.Size > maxPDF {
		return nil, unreadable("it has %d bytes, and a PDF may have %d at most", f.Size, maxPDF)
	}
	content := &failing{ReaderAt: f.Content}
	var blocks []block
	err := pdf.Pages(ctx, content, f.Size, func(number int, text string) error {
		for _, paragraph := range blankLine.Split(text, -1) {
			blocks = append(blocks, block{page: number, text: paragraph})
		}
		return nil
	})
	switch {
	case content.err != nil:
		return nil, content.err
	case err != nil:
		return nil, unreadable("%w", err)
	}
	return blocks, nil
}

// failing keeps the error of the bytes' place, which is no fault of the file.
type failing struct {
	io.ReaderAt
	err error
}

func (f *failing) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.ReaderAt.ReadAt(p, at)
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}
