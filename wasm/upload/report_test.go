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
