package checksum

import (
	"encoding/base64"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestText(t *testing.T) {
	abc := sumOf([]byte("abc"))
	assert.Equal(t, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", string(AppendHex(nil, abc)))
	assert.Equal(t, "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=", string(AppendBase64(nil, abc)))
	assert.Equal(t, "x-ms-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=", string(AppendBase64([]byte("x-ms-"), abc)))

	for seed := range uint64(1000) {
		sum := [32]byte(randomBytes(seed, 32))
		require.Equal(t, hex.EncodeToString(sum[:]), string(AppendHex(nil, sum)))
		require.Equal(t, base64.StdEncoding.EncodeToString(sum[:]), string(AppendBase64(nil, sum)))
	}
}
