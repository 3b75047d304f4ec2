package json

import "strconv"

// Writer writes one JSON text. Each of its methods takes the name of the member that it writes, "" for an item of an
// array and for the text itself; commas come by themselves.
//
// Callers would pay for every append written out where it is used: it brings its own code to grow a slice, over a
// hundred bytes in WebAssembly. So those here stay calls.
type Writer struct {
	text  []byte
	start int
}

// WriterTo makes a writer that appends to dst.
func WriterTo(dst []byte) *Writer { return &Writer{dst, len(dst)} }

// Text is dst, and what was written.
func (w *Writer) Text() []byte { return w.text }

// Open begins an object or an array, by its bracket.
//
//go:noinline
func (w *Writer) Open(name string, bracket byte) {
	w.begin(name)
	w.text = append(w.text, bracket)
}

// Close ends what was opened last, by its bracket.
//
//go:noinline
func (w *Writer) Close(bracket byte) { w.text = append(w.text, bracket) }

// String writes s; bytes that are not UTF-8 become U+FFFD.
func (w *Writer) String(name, s string) {
	w.begin(name)
	w.text = Quote(w.text, s)
}

// Given writes s where it is not empty.
//
//go:noinline
func (w *Writer) Given(name, s string) {
	if s != "" {
		w.String(name, s)
	}
}

// Int writes a whole number.
func (w *Writer) Int(name string, n int64) {
	w.begin(name)
	w.text = strconv.AppendInt(w.text, n, 10)
}

// Bool writes true or false.
func (w *Writer) Bool(name string, b bool) {
	w.begin(name)
	w.text = strconv.AppendBool(w.text, b)
}

// Raw writes the text of a JSON value as it stands.
//
//go:noinline
func (w *Writer) Raw(name string, value []byte) {
	w.begin(name)
	w.text = append(w.text, value...)
}

// begin writes what goes ahead of a value.
func (w *Writer) begin(name string) {
	if n := len(w.text); n > w.start {
		switch w.text[n-1] {
		case '{', '[', ':':
		default:
			w.text = append(w.text, ',')
		}
	}
	if name != "" {
		w.text = append(Quote(w.text, name), ':')
	}
}
