package contract

import (
	"math"
	"strings"

	"github.com/seed-76f09577/turnwire/wasm/json"
)

// members are those of a record that came from the page, by their place among the names that it should have.
type members struct {
	record string
	names  []string
	values [][]byte
}

// read takes a record apart. A name that ends in "?" may be missing; any other that is shows two sides that don't belong
// together.
func read(record, text, names string) *members {
	m := &members{record: record, names: strings.Fields(names)}
	optional := make([]bool, len(m.names))
	for i, name := range m.names {
		m.names[i], optional[i] = strings.CutSuffix(name, "?")
	}
	m.values = json.Members([]byte(text), m.names...)
	for i, value := range m.values {
		if value == nil && !optional[i] {
			m.wrong(i, "is missing")
		}
	}
	return m
}

func (m *members) wrong(i int, what string) {
	panic("contract: " + m.record + "." + m.names[i] + " " + what)
}

func (m *members) has(i int) bool { return m.values[i] != nil }

func (m *members) text(i int) string {
	if !json.IsString(m.values[i]) {
		m.wrong(i, "is no string")
	}
	return json.String(m.values[i])
}

func (m *members) integer(i int) int64 {
	n, ok := json.Int(m.values[i])
	if !ok {
		m.wrong(i, "is no whole number")
	}
	return n
}

// count reads what an int holds in every build: of more, that.
func (m *members) count(i int) int {
	return int(max(min(m.integer(i), math.MaxInt32), math.MinInt32))
}

func (m *members) boolean(i int) bool {
	switch json.View(m.values[i]) {
	case "true":
		return true
	case "false":
		return false
	}
	m.wrong(i, "is no boolean")
	return false
}

func (m *members) headers(i int) []Header {
	items := json.Items(m.values[i])
	headers := make([]Header, len(items))
	for k, item := range items {
		pair := json.Items(item)
		if len(pair) != 2 || !json.IsString(pair[0]) || !json.IsString(pair[1]) {
			m.wrong(i, "is no list of headers")
		}
		headers[k] = Header{json.String(pair[0]), json.String(pair[1])}
	}
	return headers
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
