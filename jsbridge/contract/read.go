package contract

import (
	"math"
	"strings"

	"github.com/seed-76f09577/turnwire/wasm/json"
)

// members are those of a record that came from the page, read one after the other in the order of the names that it should
// have. One that is missing or of another type shows two sides that don't belong together: that is a panic.
type members struct {
	record string
	names  []string
	values [][]byte
	read   int // so many were
}

// read takes a record apart.
func read(record, text, names string) *members {
	m := &members{record: record, names: strings.Split(names, " ")}
	m.values = json.Members([]byte(text), m.names...)
	return m
}

func (m *members) wrong(what string) {
	panic("contract: " + m.record + "." + m.names[m.read-1] + " " + what)
}

// given says whether the next member is there, and passes over one that is not.
func (m *members) given() bool {
	if m.values[m.read] == nil {
		m.read++
		return false
	}
	return true
}

func (m *members) next() []byte {
	value := m.values[m.read]
	m.read++
	if value == nil {
		m.wrong("is missing")
	}
	return value
}

func (m *members) text(to *string) {
	value := m.next()
	if !json.IsString(value) {
		m.wrong("is no string")
	}
	*to = json.String(value)
}

func (m *members) integer(to *int64) {
	n, ok := json.Int(m.next())
	if !ok {
		m.wrong("is no whole number")
	}
	*to = n
}

// number reads what an int holds in every build: of more, that.
func (m *members) number(to *int) {
	var n int64
	m.integer(&n)
	*to = int(max(min(n, math.MaxInt32), math.MinInt32))
}

func (m *members) boolean(to *bool) {
	switch json.View(m.next()) {
	case "true":
		*to = true
	case "false":
		*to = false
	default:
		m.wrong("is no boolean")
	}
}

func (m *members) headers(to *[]Header) {
	items := json.Items(m.next())
	*to = make([]Header, len(items))
	for i, item := range items {
		pair := json.Items(item)
		if len(pair) != 2 || !json.IsString(pair[0]) || !json.IsString(pair[1]) {
			m.wrong("is no list of headers")
		}
		(*to)[i] = Header{json.String(pair[0]), json.String(pair[1])}
	}
}

func writeHeaders(w *json.Writer, name string, headers []Header) {
	w.Open(name, '[')
	for _, h := range headers {
		w.Open("", '[')
		w.String("", h[0])
		w.String("", h[1])
		w.Close(']')
	}
	w.Close(']')
}

func writeTexts(w *json.Writer, name string, texts []string) {
	w.Open(name, '[')
	for _, text := range texts {
		w.String("", text)
	}
	w.Close(']')
}
