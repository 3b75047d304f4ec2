package retry

import (
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newCall() *Call {
	return NewCall(api.CreateChat("w", "a", nil), &Policy{Safety: Unkeyed, MaxRetries: 1, Timeout: timeout, Jitter: func() float64 { return 0.5 }})
}

// finish checks that a call's last effect, and only that, is its end.
func finish(t *testing.T, effects []Effect) Done {
	t.Helper()
	require.NotEmpty(t, effects)
	d, ok := effects[len(effects)-1].(Done)
	require.True(t, ok, "%#v is no end", effects[len(effects)-1])
	stopped := false
	for _, e := range effects[:len(effects)-1] {
		switch e.(type) {
		case Done:
			require.Fail(t, "two ends")
		case StopTimer:
			stopped = true
		case SetTimer:
			stopped = false
		}
	}
	assert.True(t, stopped, "a timer is left")
	return d
}

func TestCallReadsItsAnswer(t *testing.T) {
	c := newCall()
	c.Start()
	c.Sent()
	c.Headers(0, &api.Response{Status: 201, RequestID: "r-1"})
	effects := c.Take()
	assert.Equal(t, []Effect{ReadBody{recordLimit}, SetTimer{timeout}}, effects[len(effects)-2:])
	c.Body(0, []byte(`{"chat_id":"x"}`))
	d := finish(t, c.Take())
	assert.Nil(t, d.Err)
	assert.Equal(t, `{"chat_id":"x"}`, string(d.Body))
	assert.Equal(t, "r-1", d.Response.RequestID)
}

func TestCallIsRepeated(t *testing.T) {
	c := newCall()
	c.Start()
	c.Sent()
	c.Headers(0, &api.Response{Status: 503})
	c.Body(0, nil)
	c.TimerFired(250)
	c.Sent()
	c.Headers(0, &api.Response{Status: 200})
	c.Body(0, nil)
	sends := 0
	effects := c.Take()
	for _, e := range effects {
		if _, ok := e.(Send); ok {
			sends++
		}
	}
	assert.Equal(t, 2, sends)
	assert.Nil(t, finish(t, effects).Err)
}

func TestCallEnds(t *testing.T) {
	closed := &api.Error{Kind: api.KindClient, Code: "client_closed"}
	head := func(c *Call) { c.Headers(0, &api.Response{Status: 200}) }
	cases := map[string]struct {
		inputs func(c *Call)
		code   string
	}{
		"refused":              {func(c *Call) { c.Headers(0, &api.Response{Status: 404}); c.Body(0, nil) }, "not_found"},
		"refused, body cut":    {func(c *Call) { c.Headers(0, &api.Response{Status: 404}); c.RequestFailed("cut") }, "not_found"},
		"no answer":            {func(c *Call) { c.RequestFailed("cut") }, "connection_failed"},
		"body cut":             {func(c *Call) { head(c); c.RequestFailed("cut") }, "connection_failed"},
		"head late":            {func(c *Call) { c.TimerFired(timeout) }, "response_timeout"},
		"body late":            {func(c *Call) { head(c); c.TimerFired(timeout) }, "response_timeout"},
		"no key":               {func(c *Call) { c.Abandon(closed) }, "client_closed"},
		"cancelled":            {func(c *Call) { c.Cancel(closed) }, "client_closed"},
		"cancelled in waiting": {func(c *Call) { c.Headers(0, &api.Response{Status: 429}); c.Body(0, nil); c.Cancel(closed) }, "client_closed"},
		"cancelled in reading": {func(c *Call) { head(c); c.Cancel(closed) }, "client_closed"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCall()
			c.Start()
			c.Sent()
			tc.inputs(c)
			d := finish(t, c.Take())
			require.NotNil(t, d.Err)
			assert.Equal(t, tc.code, d.Err.Code)

			c.Headers(0, &api.Response{Status: 200})
			c.Body(0, nil)
			c.RequestFailed("late")
			c.TimerFired(0)
			c.Abandon(closed)
			c.Cancel(closed)
			assert.Empty(t, c.Take(), "effects after the end")
		})
	}
}

func TestCallLetsGo(t *testing.T) {
	for name, inputs := range map[string]func(c *Call){
		"head late":            func(c *Call) { c.TimerFired(timeout) },
		"body late":            func(c *Call) { c.Headers(0, &api.Response{Status: 200}); c.TimerFired(timeout) },
		"cancelled":            func(c *Call) { c.Cancel(nil) },
		"cancelled in reading": func(c *Call) { c.Headers(0, &api.Response{Status: 200}); c.Cancel(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCall()
			c.Start()
			c.Sent()
			inputs(c)
			assert.Contains(t, c.Take(), Effect(Cancel{}))
		})
	}
}

func TestCallWithoutLimit(t *testing.T) {
	c := NewCall(message, &Policy{})
	c.Start()
	c.Sent()
	c.Headers(0, &api.Response{Status: 200})
	assert.NotContains(t, c.Take(), Effect(SetTimer{0}))
}
