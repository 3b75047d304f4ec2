package upload

import (
	"strconv"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
)

// What a WaitConfig has that says 0, in milliseconds.
const (
	DefaultInterval    = 1_000
	DefaultMaxInterval = 5_000
)

// WaitConfig says how a file is waited for. Times are milliseconds.
type WaitConfig struct {
	Interval    int64 // 0: DefaultInterval; growing by half with each poll
	MaxInterval int64 // 0: DefaultMaxInterval
	Limit       int64 // of the whole wait; 0 for none
	Policy      *retry.Policy
}

// Wait polls a file until the service is done with it (interface, "File status"). Its methods must not be called
// concurrently; times are milliseconds. Start comes first, once; before it Offline, where there is no network.
//
//	Ask     → Answered, once, unless DropAsk comes first.
//	Status  → nothing.
//	Finish  is the end: Done with the file, or Failed. Cancel ends it too, without Finish.
//
// Offline and Online may come at any time.
type Wait struct {
	retry.Effects
	id       string
	config   WaitConfig
	interval int64
	began    int64
	polling  bool
	offline  bool
	over     bool
	err      *api.Error // of the last poll, where it failed
}

// NewWait makes a wait; Start begins it.
func NewWait(fileID string, config WaitConfig) *Wait {
	if config.Interval <= 0 {
		config.Interval = DefaultInterval
	}
	if config.MaxInterval <= 0 {
		config.MaxInterval = DefaultMaxInterval
	}
	config.Policy = config.Policy.With(retry.Repeatable)
	return &Wait{id: fileID, config: config, interval: min(config.Interval, max(config.MaxInterval, 1))}
}

// Start polls for the first time.
func (w *Wait) Start(now int64) {
	w.began = now
	w.poll(now)
}

func (w *Wait) poll(now int64) {
	w.polling = true
	w.Emit(Ask{Request: api.GetFile(w.id), Policy: w.config.Policy})
	if w.config.Limit > 0 {
		w.Emit(retry.SetTimer{After: max(w.began+w.config.Limit-now, 0)})
	}
}

// Offline tells that the browser knows of no network: a poll that fails then is not the end.
func (w *Wait) Offline(int64) { w.offline = true }

// Online tells that there is a network again, and polls at once.
func (w *Wait) Online(now int64) {
	was := w.offline
	w.offline = false
	if was && !w.over && !w.polling {
		w.poll(now)
	}
}

// TimerFired tells that the timer set last is due.
func (w *Wait) TimerFired(now int64) {
	switch {
	case w.over:
	case w.config.Limit > 0 && now >= w.began+w.config.Limit:
		if w.polling {
			w.Emit(DropAsk{})
		}
		err := &api.Error{Kind: api.KindTimeout, Code: "wait_timeout", Retryable: true, FileID: w.id,
			Message: "file " + w.id + " was not ready within " + strconv.FormatInt(w.config.Limit, 10) + " ms (option waitTimeout): it may become so later"}
		if w.err != nil {
			err.Message += "; the last time it was asked for: " + w.err.Message
		}
		w.fail(err)
	case !w.polling:
		w.poll(now)
	}
}

// Cancel ends the wait for a reason of the caller's side; no Finish comes.
func (w *Wait) Cancel() {
	if w.over {
		return
	}
	w.over = true
	w.Emit(retry.StopTimer{})
	if w.polling {
		w.Emit(DropAsk{})
	}
}

// Answered tells how a poll ended.
func (w *Wait) Answered(now int64, d retry.Done) {
	if w.over || !w.polling {
		return
	}
	w.polling = false
	w.err = d.Err
	if d.Err != nil {
		if !d.Err.Retryable {
			w.fail(d.Err)
			return
		}
		// What may pass is waited out: the file may be ready all the while.
		w.Emit(retry.Log{Level: "warn", Message: "asking for the file again", Fields: []retry.Field{{Name: "fileId", Value: w.id}, {Name: "code", Value: d.Err.Code}, {Name: "status", Value: int64(d.Err.Status)}}})
		w.rest(now, d.Err.RetryAfter)
		return
	}
	file, ok := api.ParseFile(w.id, d.Body)
	if !ok {
		w.fail(api.NotAFile(api.GetFile(w.id), d.Response, d.Body))
		return
	}
	w.Emit(Status{file})
	switch {
	case file.Failed():
		w.fail(api.FileFailed(&file))
	case file.Settled():
		w.end(Outcome{Stage: Done, File: file})
	default:
		w.rest(now, 0)
	}
}

// rest waits for the next poll, as long as the service said at least, or for the end of the whole wait where that comes
// first.
func (w *Wait) rest(now, atLeast int64) {
	after := max(w.interval, atLeast)
	w.interval = min(w.interval+w.interval/2, max(w.config.MaxInterval, 1))
	if w.config.Limit > 0 {
		after = min(after, w.began+w.config.Limit-now)
	}
	w.Emit(retry.SetTimer{After: max(after, 0)})
}

func (w *Wait) fail(err *api.Error) { w.end(Outcome{Stage: Failed, Err: err}) }

func (w *Wait) end(o Outcome) {
	w.over = true
	w.Emit(retry.StopTimer{})
	w.Emit(Finish{o})
}
