package json

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestItems(t *testing.T) {
	cases := []struct {
		name, array string
		want        []string
	}{
		{"empty", `[]`, nil},
		{"values", ` [1, "a,b" ,{"c":[2]},[] ] `, []string{"1", `"a,b"`, `{"c":[2]}`, "[]"}},
		{"an object", `{"a":1}`, nil},
		{"nothing", ``, nil},
		{"cut", `[1,2`, []string{"1", "2"}},
		{"no comma", `[1 2]`, []string{"1"}},
		{"no value", `[1,]`, []string{"1"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, v := range Items([]byte(c.array)) {
				got = append(got, string(v))
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestInt(t *testing.T) {
	cases := []struct {
		text string
		want int64
		ok   bool
	}{
		{"0", 0, true}, {"-7", -7, true}, {"8388608", 8388608, true}, {"12.75", 12, true}, {"1700000000000", 1700000000000, true},
		{"", 0, false}, {"-", 0, false}, {"1e3", 0, false}, {"1.5e3", 0, false}, {`"5"`, 0, false}, {"null", 0, false},
		{".5", 0, false}, {"1234567890123456789", 0, false},
	}
	for _, c := range cases {
		n, ok := Int([]byte(c.text))
		assert.Equal(t, c.ok, ok, c.text)
		assert.Equal(t, c.want, n, c.text)
	}
}
