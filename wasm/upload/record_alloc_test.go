//go:build !race

package upload

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/allocs"
	"github.com/stretchr/testify/assert"
)

// TestRecordsOfManyParts shows that a record, of which there is one for every block, does not cost a step for each address.
func TestRecordsOfManyParts(t *testing.T) {
	ticket := func(address string) string {
		var parts []string
		for i := range 1000 {
			parts = append(parts, fmt.Sprintf(`{"part_number":%d,"url":"https://store.test/%s?partNumber=%d&uploadId=u"}`, i+1, address, i+1))
		}
		return `{"id":"f","complete_url":"https://store.test/x?uploadId=u","expires_at":1700000000,"parts":[` + strings.Join(parts, ",") + `]}`
	}
	h := begin(t, Config{Name: "n", Size: 1000 * 5 * mib, BlockSize: 5 * mib, Resumable: true})
	h.do(h.m.Start)
	h.answerAsk(ticket("x"))
	assert.Contains(t, string(h.m.Record()), "https://store.test/x?partNumber=1000")
	assert.Less(t, allocs.PerRun(10, func() { h.m.Record() }), uint64(30))

	h.answer(1, 403)
	h.answerAsk(ticket("y"))
	record := string(h.m.Record())
	assert.Contains(t, record, "https://store.test/y?partNumber=1000", "of the new address")
	assert.NotContains(t, record, "https://store.test/x?part")
}
