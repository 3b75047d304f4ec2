package json

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestStack nests as deep as TestDeep does.
func TestStack(t *testing.T) {
	const depth = 8 << 20
	mixed := []byte(strings.Repeat(`[{"":`, depth/5) + "1" + strings.Repeat("}]", depth/5))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	assert.True(t, Valid(mixed))
	runtime.ReadMemStats(&after)
	assert.Less(t, after.StackSys, before.StackSys+1<<20, "the stack has grown")
}
