package upload

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUpload(t *testing.T) {
	h := azure(t, sas+"}", func(c *Config) { c.Checksum = ChecksumDuring; c.Base64 = true; c.Resumable = true })
	assert.Equal(t, `POST /v1/workspaces/w/files/upload-url {"name":"n","size":300,"content_type":""}`, h.lastAsk())
	assert.Equal(t, "f azure-block", h.m.FileID()+" "+h.m.Protocol())
	assert.Equal(t, Hash{From: 0, To: 300, Last: true}, h.hashes[0])
	require.Len(t, h.stores, 3)
	for id := 1; id <= 3; id++ {
		h.answer(id, 201)
	}
	assert.Contains(t, string(h.stores[4].Request.Body), "<Latest>"+blockID(2)+"</Latest></BlockList>")
	h.answer(4, 201)
	assert.Len(t, h.asks, 1, "the sum is waited for")
	h.do(func(now int64) { h.m.Hashed(now, HashState{At: 300, Sum: "00ff10"}) })
	assert.Equal(t, `PATCH /v1/files/f {"status":"uploaded","size":300,"checksum":"AP8Q"}`, h.lastAsk())
	h.answerAsk(``)
	require.NotNil(t, h.outcome)
	assert.Equal(t, api.File{ID: "f", Status: "uploaded", Name: "n", Size: 300, Checksum: "AP8Q"}, h.outcome.File)
	assert.True(t, h.saved && h.forgot)
	last := h.reports[len(h.reports)-1]
	assert.Equal(t, Progress{Stage: Done, LoadedBytes: 300, TotalBytes: 300, BlocksDone: 3, BlocksTotal: 3, SecondsLeft: -1}, last)
}

// TestReports shows how often progress comes, and that it has a speed.
func TestReports(t *testing.T) {
	cases := []struct {
		name  string
		every int64 // ms between two inputs
		most  int   // reports in ten seconds
		least int
	}{
		{"many inputs", 1, 600, 550},
		{"about as many as reports", 20, 501, 499},
		{"as many as Chromium gives", 101, 150, 100},
		{"few inputs", 300, 140, 100},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := begin(t, Config{Size: 1_000_000, BlockTimeout: 60_000})
			h.do(h.m.Start)
			h.answerAsk(`{"id":"f","url":"https://store.test/x"}`)
			first := len(h.reports)
			for at := c.every; at <= 10_000; at += c.every {
				h.pass(c.every)
				h.do(func(now int64) { h.m.StoreProgress(now, 1, at*50) })
			}
			h.pass(100)
			n := len(h.reports) - first
			assert.LessOrEqual(t, n, c.most)
			assert.GreaterOrEqual(t, n, c.least)
			last := h.reports[len(h.reports)-1]
			assert.InDelta(t, 50_000, last.BytesPerSecond, 2_500)
			assert.InDelta(t, 10, last.SecondsLeft, 1)
			h.pass(2_000)
			n = len(h.reports)
			h.pass(10_000)
			assert.Len(t, h.reports, n, "no bytes, no reports")
		})
	}
}

func TestPause(t *testing.T) {
	h := azure(t, sas+"}", func(c *Config) { c.Concurrency = 2 })
	h.answer(1, 201)
	h.do(func(now int64) { h.m.StoreProgress(now, 2, 90) })
	h.do(h.m.Pause)
	assert.ElementsMatch(t, []int{2, 3}, h.cancels, "blocks under way are let go")
	h.pass(1_000_000)
	assert.Empty(t, h.stores)
	assert.Equal(t, Paused, h.m.Progress().Stage)
	assert.Equal(t, int64(190), h.m.Progress().LoadedBytes, "progress does not go back")
	h.do(h.m.Resume)
	assert.Len(t, h.stores, 2)
	h.answer(4, 201)
	h.answer(5, 201)
	h.do(h.m.Pause)
	require.Contains(t, h.stores, 6, "a commit is finished")
	h.answer(6, 201)
	assert.Len(t, h.asks, 1)
	h.do(h.m.Resume)
	assert.Len(t, h.asks, 2)
}

func TestNextWhileOneIsAnswered(t *testing.T) {
	h := azure(t, sas+"}", func(c *Config) { c.Size, c.Concurrency = 700, 2 })
	sent := func(id int, bytes int64) { h.do(func(now int64) { h.m.StoreProgress(now, id, bytes) }) }
	assert.Len(t, h.stores, 2)
	sent(1, 99)
	assert.Len(t, h.stores, 2, "a byte has still to leave")
	sent(1, 100)
	assert.Len(t, h.stores, 3, "nothing has to leave but the answer's wait")
	sent(2, 100)
	sent(3, 100)
	assert.Len(t, h.stores, 3, "half as many as are sent wait for their answer")
	h.answer(1, 201)
	h.answer(2, 201)
	assert.Len(t, h.stores, 3)

	h = azure(t, sas+"}", func(c *Config) { c.Concurrency = 1 })
	sent(1, 100)
	assert.Len(t, h.stores, 1, "one at a time is one at a time")

	for name, ticket := range map[string]string{"absolute": sas + "}", "relative": `{"file_id":"f","upload_url":"/c/b?sv=1&sp=cw&sig=secret"}`} {
		h = azure(t, ticket, func(c *Config) { c.Concurrency, c.Service = 2, "https://store.test/api" })
		sent(1, 100)
		assert.Len(t, h.stores, 2, "the service needs connections, too: "+name)
	}
}

func TestWaitsForAConnection(t *testing.T) {
	cases := []struct {
		name    string
		other   string // where something moves
		retries bool
	}{
		{"that another upload to the host has", "https://store.test/another?sig=1", false},
		{"in vain, while another host is lively", "https://other.test/c", true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := azure(t, sas+"}", nil)
			for range 10 {
				h.pass(59_000)
				h.m.config.Policy.Connections.Moved(host(c.other))
			}
			assert.Equal(t, c.retries, len(h.cancels) > 0)
			h.pass(60_000)
			assert.NotEmpty(t, h.cancels, "when nothing moves any more, nothing is waited for")
		})
	}
	t.Run("begun", func(t *testing.T) {
		h := azure(t, sas+"}", nil)
		h.do(func(now int64) { h.m.StoreProgress(now, 1, 1) })
		h.pass(50_000)
		h.do(func(now int64) { h.m.StoreProgress(now, 2, 1) })
		h.pass(10_000)
		assert.Equal(t, []int{1}, h.cancels, "what has a connection and does not move is stalled; what has none waits")
	})
}

func TestOffline(t *testing.T) {
	h := azure(t, sas+"}", func(c *Config) { c.BlockTries = 1 })
	h.do(h.m.Offline)
	for id := 1; id <= 3; id++ {
		delete(h.stores, id)
		h.do(func(now int64) { h.m.StoreFailed(now, id, "NetworkError", false) })
	}
	assert.Nil(t, h.outcome, "what fails without a network costs no try")
	assert.Empty(t, h.stores)
	assert.Equal(t, Paused, h.m.Progress().Stage)
	h.do(h.m.Online)
	assert.Len(t, h.stores, 3)

	h = azure(t, sas+"}", nil)
	h.do(func(now int64) { h.m.StoreFailed(now, 1, "", true) })
	h.pass(recheck)
	assert.Contains(t, h.stores, 4, "a browser that is wrong about its network is not believed for ever")
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
			assert.Equal(t, fmt.Sprint(c.code, c.status, " upload uploading f 0 true"), fmt.Sprint(err.Code, err.Status, " ", err.Kind, " ", err.Stage, " ", err.FileID, " ", err.Block, " ", err.HasBlock))
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

func TestAbort(t *testing.T) {
	t.Run("while an address is asked for", func(t *testing.T) {
		h := begin(t, Config{WorkspaceID: "w", Size: 1})
		h.do(h.m.Start)
		h.do(h.m.Abort)
		assert.Nil(t, h.outcome)
		h.answerAsk(sas + "}")
		assert.Equal(t, `PATCH /v1/files/f {"status":"upload_failed","error":"the upload was aborted"}`, h.lastAsk())
		h.refuseAsk(500)
		assert.Equal(t, Aborted, h.outcome.Stage)
	})
	t.Run("before the start", func(t *testing.T) {
		h := begin(t, Config{})
		h.do(h.m.Abort)
		assert.Equal(t, Aborted, h.outcome.Stage)
		assert.Empty(t, h.asks)
	})
	t.Run("twice, and after the end", func(t *testing.T) {
		h := azure(t, sas+"}", nil)
		h.do(h.m.Abort)
		h.do(h.m.Abort)
		assert.Len(t, h.cancels, 3)
		h.answerAsk(`{}`)
		h.do(h.m.Abort)
		assert.Len(t, h.asks, 2)
		assert.Empty(t, h.m.Take())
	})
}

// TestMappedTicket shows mapUploadTicket's way in.
func TestMappedTicket(t *testing.T) {
	c := Config{WorkspaceID: "w", Size: 1, MapTicket: func(raw []byte) ([]byte, *api.Error) {
		assert.Equal(t, `{"where":"x"}`, string(raw))
		return []byte(`{"fileId":"f","url":"https://store.test/x","method":"POST","headers":{"A":"b"}}`), nil
	}}
	h := begin(t, c)
	h.do(h.m.Start)
	h.answerAsk(`{"where":"x"}`)
	assert.Equal(t, Request{Method: "POST", URL: "https://store.test/x", Header: []api.Field{{Name: "A", Value: "b"}}, To: 1, Want: []string{"retry-after"}}, h.stores[1].Request)
}

// TestTicketNotMapped shows that a file whose ticket the caller could not read is not left hanging.
func TestTicketNotMapped(t *testing.T) {
	h := begin(t, Config{WorkspaceID: "w", Size: 1, MapTicket: func([]byte) ([]byte, *api.Error) {
		return nil, failure("map_ticket_failed", "why")
	}})
	h.do(h.m.Start)
	h.answerAsk(`{"id":"f"}`)
	assert.Equal(t, `PATCH /v1/files/f {"status":"upload_failed","error":"why"}`, h.lastAsk())
	h.answerAsk(`{}`)
	assert.Equal(t, "map_ticket_failed", h.outcome.Err.Code)
}

// TestSleep shows that a block is not given up because the machine slept.
func TestSleep(t *testing.T) {
	h := azure(t, sas+"}", nil)
	h.now += 3_600_000
	h.do(h.m.TimerFired)
	assert.Empty(t, h.cancels)
	h.pass(grace)
	assert.Len(t, h.cancels, 3)
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
