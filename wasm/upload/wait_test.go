package upload

import (
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
	"github.com/stretchr/testify/assert"
)

// TestWait shows when polls are sent and how a wait ends.
func TestWait(t *testing.T) {
	lost := retry.Done{Err: &api.Error{Kind: api.KindConnection, Code: "connection_failed", Retryable: true}}
	late := retry.Done{Err: &api.Error{Kind: api.KindTimeout, Code: "response_timeout", Retryable: true}}
	down := retry.Done{Err: &api.Error{Kind: api.KindAPI, Code: "server_error", Status: 503, Retryable: true, HasRetry: true, RetryAfter: 4_000}}
	missing := retry.Done{Err: &api.Error{Kind: api.KindAPI, Code: "not_found", Status: 404}}
	done := func(status string) retry.Done { return retry.Done{Body: []byte(`{"status":"` + status + `"}`)} }
	busy := done("processing")
	cases := []struct {
		name    string
		config  WaitConfig
		offline bool
		answers []retry.Done // 10 ms after each poll; none: no answer comes
		polls   []int64
		end     int64
		code    string // or the status
	}{
		{"ready at once", WaitConfig{}, false, []retry.Done{done("ready")}, []int64{0}, 10, "ready"},
		{"growing by half", WaitConfig{}, false, []retry.Done{busy, busy, busy, busy, busy, busy, done("ready")},
			[]int64{0, 1010, 2520, 4780, 8165, 13175, 18185}, 18195, "ready"},
		{"an interval of one's own", WaitConfig{Interval: 100, MaxInterval: 100}, false, []retry.Done{busy, busy, done("ready")}, []int64{0, 110, 220}, 230, "ready"},
		{"upload_failed", WaitConfig{}, false, []retry.Done{busy, done("upload_failed")}, []int64{0, 1010}, 1020, "upload_failed"},
		{"processing_failed", WaitConfig{}, false, []retry.Done{done("processing_failed")}, []int64{0}, 10, "processing_failed"},
		{"too long", WaitConfig{Limit: 1_200}, false, []retry.Done{busy, busy}, []int64{0, 1010}, 1200, "wait_timeout"},
		{"no answer", WaitConfig{Limit: 500}, false, nil, []int64{0}, 500, "wait_timeout"},
		{"no record", WaitConfig{}, false, []retry.Done{{Response: &api.Response{}, Body: []byte("<html>")}}, []int64{0}, 10, "file_without_status"},
		{"refused", WaitConfig{}, false, []retry.Done{missing}, []int64{0}, 10, "not_found"},
		{"what may pass", WaitConfig{}, false, []retry.Done{lost, late, busy, lost, done("ready")}, []int64{0, 1010, 2520, 4780, 8165}, 8175, "ready"},
		{"as the service says", WaitConfig{}, false, []retry.Done{down, done("ready")}, []int64{0, 4010}, 4020, "ready"},
		{"never back", WaitConfig{Limit: 3_000}, false, []retry.Done{lost, lost, lost}, []int64{0, 1010, 2520}, 3_000, "wait_timeout"},
		{"offline", WaitConfig{}, true, []retry.Done{lost, done("ready")}, []int64{0, 1010}, 1020, "ready"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.config.Policy = &retry.Policy{}
			w := NewWait("f", c.config)
			if c.offline {
				w.Offline(0)
			}
			now, timer, answer := int64(0), int64(-1), int64(-1)
			var polls []int64
			var outcome *Outcome
			perform := func() {
				for _, e := range w.Take() {
					switch e := e.(type) {
					case Ask:
						polls = append(polls, now)
						if len(c.answers) > 0 {
							answer = now + 10
						}
					case DropAsk:
						answer = -1
					case retry.SetTimer:
						timer = now + e.After
					case retry.StopTimer:
						timer = -1
					case Finish:
						outcome = &e.Outcome
					}
				}
			}
			w.Start(0)
			for perform(); outcome == nil; perform() {
				if answer >= 0 && (timer < 0 || answer <= timer) {
					now, answer = answer, -1
					a := c.answers[0]
					c.answers = c.answers[1:]
					w.Answered(now, a)
					continue
				}
				assert.GreaterOrEqual(t, timer, now)
				now, timer = timer, -1
				w.TimerFired(now)
			}
			assert.Equal(t, c.polls, polls)
			assert.Equal(t, c.end, now)
			if outcome.Err != nil {
				assert.Equal(t, c.code, outcome.Err.Code)
			} else {
				assert.Equal(t, c.code, outcome.File.Status)
			}
		})
	}
}

func TestWaitIsCancelled(t *testing.T) {
	w := NewWait("f", WaitConfig{Policy: &retry.Policy{}})
	w.Start(0)
	w.Take()
	w.Cancel()
	assert.Equal(t, []retry.Effect{retry.StopTimer{}, DropAsk{}}, w.Take())
	w.Answered(1, retry.Done{})
	w.Online(2)
	w.TimerFired(3)
	assert.Empty(t, w.Take())
}
