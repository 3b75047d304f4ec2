package upload

import (
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/retry"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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

// TestSleep shows that a block is not given up because the machine slept.
func TestSleep(t *testing.T) {
	h := azure(t, sas+"}", nil)
	h.now += 3_600_000
	h.do(h.m.TimerFired)
	assert.Empty(t, h.cancels)
	h.pass(grace)
	assert.Len(t, h.cancels, 3)
}
