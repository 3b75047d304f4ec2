package api

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDigits(t *testing.T) {
	cases := []struct {
		text string
		want int64
		ok   bool
	}{
		{"0", 0, true}, {"007", 7, true}, {"99999999999999999", 99999999999999999, true}, {"100000000000000001", 1e17, true},
		{"99999999999999999999999", 1e17, true}, {"", 0, false}, {"+5", 0, false}, {"-5", 0, false}, {"1.5", 0, false},
		{"5 ", 0, false}, {"٣", 0, false},
	}
	for _, c := range cases {
		n, ok := Digits(c.text)
		assert.Equal(t, c.ok, ok, c.text)
		if c.ok {
			assert.Equal(t, c.want, n, c.text)
		}
	}
}
