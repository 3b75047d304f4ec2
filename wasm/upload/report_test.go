package upload

import (
	"strings"
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// reported is an upload whose bytes are stored and whose report is under way.
func reported(t *testing.T, change func(*Config)) *hand {
	h := azure(t, sas+"}", func(c *Config) {
		c.ReportTimeout = 300_000
		if change != nil {
			change(c)
		}
	})
	for id := 1; id <= 4; id++ {
		h.answer(id, 201)
	}
	require.Contains(t, h.lastAsk(), `"status":"uploaded"`)
	return h
}

// fails ends the call under way with an error.
func (h *hand) fails(err api.Error) {
	h.do(func(now int64) { h.m.Answered(now, retry.Done{Err: &err}) })
}

// told counts the reports of each kind.
func (h *hand) told() (uploaded, failed int) {
	for _, a := range h.asks {
		uploaded += strings.Count(string(a.Request.Body), `"status":"uploaded"`)
		failed += strings.Count(string(a.Request.Body), `"status":"upload_failed"`)
	}
	return
}

var (
	busy    = api.Error{Kind: api.KindAPI, Code: "server_error", Status: 503, Message: "busy", Retryable: true}
	silent  = api.Error{Kind: api.KindTimeout, Code: "response_timeout", Message: "late", Retryable: true}
	refused = api.Error{Kind: api.KindAPI, Code: "checksum_differs", Status: 422, Message: "no"}
)

func TestReportWithoutAnAnswer(t *testing.T) {
	for name, err := range map[string]api.Error{"503": busy, "no answer": silent} {
		t.Run(name+", and taken all the same", func(t *testing.T) {
			h := reported(t, nil)
			h.fails(err)
			require.Equal(t, "GET /v1/files/f", h.lastAsk())
			h.answerAsk(`{"status":"ready"}`)
			require.Equal(t, Done, h.outcome.Stage)
			assert.Equal(t, "ready", h.outcome.File.Status)
		})
		t.Run(name+", and found wrong", func(t *testing.T) {
			h := reported(t, nil)
			h.fails(err)
			h.answerAsk(`{"status":"upload_failed"}`)
			require.NotNil(t, h.outcome)
			assert.Equal(t, api.KindFile, h.outcome.Err.Kind)
			_, failed := h.told()
			assert.Zero(t, failed)
		})
		t.Run(name+", sent again with patience", func(t *testing.T) {
			h := reported(t, nil)
			for range 5 {
				h.fails(err)
				h.answerAsk(`{"status":"pending"}`)
				h.pass(reportMost)
				require.Contains(t, h.lastAsk(), `"status":"uploaded"`)
			}
			h.answerAsk(`{"status":"processing"}`)
			assert.Equal(t, Done, h.outcome.Stage)
			uploaded, failed := h.told()
			assert.Equal(t, []int{6, 0}, []int{uploaded, failed})
		})
		t.Run(name+" for ever", func(t *testing.T) {
			h := reported(t, func(c *Config) { c.Resumable = true })
			for began := h.now; h.outcome == nil; {
				h.fails(err)
				if h.outcome == nil {
					h.fails(err) // the record can't be had either
				}
				h.pass(reportMost)
				require.Less(t, h.now-began, int64(400_000), "there is an end to it")
			}
			e := h.outcome.Err
			assert.Equal(t, []any{api.KindUpload, "report_unconfirmed", "reporting", "f", true}, []any{e.Kind, e.Code, e.Stage, e.FileID, e.Stored})
			assert.Contains(t, e.Message, "resumeKey")
			_, failed := h.told()
			assert.Zero(t, failed)
			assert.False(t, h.forgot)

			// A later page reports, and sends no byte.
			require.NotEmpty(t, h.record)
			next := begin(t, h.m.config)
			next.do(func(now int64) { next.m.Restored(now, h.record) })
			assert.Empty(t, next.stores)
			require.Contains(t, next.lastAsk(), `"status":"uploaded"`)
			next.answerAsk(`{"status":"ready"}`)
			assert.Equal(t, Done, next.outcome.Stage)
			assert.True(t, next.forgot)
		})
	}
}

func TestRefusedReport(t *testing.T) {
	h := reported(t, nil)
	h.fails(refused)
	h.answerAsk(`{"status":"pending"}`)
	require.NotNil(t, h.outcome)
	e := h.outcome.Err
	assert.Equal(t, []any{api.KindUpload, "checksum_differs", 422, "reporting", "f", true}, []any{e.Kind, e.Code, e.Status, e.Stage, e.FileID, e.Stored})
	assert.Contains(t, e.Message, "PATCH /v1/files/f")
	assert.Len(t, h.asks, 3)
}

// TestAnswersToAReport shows what confirms one.
func TestAnswersToAReport(t *testing.T) {
	for body, status := range map[string]string{
		"":                                  "uploaded",
		" \n":                               "uploaded",
		"{}":                                "uploaded",
		`{"ok":true,"error":null}`:          "uploaded",
		`{"status":"processing"}`:           "processing",
		`{"file":{"status":"ready"}}`:       "ready",
		`{"status":"ready","error":"none"}`: "ready",
	} {
		h := reported(t, nil)
		h.answerAsk(body)
		require.NotNil(t, h.outcome, body)
		assert.Equal(t, status, h.outcome.File.Status, body)
	}
	for body, code := range map[string]string{
		"<html>welcome":            "report_unconfirmed",
		`"uploaded"`:               "report_unconfirmed",
		`[]`:                       "report_unconfirmed",
		`{"status":`:               "report_unconfirmed",
		`{"error":"no such file"}`: "report_not_confirmed",
		`{"error":{"code":"gone","message":"no"}}`: "gone",
		`{"error":{"code":"x"},"status":"open"}`:   "x",
	} {
		h := reported(t, func(c *Config) { c.ReportTimeout = 1 })
		h.answerAsk(body)
		require.Equal(t, "GET /v1/files/f", h.lastAsk(), body)
		h.answerAsk(`{"status":"pending"}`)
		require.NotNil(t, h.outcome, body)
		assert.Equal(t, code, h.outcome.Err.Code, body)
	}
}

// TestAbortDuringAReport shows that one report reaches the service, and not two that may cross.
func TestAbortDuringAReport(t *testing.T) {
	cases := map[string]struct {
		act   func(h *hand)
		stage Stage
	}{
		"which is taken":       {func(h *hand) { h.answerAsk(`{"status":"ready"}`) }, Done},
		"which fails":          {func(h *hand) { h.fails(busy) }, Aborted},
		"while it is repeated": {func(h *hand) {}, Aborted},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := reported(t, nil)
			if name == "while it is repeated" {
				h.fails(busy)
				h.answerAsk(`{"status":"pending"}`)
			}
			h.do(h.m.Abort)
			c.act(h)
			require.NotNil(t, h.outcome)
			assert.Equal(t, c.stage, h.outcome.Stage)
			uploaded, failed := h.told()
			assert.Equal(t, []int{1, 0}, []int{uploaded, failed})
		})
	}
	t.Run("of which none has left", func(t *testing.T) {
		h := azure(t, sas+"}", nil)
		for id := 1; id <= 3; id++ {
			h.answer(id, 201)
		}
		h.do(h.m.Pause)
		h.answer(4, 201)
		h.do(h.m.Abort)
		assert.Contains(t, h.lastAsk(), `"status":"upload_failed"`)
	})
	t.Run("after it", func(t *testing.T) {
		h := reported(t, func(c *Config) { c.Wait = &WaitConfig{} })
		h.answerAsk(`{"status":"processing"}`)
		h.do(h.m.Abort)
		assert.Equal(t, Aborted, h.outcome.Stage)
		_, failed := h.told()
		assert.Zero(t, failed)
	})
}

func TestUntold(t *testing.T) {
	t.Run("without a network", func(t *testing.T) {
		h := azure(t, sas+"}", func(c *Config) { c.Resumable = true })
		h.do(h.m.Offline)
		h.do(h.m.Abort)
		require.NotNil(t, h.outcome, "nobody has to wait for the network")
		assert.Equal(t, []Untold{{"f", "the upload was aborted"}}, h.outcome.Untold)
		assert.False(t, h.forgot)
		next := begin(t, h.m.config)
		next.do(func(now int64) { next.m.Restored(now, h.record) })
		assert.Equal(t, `PATCH /v1/files/f {"status":"upload_failed","error":"the upload was aborted"}`, next.lastAsk())
	})
	t.Run("by a page before the one that goes on", func(t *testing.T) {
		h := azure(t, sas+"}", func(c *Config) { c.Resumable = true })
		record := strings.Replace(string(h.m.Record()), `"version":3,`, `"version":3,"abandoned":["old","why"],`, 1)
		next := begin(t, h.m.config)
		next.do(func(now int64) { next.m.Restored(now, []byte(record)) })
		next.answer(1, 403)
		for id := 2; id <= 5; id++ {
			next.answer(id, 201)
		}
		next.answerAsk(`{"status":"ready"}`)
		require.NotNil(t, next.outcome)
		assert.Equal(t, []Untold{{"old", "why"}}, next.outcome.Untold)
		assert.False(t, next.forgot)
	})
	t.Run("while the service is away", func(t *testing.T) {
		h := azure(t, sas+"}", nil)
		h.do(h.m.Abort)
		h.fails(busy)
		assert.Len(t, h.outcome.Untold, 1)
	})
	t.Run("that nobody wants to hear", func(t *testing.T) {
		h := azure(t, sas+"}", nil)
		h.do(h.m.Abort)
		h.fails(refused)
		assert.Empty(t, h.outcome.Untold)
	})
}

// TestNotice takes a notice through what may become of it.
func TestNotice(t *testing.T) {
	n := NewNotice(Untold{"f", "why"}, retry.Policy{})
	n.Start(true)
	assert.Equal(t, []retry.Effect{retry.SetTimer{After: recheck}}, n.Take())
	n.Online(0)
	ask := func() {
		t.Helper()
		effects := n.Take()
		require.Len(t, effects, 2)
		assert.Equal(t, `{"status":"upload_failed","error":"why"}`, string(effects[1].(Ask).Request.Body))
	}
	ask()
	n.Online(0)
	n.TimerFired(0)
	assert.Empty(t, n.Take(), "it is asking already")
	for _, wait := range []int64{10_000, 20_000, 40_000, 60_000, 60_000} {
		n.Answered(0, retry.Done{Err: &busy})
		assert.Equal(t, []retry.Effect{retry.SetTimer{After: wait}}, n.Take())
		n.TimerFired(0)
		ask()
	}
	n.Answered(0, retry.Done{})
	assert.True(t, n.Over())
	assert.Equal(t, []retry.Effect{retry.StopTimer{}, Finish{Outcome{Stage: Failed}}}, n.Take())
	n.Answered(0, retry.Done{})
	n.TimerFired(0)
	n.Online(0)
	assert.Empty(t, n.Take())

	n = NewNotice(Untold{"f", "why"}, retry.Policy{})
	n.Start(false)
	n.Offline(0)
	for range 2 * noticeTries {
		n.TimerFired(0)
		n.Answered(0, retry.Done{Err: &silent})
		require.False(t, n.Over(), "a network that is gone costs no try")
	}
	n.offline = false
	for range noticeTries {
		n.TimerFired(0)
		n.Answered(0, retry.Done{Err: &silent})
	}
	assert.True(t, n.Over(), "there is an end to it")
}

func TestSlowData(t *testing.T) {
	slow := func(t *testing.T) *hand {
		h := begin(t, Config{WorkspaceID: "w", Size: 300, BlockSize: 100, BlockTimeout: 1_000, DataTimeout: 10_000, Once: true})
		h.slowData = true
		h.do(h.m.Start)
		h.answerAsk(sas + "}")
		return h
	}
	t.Run("is not the store's fault", func(t *testing.T) {
		h := slow(t)
		for range 20 {
			h.pass(9_000)
			h.do(h.m.DataMoved)
		}
		assert.Empty(t, h.cancels)
		for id := 1; id <= 3; id++ {
			h.do(func(now int64) { h.m.StoreBegun(now, id) })
		}
		h.pass(999)
		assert.Empty(t, h.cancels)
		h.pass(1)
		assert.Len(t, h.cancels, 3, "the store's limit begins with the request")
	})
	t.Run("that gives nothing", func(t *testing.T) {
		h := slow(t)
		h.pass(9_999)
		assert.Empty(t, h.cancels)
		h.pass(1)
		assert.Contains(t, h.lastAsk(), "the data gave nothing")
		h.answerAsk("{}")
		assert.Equal(t, "data_timeout", h.outcome.Err.Code)
	})
	t.Run("while the upload is paused", func(t *testing.T) {
		h := slow(t)
		h.do(h.m.Pause)
		h.pass(1_000_000)
		h.do(h.m.Resume)
		h.pass(9_000)
		assert.Len(t, h.asks, 1)
	})
	t.Run("that is summed", func(t *testing.T) {
		h := begin(t, Config{WorkspaceID: "w", Size: 300, Checksum: ChecksumBefore, DataTimeout: 10_000})
		h.do(h.m.Start)
		h.pass(10_000)
		require.NotNil(t, h.outcome)
		assert.Equal(t, "data_timeout", h.outcome.Err.Code)
	})
}

// TestPausedBlockThatHasLeft shows that it is answered first: it would only be sent again.
func TestPausedBlockThatHasLeft(t *testing.T) {
	h := azure(t, sas+"}", func(c *Config) { c.Concurrency = 2 })
	h.do(func(now int64) { h.m.StoreProgress(now, 1, 100) })
	h.do(h.m.Pause)
	assert.Equal(t, []int{2, 3}, h.cancels)
	h.answer(1, 201)
	h.do(h.m.Resume)
	var from []int64
	for _, s := range h.stores {
		from = append(from, s.Request.From)
	}
	assert.ElementsMatch(t, []int64{100, 200}, from)
}

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

// TestWhatWasNeverSent holds the stores' word against it.
func TestWhatWasNeverSent(t *testing.T) {
	gcs := `{"id":"f","url":"https://store.test/x?upload_id=1"}`
	cases := map[string]struct {
		ticket string
		id     int
		status int
		header []string
	}{
		"gcs: success in the middle": {gcs, 1, 200, nil},
		"gcs: a range beyond":        {gcs, 1, 308, []string{"Range", "bytes=0-1048576"}},
		"tus: an offset beyond":      {`{"id":"f","url":"https://store.test/x","protocol":"tus","method":"PATCH"}`, 1, 200, []string{"Upload-Offset", "5"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := begin(t, Config{Size: 10 * mib, BlockSize: mib})
			h.do(h.m.Start)
			h.answerAsk(c.ticket)
			h.answer(c.id, c.status, c.header...)
			h.answerAsk("{}")
			require.NotNil(t, h.outcome)
			assert.Equal(t, "storage_mismatch", h.outcome.Err.Code)
		})
	}
}

// TestLostCompletion shows that a 404 to a second one proves nothing.
func TestLostCompletion(t *testing.T) {
	ticket := `{"id":"f","parts":[{"part_number":1,"url":"https://store.test/x?partNumber=1&uploadId=u"}],"complete_url":"https://store.test/x?uploadId=u"}`
	h := begin(t, Config{Size: 100})
	h.do(h.m.Start)
	h.answerAsk(ticket)
	h.answer(1, 200, "ETag", "a")
	h.do(func(now int64) { h.m.StoreFailed(now, 2, "", false) })
	h.pass(1_000)
	h.answer(3, 404)
	assert.Contains(t, h.lastAsk(), `"status":"uploaded"`)

	h = begin(t, Config{Size: 100})
	h.do(h.m.Start)
	h.answerAsk(ticket)
	h.answer(1, 200, "ETag", "a")
	h.answer(2, 404)
	assert.Contains(t, h.lastAsk(), `"status":"upload_failed"`, "the first one proves it")
}

// TestAnswerThatComesSlowly shows that its bytes are life: a completion may take minutes.
func TestAnswerThatComesSlowly(t *testing.T) {
	h := azure(t, sas+"}", nil)
	for id := 1; id <= 3; id++ {
		h.answer(id, 201)
	}
	for range 10 {
		h.pass(299_000)
		h.do(func(now int64) { h.m.StoreAlive(now, 4) })
	}
	assert.Empty(t, h.cancels)
	h.pass(300_000)
	assert.Equal(t, []int{4}, h.cancels, "five times what a block may take")
}

// TestBlocksThatQueue shows that what the browser has no connection for does not run into the limit, even where nothing
// moves to its host.
func TestBlocksThatQueue(t *testing.T) {
	h := begin(t, Config{WorkspaceID: "w", Size: 100, BlockTimeout: 60_000})
	all := h.m.config.Policy.Connections
	var streams []*retry.Slot
	for range 6 {
		s := all.Open("https://store.test/")
		s.Held()
		streams = append(streams, s)
	}
	h.do(h.m.Start)
	h.answerAsk(sas + "}")
	h.pass(3_600_000)
	assert.Empty(t, h.cancels)
	streams[0].Close()
	h.pass(59_000)
	assert.Empty(t, h.cancels)
	h.pass(61_000)
	assert.Equal(t, []int{1}, h.cancels)
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
