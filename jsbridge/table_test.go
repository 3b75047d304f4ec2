package jsbridge

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNumberedEach(t *testing.T) {
	var n numbered[string]
	for _, v := range []string{"one", "two", "three", "four", "five"} {
		n.add(v)
	}
	n.take(2)
	var seen []string
	n.each(func(v string) {
		seen = append(seen, v)
		if v == "four" {
			n.take(3)
			n.take(4)
			n.add("six, too late")
		}
	})
	assert.Equal(t, []string{"five", "four", "one"}, seen)
}
