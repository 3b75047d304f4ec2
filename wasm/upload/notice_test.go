package upload

import (
	"strings"
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/retry"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
	n := NewNotice(Untold{"f", "why"}, &retry.Policy{})
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
	assert.True(t, n.over)
	assert.Equal(t, []retry.Effect{retry.StopTimer{}, Finish{Outcome{Stage: Failed}}}, n.Take())
	n.Answered(0, retry.Done{})
	n.TimerFired(0)
	n.Online(0)
	assert.Empty(t, n.Take())

	n = NewNotice(Untold{"f", "why"}, &retry.Policy{})
	n.Start(false)
	n.Offline(0)
	for range 2 * noticeTries {
		n.TimerFired(0)
		n.Answered(0, retry.Done{Err: &silent})
		require.False(t, n.over, "a network that is gone costs no try")
	}
	n.offline = false
	for range noticeTries {
		n.TimerFired(0)
		n.Answered(0, retry.Done{Err: &silent})
	}
	assert.True(t, n.over, "there is an end to it")
}
