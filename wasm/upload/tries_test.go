package upload

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRefusalThatCannotBeSeen shows that a store which worked before gets a new address before it is given up.
func TestRefusalThatCannotBeSeen(t *testing.T) {
	lose := func(h *hand) {
		for range 8 {
			for id := range h.stores {
				delete(h.stores, id)
				h.do(func(now int64) { h.m.StoreFailed(now, id, "", false) })
			}
			h.pass(8_000)
		}
	}
	h := azure(t, sas+"}", func(c *Config) { c.Concurrency = 1 })
	h.answer(1, 201)
	lose(h)
	require.Contains(t, h.lastAsk(), `"file_id":"f"`)
	h.answerAsk(`{"file_id":"f","upload_url":"https://store.test/c/b?sv=1&sp=cw&sig=new"}`)
	for _, s := range h.stores {
		assert.Contains(t, s.Request.URL, "sig=new")
	}
	lose(h)
	require.Contains(t, h.lastAsk(), `upload_failed`)
	h.answerAsk(`{}`)
	assert.Equal(t, unreachable, h.outcome.Err.Code)

	h = azure(t, sas+"}", func(c *Config) { c.Concurrency = 1 })
	lose(h)
	assert.Contains(t, h.lastAsk(), `upload_failed`, "one that never worked does not")
}

func TestTries(t *testing.T) {
	cases := []struct {
		name   string
		fail   func(h *hand, id int)
		tries  int
		code   string
		status int
	}{
		{"unreachable", func(h *hand, id int) { h.do(func(now int64) { h.m.StoreFailed(now, id, "x", false) }) }, 4, "storage_unreachable", 0},
		{"busy", func(h *hand, id int) { h.answer(id, 503) }, 4, "storage_unavailable", 503},
		{"stalled", func(h *hand, id int) { h.pass(60_000) }, 4, "block_timeout", 0},
		{"refused", func(h *hand, id int) { h.answer(id, 400) }, 1, "storage_refused", 400},
		{"told to wait for long", func(h *hand, id int) { h.answer(id, 503, "Retry-After", "61") }, 1, "storage_unavailable", 503},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := azure(t, sas+"}", func(c *Config) { c.Size = 100 })
			for try := 1; ; try++ {
				require.Contains(t, h.stores, try)
				c.fail(h, try)
				delete(h.stores, try)
				if len(h.asks) > 1 {
					assert.Equal(t, c.tries, try)
					break
				}
				h.pass(8_000)
			}
			assert.Contains(t, h.lastAsk(), `PATCH /v1/files/f {"status":"upload_failed"`)
			assert.True(t, h.asks[1].Request.Keepalive)
			h.refuseAsk(500)
			require.NotNil(t, h.outcome)
			err := h.outcome.Err
			assert.Equal(t, fmt.Sprint(c.code, c.status, " UploadError uploading f 0 true"), fmt.Sprint(err.Code, err.Status, " ", err.Kind, " ", err.Stage, " ", err.FileID, " ", err.Block, " ", err.HasBlock))
			assert.NotContains(t, err.Message, "secret")
		})
	}
}

func TestRenewal(t *testing.T) {
	again := `POST /v1/workspaces/w/files/upload-url {"name":"n","size":300,"content_type":"","file_id":"f"}`
	t.Run("after a 403", func(t *testing.T) {
		h := azure(t, sas+"}", func(c *Config) { c.Concurrency = 2 })
		h.answer(1, 403)
		assert.Equal(t, again, h.lastAsk())
		h.answer(2, 403)
		assert.Len(t, h.asks, 2, "asked once for both")
		assert.Empty(t, h.stores)
		h.answerAsk(strings.Replace(sas, "secret", "new", 1) + "}")
		require.Len(t, h.stores, 2)
		assert.Contains(t, h.stores[3].Request.URL, "sig=new&comp=block")
	})
	t.Run("ahead of its end", func(t *testing.T) {
		h := azure(t, sas+`,"expires_at":1700000000}`, nil)
		assert.Len(t, h.stores, 3, "far away")
		c := Config{WorkspaceID: "w", Name: "n", Size: 300, BlockSize: 100, Concurrency: 1}
		h = begin(t, c)
		h.now = 1_700_000_000_000
		h.do(h.m.Start)
		h.answerAsk(sas + `,"expires_at":1700000060}`)
		h.now += 50_000
		h.answer(1, 201)
		assert.Equal(t, again, h.lastAsk())
		assert.Empty(t, h.stores)
		h.answerAsk(sas + `,"expires_at":1700000120}`)
		assert.Len(t, h.stores, 1)
	})
	t.Run("another file", func(t *testing.T) {
		h := azure(t, sas+"}", nil)
		h.answer(1, 403)
		h.answerAsk(strings.Replace(sas, `"f"`, `"g"`, 1) + "}")
		var told []string
		for h.outcome == nil {
			told = append(told, h.asks[len(h.asks)-1].Request.Path)
			h.answerAsk(`{}`)
		}
		assert.ElementsMatch(t, []string{"/v1/files/f", "/v1/files/g"}, told)
		assert.Equal(t, "address_expired", h.outcome.Err.Code)
		assert.Equal(t, 403, h.outcome.Err.Status)
	})
	for name, c := range map[string]struct {
		answer func(h *hand)
		why    string
	}{
		"another protocol": {func(h *hand) { h.answerAsk(sas + `,"protocol":"put"}`) }, "changed the protocol to put"},
		"refused":          {func(h *hand) { h.refuseAsk(404) }, "same file: refused. Let"},
		"not a ticket":     {func(h *hand) { h.answerAsk(`{"file_id":"f"}`) }, "answered without an address"},
	} {
		t.Run(name, func(t *testing.T) {
			h := azure(t, sas+"}", nil)
			h.answer(1, 403)
			c.answer(h)
			h.answerAsk(`{}`)
			require.NotNil(t, h.outcome)
			assert.Equal(t, "address_expired", h.outcome.Err.Code)
			assert.Equal(t, 403, h.outcome.Err.Status)
			assert.Contains(t, h.outcome.Err.Message, c.why)
			assert.Contains(t, h.outcome.Err.Message, "(the storage answered 403 to block 0)")
			assert.True(t, h.outcome.Err.Retryable)
		})
	}
	t.Run("in vain", func(t *testing.T) {
		h := azure(t, sas+"}", func(c *Config) { c.Concurrency = 1 })
		for id := 1; id <= 3; id++ {
			h.answer(id, 403)
			h.answerAsk(sas + "}")
		}
		require.NotNil(t, h.outcome)
		assert.Equal(t, "address_refused", h.outcome.Err.Code)
	})
	t.Run("another place", func(t *testing.T) {
		h := azure(t, sas+"}", func(c *Config) { c.Concurrency = 1 })
		h.answer(1, 201)
		h.answer(2, 403)
		h.answerAsk(strings.Replace(sas, "/c/b", "/c/other", 1) + "}")
		require.Contains(t, h.stores[3].Request.URL, "blocklist", "what is there is asked")
		h.answer(3, 403)
		assert.Contains(t, h.stores[4].Request.URL, "/c/other?")
		assert.Equal(t, int64(0), h.stores[4].Request.From)
	})
}

// TestAsksAfterALoss shows that where blocks go in order, the store is asked how far it came before more is sent.
func TestAsksAfterALoss(t *testing.T) {
	question := map[string]string{
		`{"id":"f","url":"https://store.test/x?upload_id=1"}`:                       "PUT",
		`{"id":"f","url":"https://store.test/x","protocol":"tus","method":"PATCH"}`: "HEAD",
	}
	for ticket, method := range question {
		for name, lose := range map[string]func(h *hand, id int){
			"no answer": func(h *hand, id int) { h.do(func(now int64) { h.m.StoreFailed(now, id, "", false) }) },
			"busy":      func(h *hand, id int) { h.answer(id, 503) },
			"paused":    func(h *hand, id int) { h.do(h.m.Pause); h.do(h.m.Resume) },
		} {
			t.Run(method+" after "+name, func(t *testing.T) {
				h := begin(t, Config{Size: 10 * mib, BlockSize: mib})
				h.do(h.m.Start)
				h.answerAsk(ticket)
				block := 1
				if method == "HEAD" { // the ticket's own upload may have something already
					h.answer(1, 200, "Upload-Offset", "0")
					block = 2
				}
				require.Equal(t, mib, h.stores[block].Request.To)
				lose(h, block)
				h.pass(1_000)
				asked := h.stores[block+1].Request
				assert.Equal(t, method, asked.Method)
				assert.False(t, asked.carries())
				if method == "HEAD" {
					h.answer(block+1, 200, "Upload-Offset", "1000")
				} else {
					h.answer(block+1, 308, "Range", "bytes=0-999")
				}
				assert.Equal(t, int64(1000), h.stores[block+2].Request.From)
			})
		}
	}
}

// TestManyBlocks names a block whose number 32 bits do not hold, and lets more be sent at once than there are.
func TestManyBlocks(t *testing.T) {
	for _, size := range []int64{1<<31 + 5, 1<<32 + 5, 5 << 40} {
		h := begin(t, Config{Size: size, BlockSize: 1, Concurrency: math.MaxInt, Once: true})
		h.do(h.m.Start)
		h.answerAsk(`{"id":"f","url":"https://store.test/x","protocol":"tus"}`)
		require.Len(t, h.stores, 1)
		assert.Equal(t, size, h.m.Progress().BlocksTotal)
		h.do(func(now int64) { h.m.DataFailed(now, size-1, "") })
		h.answerAsk(`{}`)
		assert.Equal(t, size-1, h.outcome.Err.Block)
	}
	for _, size := range []int64{1<<31 + 5, 1<<32 + 5, 5 << 40} {
		h := begin(t, Config{Size: size, BlockSize: 1})
		h.do(h.m.Start)
		h.answerAsk(`{"id":"f","url":"https://store.test/x","protocol":"tus","method":"PATCH"}`)
		l := h.m.transfer.lanes[0]
		l.sent = size
		h.answer(1, 200, "Upload-Offset", fmt.Sprint(size-1))
		assert.Equal(t, [2]int64{size - 1, size}, [2]int64{h.stores[2].Request.From, h.stores[2].Request.To})
		h.answer(2, 400)
		h.answerAsk(`{}`)
		assert.Equal(t, size-1, h.outcome.Err.Block)
		assert.Contains(t, h.outcome.Err.Message, fmt.Sprint("block ", size-1, " of ", size))
	}
}
