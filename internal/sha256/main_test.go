package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGenerated(t *testing.T) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.True(t, string(text) == string(source()), "%s is not what this command writes: go generate ./internal/sha256", file)
}
