package upload

import (
	"strings"
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzRecord shows that no record that was kept can stop an upload.
func FuzzRecord(f *testing.F) {
	m := New(Config{Name: "n", Size: 100, BlockSize: 10})
	m.transfer.ticket = &api.Ticket{FileID: "f", URL: "u?sv=1&sp=1&sig=1"}
	m.transfer.block, m.transfer.span = 10, 10
	m.transfer.lay()
	m.transfer.finish(m.transfer.lanes[3])
	f.Add(m.Record())
	f.Add([]byte(`{"abandoned":["a"]}`))
	f.Fuzz(func(t *testing.T, record []byte) {
		m := New(Config{Name: "n", Size: 100, BlockSize: 10, Policy: &retry.Policy{}, Resumable: true})
		m.Restored(0, record)
		require.True(t, m.Wants())
		m.Abort(1)
		require.NotPanics(t, func() { m.Record() })
	})
}

// TestIdentity shows of what an upload is not continued.
func TestIdentity(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"another purpose":  func(c *Config) { c.Purpose = "rag" },
		"another encoding": func(c *Config) { c.Base64 = true },
		"a stream":         func(c *Config) { c.Once = true },
	} {
		t.Run(name, func(t *testing.T) {
			h := azure(t, sas+"}", func(c *Config) { c.Resumable = true })
			next := Config{WorkspaceID: "w", Name: "n", Size: 300, BlockSize: 100, Resumable: true}
			change(&next)
			n := begin(t, next)
			n.do(func(now int64) { n.m.Restored(now, h.m.Record()) })
			assert.Contains(t, n.lastAsk(), notContinued)
		})
	}
	t.Run("a stream of which another was reported", func(t *testing.T) {
		h := reported(t, func(c *Config) { c.Resumable, c.Once, c.Wait = true, true, &WaitConfig{} })
		h.answerAsk(`{"status":"processing"}`)
		n := begin(t, h.m.config)
		n.do(func(now int64) { n.m.Restored(now, h.m.Record()) })
		assert.Contains(t, n.lastAsk(), "POST", "it is uploaded, and the other is left to the service")
	})
}

// TestOtherData shows what becomes of a record of other data.
func TestOtherData(t *testing.T) {
	h := azure(t, sas+"}", func(c *Config) { c.Resumable, c.Fingerprint = true, "monday" })
	record := h.m.Record()
	c := Config{WorkspaceID: "w", Name: "n", Size: 300, BlockSize: 100, Resumable: true, Fingerprint: "tuesday"}
	h = begin(t, c)
	h.do(func(now int64) { h.m.Restored(now, record) })
	assert.Equal(t, `PATCH /v1/files/f {"status":"upload_failed","error":"the upload was not continued"}`, h.lastAsk())
	h.answerAsk(`{}`)
	assert.Contains(t, h.lastAsk(), "POST")
	c.Fingerprint = "monday"
	h = begin(t, c)
	h.do(func(now int64) { h.m.Restored(now, record) })
	assert.Empty(t, h.asks)
	assert.Len(t, h.stores, 1, "the store is asked what it has")
}

// TestDamagedRecord shows that what does not fit the data is not gone on with.
func TestDamagedRecord(t *testing.T) {
	h := azure(t, sas+"}", func(c *Config) { c.Resumable = true })
	h.answer(2, 201)
	whole := string(h.m.Record())
	require.Contains(t, whole, `"block":100,"span":100,"lanes":[[1,200,true]]}`)
	cases := []struct{ name, old, new, ask string }{
		{"whole", "", "", ""},
		{"no JSON", "}", "", "POST"},
		{"another version", `"version":3`, `"version":2`, "PATCH"},
		{"no ticket", `"ticket"`, `"t"`, "POST"},
		{"another protocol", `"upload_url"`, `"protocol":"ftp","upload_url"`, "PATCH"},
		{"no block", `"block":100`, `"block":"x"`, "PATCH"},
		{"a negative block", `"block":100`, `"block":-1`, "PATCH"},
		{"lanes smaller than blocks", `"span":100`, `"span":99`, "PATCH"},
		{"a short lane", `[1,200,true]`, `[1,200]`, "PATCH"},
		{"no such lane", `[1,200,true]`, `[3,300,true]`, "PATCH"},
		{"behind its lane", `[1,200,true]`, `[1,201,false]`, "PATCH"},
		{"done, and not whole", `[1,200,true]`, `[1,150,true]`, "PATCH"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := begin(t, Config{WorkspaceID: "w", Name: "n", Size: 300, BlockSize: 100, Resumable: true})
			h.do(func(now int64) { h.m.Restored(now, []byte(strings.Replace(whole, c.old, c.new, 1))) })
			if c.ask == "" {
				assert.Empty(t, h.asks)
				return
			}
			assert.Contains(t, h.lastAsk(), c.ask)
			assert.Zero(t, h.m.Progress().LoadedBytes)
		})
	}
}
