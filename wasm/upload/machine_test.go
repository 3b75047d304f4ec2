package upload

import (
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
	assert.Equal(t, Progress{Stage: Done, LoadedBytes: 300, TotalBytes: 300, BlocksDone: 3, BlocksTotal: 3}, last)
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
			assert.InDelta(t, 10, float64(last.TotalBytes-last.LoadedBytes)/last.BytesPerSecond, 1)
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

func TestKnownSumTravelsAtTheEnd(t *testing.T) {
	h := begin(t, Config{WorkspaceID: "w", Size: 100, Checksum: ChecksumDuring, KnownSum: "ab"})
	h.do(h.m.Start)
	assert.NotContains(t, h.lastAsk(), "checksum")
	h.answerAsk(sas + "}")
	assert.Empty(t, h.hashes)
	h.answer(1, 201)
	assert.Contains(t, h.lastAsk(), `"checksum":"ab"`)
}
