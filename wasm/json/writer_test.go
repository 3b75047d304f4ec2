package json

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWriter(t *testing.T) {
	cases := []struct {
		name, dst string
		write     func(w *Writer)
		want      string
	}{
		{"nothing", "", func(*Writer) {}, ""},
		{"only a value", "", func(w *Writer) { w.Int("", -7) }, "-7"},
		{"an empty object", "", func(w *Writer) { w.Open("", '{'); w.Close('}') }, "{}"},
		{"every kind", "", func(w *Writer) {
			w.Open("", '{')
			w.String("a", "é\"\xff")
			w.Int("b", 1<<53)
			w.Bool("c", true)
			w.Raw("d", []byte("[ 1 ]"))
			w.Close('}')
		}, `{"a":"é\"�","b":9007199254740992,"c":true,"d":[ 1 ]}`},
		{"members without a value are left out", "", func(w *Writer) {
			w.Open("", '{')
			w.Given("a", "")
			w.Given("b", "1")
			w.Given("c", "")
			w.Given("d", "2")
			w.Close('}')
		}, `{"b":"1","d":"2"}`},
		{"what is in one another", "", func(w *Writer) {
			w.Open("", '[')
			w.Open("", '{')
			w.Open("a", '[')
			w.String("", "")
			w.Open("", '[')
			w.Close(']')
			w.Close(']')
			w.Bool("b", false)
			w.Close('}')
			w.Int("", 0)
			w.Close(']')
		}, `[{"a":["",[]],"b":false},0]`},
		{"a value that ends in a bracket or a colon", "", func(w *Writer) {
			w.Open("", '[')
			w.String("", "{")
			w.String("", ":")
			w.Raw("", []byte("1 "))
			w.Int("", 2)
			w.Close(']')
		}, `["{",":",1 ,2]`},
		{"a name that needs quoting", "", func(w *Writer) {
			w.Open("", '{')
			w.Int("a\"\n", 1)
			w.Close('}')
		}, `{"a\"\u000a":1}`},
		{"after what is there", "x", func(w *Writer) { w.String("", "a") }, `x"a"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := WriterTo([]byte(c.dst))
			c.write(w)
			assert.Equal(t, c.want, string(w.Text()))
		})
	}
}
