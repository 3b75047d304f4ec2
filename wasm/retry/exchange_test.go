package retry

import (
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stages bring an exchange to each of its states.
var stages = map[string]func(d *driver){
	"idle":          func(d *driver) {},
	"sent":          func(d *driver) { d.x.Start() },
	"refused":       func(d *driver) { d.x.Start(); d.x.Headers(&api.Response{Status: 503}) },
	"waiting":       func(d *driver) { d.x.Start(); d.give(answer{status: 503}) },
	"sent again":    func(d *driver) { d.x.Start(); d.give(answer{status: 503}); d.fire() },
	"with a newkey": func(d *driver) { d.x.Start(); d.give(answer{status: 401}) },
}

// ends are the inputs after which nothing changes any more.
var ends = map[string]func(d *driver){
	"accepted": func(d *driver) { d.x.Start(); d.x.Headers(&api.Response{Status: 200}) },
	"refused":  func(d *driver) { d.x.Start(); d.give(answer{status: 400}) },
	"late":     func(d *driver) { d.x.Start(); d.give(answer{lost: headLate}) },
	"cancel":   func(d *driver) { d.x.Start(); d.x.Cancel() },
	"abandon":  func(d *driver) { d.x.Start(); d.x.Abandon(&api.Error{Code: "api_key_failed"}) },
}

var full = &Policy{MaxRetries: 2, Timeout: timeout, RenewKey: true}

func TestCancelInEachState(t *testing.T) {
	for name, stage := range stages {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t, full)
			stage(d)
			sends := len(d.sends)
			d.x.Cancel()
			assert.True(t, d.x.Over())
			assert.False(t, d.x.Accepted())
			assert.Nil(t, d.x.Err())
			assert.False(t, d.open, "the request was not let go")
			assert.Equal(t, int64(-1), d.timer, "a timer is left")
			bother(d)
			assert.Len(t, d.sends, sends)
		})
	}
}

func TestAbandonInEachState(t *testing.T) {
	for name, stage := range stages {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t, full)
			stage(d)
			sends := len(d.sends)
			want := &api.Error{Kind: api.KindClient, Code: "api_key_failed"}
			d.x.Abandon(want)
			assert.True(t, d.x.Over())
			assert.Same(t, want, d.x.Err())
			assert.Equal(t, int64(-1), d.timer, "a timer is left")
			bother(d)
			assert.Same(t, want, d.x.Err())
			assert.Len(t, d.sends, sends)
		})
	}
}

// bother tells everything that a connection let go may still bring.
func bother(d *driver) {
	d.x.Headers(&api.Response{Status: 200})
	d.x.Headers(&api.Response{Status: 503})
	d.x.Body(unix, []byte("{}"))
	d.x.Failed("late")
	d.x.TimerFired()
	d.x.Abandon(&api.Error{Code: "late"})
	d.x.Cancel()
}

func TestNothingAfterTheEnd(t *testing.T) {
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t, full)
			end(d)
			require.True(t, d.x.Over())
			code, res := d.code(), d.x.Response()
			d.x.emit = func(e Effect) { t.Errorf("%#v after the end", e) }
			bother(d)
			assert.Equal(t, code, d.code())
			assert.Equal(t, res, d.x.Response())
		})
	}
}

func TestInputsOfAnotherState(t *testing.T) {
	t.Run("a body that was not asked for", func(t *testing.T) {
		d := newDriver(t, full)
		d.x.Start()
		d.x.Body(unix, []byte("{}"))
		assert.Equal(t, "open", d.code())
	})
	t.Run("an answer while waiting", func(t *testing.T) {
		d := newDriver(t, full)
		d.x.Start()
		d.give(answer{status: 503})
		d.x.Headers(&api.Response{Status: 200})
		d.x.Failed("late")
		assert.Equal(t, "open", d.code())
		assert.Len(t, d.sends, 1)
	})
	t.Run("a second head", func(t *testing.T) {
		d := newDriver(t, full)
		d.x.Start()
		d.x.Headers(&api.Response{Status: 503})
		d.x.Headers(&api.Response{Status: 200})
		assert.Equal(t, "open", d.code())
		assert.Equal(t, 503, d.x.Response().Status)
	})
}

func TestTimers(t *testing.T) {
	t.Run("each try has the whole time", func(t *testing.T) {
		d := newDriver(t, full)
		d.x.Start()
		assert.Equal(t, int64(timeout), d.timer)
		d.give(answer{status: 503})
		assert.Equal(t, int64(250), d.timer)
		d.fire()
		assert.Equal(t, int64(timeout), d.timer)
	})
	t.Run("the body of a refusal shares it", func(t *testing.T) {
		d := newDriver(t, full)
		d.x.Start()
		d.x.Headers(&api.Response{Status: 500})
		assert.Equal(t, int64(timeout), d.timer)
		assert.Equal(t, []int{api.BodyLimit}, d.reads)
	})
	t.Run("no limit", func(t *testing.T) {
		d := newDriver(t, &Policy{MaxRetries: 1})
		d.x.Start()
		assert.Equal(t, int64(-1), d.timer)
	})
	t.Run("a timeout is the caller's to repeat", func(t *testing.T) {
		d := newDriver(t, full)
		d.run(answer{lost: headLate})
		err := d.x.Err()
		assert.Equal(t, api.KindTimeout, err.Kind)
		assert.True(t, err.Retryable)
		assert.Contains(t, err.Message, "60000 ms")
		assert.False(t, d.open, "the request was not let go")
	})
}

func TestConnectionError(t *testing.T) {
	d := newDriver(t, &Policy{})
	d.run(answer{lost: answerCut})
	err := d.x.Err()
	assert.Equal(t, api.KindConnection, err.Kind)
	assert.True(t, err.Retryable)
	assert.Contains(t, err.Message, "POST /v1/chats/c/messages")
	assert.Contains(t, err.Message, "(TypeError: failed)")

	x := NewExchange(message, &Policy{}, func(Effect) {})
	x.Start()
	x.Sent()
	x.Failed("")
	assert.NotContains(t, x.Err().Message, "()")
}

func TestLog(t *testing.T) {
	d := newDriver(t, full)
	d.run(answer{status: 401}, answer{status: 503}, answer{status: 200})
	assert.Equal(t, []Log{
		{"info", "asking for a new key", []Field{{"method", "POST"}, {"path", message.Path}, {"status", int64(401)}, {"attempt", int64(1)}}},
		{"warn", "trying again", []Field{{"method", "POST"}, {"path", message.Path}, {"status", int64(503)}, {"attempt", int64(2)}, {"waitMs", int64(250)}, {"code", "server_error"}}},
	}, d.log)
}
