package upload

import (
	"strings"
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
	"github.com/stretchr/testify/require"
)

// hand drives a machine step by step and notes what it asks for.
type hand struct {
	t        *testing.T
	m        *Machine
	now      int64
	asks     []Ask
	stores   map[int]Store
	cancels  []int
	reports  []Progress
	at       []int64 // of the reports
	timer    int64
	outcome  *Outcome
	record   []byte // the last, with the end
	saved    bool
	forgot   bool
	hashes   []Hash
	slowData bool // no bytes are read
}

func begin(t *testing.T, c Config) *hand {
	if c.Policy == nil {
		c.Policy = &retry.Policy{}
	}
	if c.Policy.Jitter == nil {
		c.Policy.Jitter = func() float64 { return 0.5 }
	}
	if c.Wait != nil {
		c.Wait.Policy = c.Policy
	}
	h := &hand{t: t, stores: map[int]Store{}, now: 1_000_000, timer: -1}
	c.Policy.Connections = retry.NewConnections(func() int64 { return h.now }, nil)
	h.m = New(c)
	return h
}

func (h *hand) do(f func(now int64)) {
	f(h.now)
	for h.m.Wants() {
		for _, e := range h.m.Take() {
			h.perform(e)
		}
	}
}

func (h *hand) perform(e retry.Effect) {
	switch e := e.(type) {
	case Ask:
		h.asks = append(h.asks, e)
	case Store:
		h.stores[e.ID] = e
		if !h.slowData {
			h.m.StoreBegun(h.now, e.ID)
		}
	case CancelStore:
		h.cancels = append(h.cancels, e.ID)
		delete(h.stores, e.ID)
	case Report:
		h.reports, h.at = append(h.reports, e.Progress), append(h.at, h.now)
	case retry.SetTimer:
		h.timer = h.now + e.After
	case retry.StopTimer:
		h.timer = -1
	case Hash:
		h.hashes = append(h.hashes, e)
	case Save:
		h.saved = true
		if e.Record != nil {
			h.record = e.Record
		}
	case Forget:
		h.forgot = true
	case Finish:
		h.outcome = &e.Outcome
	}
}

// pass lets time go by, with the timer.
func (h *hand) pass(ms int64) {
	until := h.now + ms
	for h.timer >= 0 && h.timer <= until {
		h.now, h.timer = max(h.timer, h.now), -1
		h.do(h.m.TimerFired)
	}
	h.now = until
}

func (h *hand) lastAsk() string {
	a := h.asks[len(h.asks)-1].Request
	return strings.TrimSpace(a.Method + " " + a.Path + " " + string(a.Body))
}

func (h *hand) answerAsk(body string) {
	h.do(func(now int64) {
		h.m.Answered(now, retry.Done{Response: &api.Response{Status: 200}, Body: []byte(body)})
	})
}

func (h *hand) refuseAsk(status int) {
	h.do(func(now int64) {
		h.m.Answered(now, retry.Done{Err: &api.Error{Kind: api.KindAPI, Code: "x", Status: status, Message: "refused"}})
	})
}

func (h *hand) answer(id, status int, header ...string) {
	require.Contains(h.t, h.stores, id)
	delete(h.stores, id)
	h.do(func(now int64) { h.m.StoreAnswered(now, id, answer(status, header...)) })
}

const sas = `{"file_id":"f","upload_url":"https://store.test/c/b?sv=1&sp=cw&sig=secret"`

// azure is an upload of three blocks of 100 bytes whose ticket has come.
func azure(t *testing.T, ticket string, change func(*Config)) *hand {
	c := Config{WorkspaceID: "w", Name: "n", Size: 300, BlockSize: 100, BlockTimeout: 60_000}
	if change != nil {
		change(&c)
	}
	h := begin(t, c)
	h.do(h.m.Start)
	h.answerAsk(ticket)
	return h
}
