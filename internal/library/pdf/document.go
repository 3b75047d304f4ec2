// Package pdf takes the text out of PDF files, page by page. pdfcpu reads their structure: it repairs
// broken cross-references, decrypts, decodes, and keeps to limits. This package runs what the pages show.
package pdf

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

const (
	// maxDecoded bounds in bytes what one stream decodes to, maxDecodedAll what all of a file do.
	maxDecoded    = 16 << 20
	maxDecodedAll = 96 << 20
	maxObjects    = 1_000_000
	maxPages      = 20_000
	maxTextBytes  = 16 << 20
	// maxDepth bounds the nesting of the page tree, of objects and of forms.
	maxDepth = 32
)

// What Pages says of a file, beside that it is broken.
var (
	ErrNotPDF    = errors.New("it is no PDF")
	ErrPassword  = errors.New("the PDF is protected by a password")
	ErrUndecoded = errors.New("the PDF's fonts do not tell which characters they show")
	ErrLarge     = errors.New("the PDF draws too much")
)

func init() { model.ConfigPath = "disable" } // else pdfcpu makes a folder in the user's home

var errPanic = errors.New("the PDF is broken")

// document is a file whose objects are read.
type document struct {
	ctx     context.Context
	objects *model.Context
	fonts   map[types.IndirectRef]*font
	decoded int64
	text    int
	// steps counts the operators run, undecoded the characters of which no font tells the text.
	steps, undecoded int
}

// Pages calls page with the text of each page that has any: its number, from 1, and its paragraphs, parted
// by blank lines. A page that can't be read is left out; where none can, the first one's error is returned.
// A file is held in memory while it is read, and what it makes the reader do is bounded.
func Pages(ctx context.Context, r io.ReaderAt, size int64, page func(number int, text string) error) (err error) {
	defer func() {
		if p := recover(); p != nil { // no input should get here, but none may end the process
			err = fmt.Errorf("%w: %v", errPanic, p)
		}
		if ctx.Err() != nil {
			err = ctx.Err()
		}
	}()
	d, err := read(ctx, r, size)
	if err != nil {
		return err
	}
	pages, err := d.pages()
	if err != nil {
		return err
	}
	var first error
	found := false
	for i, p := range pages {
		text, err := d.pageText(p)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, ErrLarge):
			return err
		case err != nil && first == nil:
			first = fmt.Errorf("page %d: %w", i+1, err)
		}
		if text == "" {
			continue
		}
		found = true
		if err := page(i+1, text); err != nil {
			return err
		}
	}
	switch {
	case found:
		return nil
	case first == nil && d.undecoded > 0:
		return ErrUndecoded
	}
	return first
}

func read(ctx context.Context, r io.ReaderAt, size int64) (*document, error) {
	conf := model.NewDefaultConfiguration()
	conf.Cmd = model.EXTRACTCONTENT
	conf.Offline = true
	conf.Limits.MaxStreamBytes = max(size, 1)
	conf.Limits.MaxDecodeBytes = maxDecoded
	conf.Limits.MaxObjectCount = maxObjects
	conf.Limits.MaxXRefEntries = maxObjects
	conf.Limits.MaxObjectStreamCount = maxObjects
	conf.Limits.MaxRecursionDepth = maxDepth
	objects, err := pdfcpu.ReadWithContext(ctx, stoppable{ctx, io.NewSectionReader(r, 0, size)}, conf)
	switch {
	case errors.Is(err, pdfcpu.ErrCorruptHeader), errors.Is(err, pdfcpu.ErrEmptyInput), errors.Is(err, pdfcpu.ErrPostScriptInput):
		return nil, ErrNotPDF
	case errors.Is(err, pdfcpu.ErrWrongPassword), errors.Is(err, pdfcpu.ErrOwnerPasswordRequired):
		return nil, ErrPassword
	case err != nil:
		return nil, fmt.Errorf("the PDF is broken: %w", err)
	}
	return &document{ctx: ctx, objects: objects, fonts: map[types.IndirectRef]*font{}}, nil
}

// stoppable ends a reading that looks at its context nowhere else.
type stoppable struct {
	ctx context.Context
	io.ReadSeeker
}

func (s stoppable) Read(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, s.ctx.Err()
	}
	return s.ReadSeeker.Read(p)
}

// get resolves a reference; nil stands for whatever is not there or can't be read.
func (d *document) get(o types.Object) types.Object {
	for range maxDepth {
		if _, ok := o.(types.IndirectRef); !ok {
			return o
		}
		var err error
		if o, err = d.objects.Dereference(o); err != nil {
			return nil
		}
	}
	return nil
}

// dict gives the dictionary of an object, that of a stream included, else nil.
func (d *document) dict(o types.Object) types.Dict {
	switch o := d.get(o).(type) {
	case types.Dict:
		return o
	case types.StreamDict:
		return o.Dict
	}
	return nil
}

func (d *document) array(o types.Object) types.Array {
	a, _ := d.get(o).(types.Array)
	return a
}

func (d *document) name(o types.Object) string {
	n, _ := d.get(o).(types.Name)
	return string(n)
}

func (d *document) number(o types.Object, otherwise float64) float64 {
	switch n := d.get(o).(type) {
	case types.Integer:
		return float64(n)
	case types.Float:
		return float64(n)
	}
	return otherwise
}

// stream decodes a stream; nil, nil where there is none.
func (d *document) stream(o types.Object) ([]byte, error) {
	s, ok := d.get(o).(types.StreamDict)
	if !ok {
		return nil, nil
	}
	if err := s.DecodeWithLimit(maxDecoded); err != nil {
		return nil, err
	}
	if d.decoded += int64(len(s.Content)); d.decoded > maxDecodedAll {
		return nil, ErrLarge
	}
	return s.Content, nil
}

// leaf is a page, with the resources that it may have from above.
type leaf struct{ page, resources types.Dict }

// pages walks the page tree.
func (d *document) pages() ([]leaf, error) {
	root, err := d.objects.Catalog()
	if err != nil {
		return nil, fmt.Errorf("the PDF is broken: %w", err)
	}
	var found []leaf
	seen := map[types.IndirectRef]bool{}
	var walk func(o types.Object, resources types.Dict, depth int)
	walk = func(o types.Object, resources types.Dict, depth int) {
		if ref, ok := o.(types.IndirectRef); ok {
			if seen[ref] {
				return
			}
			seen[ref] = true
		}
		node := d.dict(o)
		if node == nil || depth > maxDepth || len(found) == maxPages {
			return
		}
		if own := d.dict(node["Resources"]); own != nil {
			resources = own
		}
		if kids := d.array(node["Kids"]); kids != nil {
			for _, kid := range kids {
				walk(kid, resources, depth+1)
			}
			return
		}
		found = append(found, leaf{node, resources})
	}
	walk(root["Pages"], nil, 0)
	if len(found) == 0 {
		return nil, errors.New("the PDF is broken: it has no pages")
	}
	return found, nil
}

// content joins a page's content streams; one that can't be decoded is left out where others can.
func (d *document) content(o types.Object) ([]byte, error) {
	parts := d.array(o)
	if parts == nil {
		return d.stream(o)
	}
	var all []byte
	var first error
	for _, part := range parts {
		content, err := d.stream(part)
		if errors.Is(err, ErrLarge) {
			return nil, err
		}
		if first == nil {
			first = err
		}
		all = append(append(all, content...), '\n')
	}
	if len(all) > len(parts) {
		return all, nil
	}
	return nil, first
}
