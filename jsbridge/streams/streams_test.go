package streams

import (
	"testing"

	"github.com/seed-76f09577/turnwire/jsbridge/contract"
	"github.com/stretchr/testify/assert"
)

func TestNumbersOfNoTurn(t *testing.T) {
	var s Streams
	for _, number := range []uint32{0, 1, 1 << 31, 1<<32 - 1} {
		fed := contract.Fed{Text: []byte("of another")}
		assert.Zero(t, s.Feed(number, []byte("data: {}\n\n"), 0, &fed), number)
		assert.Empty(t, fed.Text)
		_, ok := s.Tools(number)
		assert.False(t, ok)
		s.Remove(number)
	}
}
