package jsbridge

import (
	"testing"

	"github.com/seed-76f09577/turnwire/jsbridge/contract"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCall(t *testing.T) {
	tests := map[string]struct {
		act  func(p *fakePage)
		want string // how the call ended; "" where the page is told nothing
	}{
		"answered":  {func(p *fakePage) { p.answer(200, `{"id":"f","status":"ready","size":3}`) }, `{"file":{"id":"f","status":"ready","size":3,"raw":{"id":"f","status":"ready","size":3}}}`},
		"cancelled": {func(p *fakePage) { p.b.CancelCall(7) }, ""},
		"cancelled, and then answered": {func(p *fakePage) {
			p.b.CancelCall(7)
			p.answer(200, `{"id":"f","status":"ready"}`)
		}, ""},
		"a body that breaks off": {func(p *fakePage) {
			p.b.Answered(p.fetches[0].request, &contract.Head{Status: 200, ContentType: "application/json"})
			p.b.RequestFailed(p.fetches[0].request, "TypeError: gone")
		}, "body_lost"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPage(t)
			p.open(1, nil)
			p.b.GetFile(7, 1, &contract.FileParams{Limits: limits, FileID: "f"})
			require.Equal(t, []string{"fetch GET https://a.example/v1/files/f"}, p.took())
			test.act(p)
			got, told := p.ended["call 7"]
			switch {
			case test.want == "":
				assert.False(t, told, got)
			case test.want[0] == '{':
				assert.JSONEq(t, test.want, got)
			default:
				assert.NotEmpty(t, errorCode(t, got), got)
			}
			p.b.CloseClient(1)
			p.isIdle()
			assert.Equal(t, []uint32{1}, p.gone)
		})
	}
}

// TestRetry answers 503 first: the wait and the second try are the machine's, their timer and their request the bridge's.
func TestRetry(t *testing.T) {
	p := newPage(t)
	p.open(1, nil)
	p.b.GetFile(1, 1, &contract.FileParams{Limits: limits, FileID: "f"})
	p.answer(503, "")
	require.Len(t, p.fetches, 1)
	p.pass(60_000)
	require.Len(t, p.fetches, 2)
	assert.NotEqual(t, p.fetches[0].request, p.fetches[1].request)
	p.b.RequestFailed(p.fetches[0].request, "late: of the first try")
	p.answer(200, `{"id":"f","status":"ready"}`)
	assert.Contains(t, p.ended["call 1"], `"ready"`)
}

func TestHeaders(t *testing.T) {
	p := newPage(t)
	p.open(1, func(c *contract.ClientConfig) {
		c.Headers = []contract.Header{{"X-Client", "client"}, {"X-Both", "client"}, {"Authorization", "mine"}, {"Accept", "client"}}
	})
	own := limits
	own.Headers = []contract.Header{{"x-both", "call"}}
	p.b.GetFile(1, 1, &contract.FileParams{Limits: own, FileID: "f"})
	f := p.fetches[0]
	assert.Equal(t, []string{"client", "call", "Bearer key", "application/json"},
		[]string{f.header("x-client"), f.header("x-both"), f.header("authorization"), f.header("accept")}, f.Headers)

	p.open(2, func(c *contract.ClientConfig) { c.Key = "" })
	p.b.GetFile(2, 2, &contract.FileParams{Limits: limits, FileID: "f"})
	assert.Empty(t, p.fetches[1].header("authorization"))
}

func TestKey(t *testing.T) {
	asks := func(c *contract.ClientConfig) { c.Key, c.AsksKey = "", true }
	start := func(t *testing.T) *fakePage {
		p := newPage(t)
		p.open(1, asks)
		p.b.GetFile(1, 1, &contract.FileParams{Limits: limits, FileID: "f"})
		p.b.GetFile(2, 1, &contract.FileParams{Limits: limits, FileID: "g"})
		require.Len(t, p.asks, 1, "requests that come together share a key")
		require.Empty(t, p.fetches)
		return p
	}
	t.Run("given", func(t *testing.T) {
		p := start(t)
		p.b.KeyGiven(p.asks[0], "k")
		require.Len(t, p.fetches, 2)
		assert.Equal(t, "Bearer k", p.fetches[1].header("authorization"))
		p.b.KeyGiven(p.asks[0], "again")
		assert.Len(t, p.fetches, 2, "an answer counts once")
	})
	t.Run("refused", func(t *testing.T) {
		p := start(t)
		p.b.KeyRefused(p.asks[0], "TypeError: none")
		for _, call := range []string{"call 1", "call 2"} {
			assert.Equal(t, "api_key_failed", errorCode(t, p.ended[call]))
		}
		p.b.CloseClient(1)
		p.isIdle()
	})
	t.Run("too late for one, which the next does not wait for", func(t *testing.T) {
		p := start(t)
		p.pass(60_000)
		assert.Equal(t, "api_key_timeout", errorCode(t, p.ended["call 1"]))
		p.b.GetFile(3, 1, &contract.FileParams{Limits: limits, FileID: "h"})
		require.Len(t, p.asks, 2)
		p.b.KeyRefused(p.asks[0], "late")
		p.b.KeyGiven(p.asks[1], "k")
		require.Len(t, p.fetches, 1)
		assert.Contains(t, p.fetches[0].URL, "/h")
	})
}

func turnParams(chat string) *contract.TurnParams {
	return &contract.TurnParams{Limits: limits, ChatID: chat, Parts: `[{"type":"text","text":"hi"}]`, Key: "k", IdleTimeout: 60_000}
}

// stream answers the newest request with an event stream.
func (p *fakePage) stream() {
	p.b.Answered(p.fetches[len(p.fetches)-1].request, &contract.Head{Status: 200, ContentType: "text/event-stream"})
}

func TestTurn(t *testing.T) {
	p := newPage(t)
	p.open(1, nil)
	p.b.StartTurn(4, 1, turnParams("c"))
	p.stream()
	assert.Equal(t, []string{"fetch POST https://a.example/v1/chats/c/messages", "opened 4 by 1"}, p.took())
	chunk := "data: {\"type\":\"text_delta\",\"data\":{\"chunk\":\"Hello\"}}\n\ndata: {\"type\":\"turn_complete\",\"data\":{\"a\":1}}\n\n"
	var fed contract.Fed
	flags := p.b.Streams().Feed(4, []byte(chunk), 10, &fed)
	assert.Equal(t, `["Hello"]`, string(fed.Batch.JSON))
	assert.Equal(t, "Hello", string(fed.Text))
	assert.Equal(t, uint32(contract.More), flags, "what changes more than the text comes by itself")
	flags = p.b.Streams().Feed(4, nil, 10, &fed)
	assert.Equal(t, uint32(contract.WantsFlush), flags)
	require.Empty(t, p.ended, "before the page has the events")
	p.b.Flush(4)
	assert.JSONEq(t, `{"status":"completed","data":{"a":1}}`, p.ended["turn 4"])
	assert.Equal(t, []string{"cancel 1"}, p.took())
	p.b.Release(4)
	p.b.Streams().Feed(4, []byte(chunk), 11, &fed)
	assert.Empty(t, fed.Batch.JSON, "of a turn that was released nothing is left")
	p.b.CloseClient(1)
	p.isIdle()
}

// TestAbort closes the client under an abort that is under way: it goes out all the same, and then nothing is left.
func TestAbort(t *testing.T) {
	p := newPage(t)
	p.open(1, nil)
	p.b.StartTurn(1, 1, turnParams("c"))
	p.stream()
	p.b.AbortTurn(1, 9)
	assert.JSONEq(t, `{"status":"cancelled"}`, p.ended["turn 1"])
	assert.Equal(t, "https://a.example/v1/chats/c/abort", p.fetches[1].URL)
	assert.True(t, p.fetches[1].Keepalive)
	p.b.StartTurn(2, 1, turnParams("c"))
	require.Len(t, p.fetches, 2, "the chat's next message waits for the abort")
	p.b.CloseClient(1)
	assert.Equal(t, "disconnected", errorCode(t, p.ended["turn 2"]))
	assert.NotContains(t, p.ended, "call 9")
	assert.Empty(t, p.gone)
	p.answer(200, "{}")
	assert.Equal(t, "{}", p.ended["call 9"])
	p.b.Release(1)
	p.b.Release(2)
	p.isIdle()
	assert.Equal(t, []uint32{1}, p.gone)
}

// TestAbortBesideAnother closes a client whose turn was aborted beside another client's turn of the chat: the service is told
// when that one has ended, and in the closed client's name.
func TestAbortBesideAnother(t *testing.T) {
	p := newPage(t)
	p.open(1, nil)
	p.open(2, nil)
	p.b.StartTurn(1, 1, turnParams("c"))
	p.stream()
	p.b.StartTurn(2, 2, turnParams("c"))
	p.stream()
	p.b.AbortTurn(1, 9)
	p.b.Release(1)
	p.b.CloseClient(1)
	require.Len(t, p.fetches, 2, "the abort would stop the other turn")
	p.b.DisconnectTurn(2)
	p.b.Release(2)
	require.Len(t, p.fetches, 3)
	assert.Equal(t, uint32(1), p.fetches[2].client)
	p.answer(503, "")
	p.pass(60_000)
	p.answer(204, "")
	assert.Equal(t, "{}", p.ended["call 9"])
	p.b.CloseClient(2)
	p.isIdle()
	assert.Equal(t, []uint32{1, 2}, p.gone)
}

func TestUpload(t *testing.T) {
	p := newPage(t)
	p.open(1, nil)
	params := &contract.UploadParams{
		Limits: limits, WorkspaceID: "w", Name: "n", ContentType: "text/plain", Size: 3, Concurrency: 4, BlockTries: 4,
		BlockTimeout: 1000, DataTimeout: 1000, ReportTimeout: 1000, Maps: true,
	}
	p.b.StartUpload(5, 1, params)
	require.Len(t, p.fetches, 1)
	assert.Equal(t, "https://a.example/v1/workspaces/w/files/upload-url", p.fetches[0].URL)
	p.took()
	p.answer(200, `{"any":"form"}`)
	assert.Contains(t, p.took(), `map {"any":"form"}`)
	p.b.TicketMapped(5, `{"file_id":"f","upload_url":"https://s.example/put?sig=1","protocol":"put"}`)
	assert.Contains(t, lines(p.took()), `"url":"https://s.example/put?sig=1"`)
	request := uint32(1)
	p.b.StoreBegun(5, request)
	p.b.StoreProgress(5, request, 3)
	p.b.StoreAnswered(5, request, &contract.StoreAnswer{Status: 200})
	assert.Contains(t, lines(p.took()), "fetch PATCH https://a.example/v1/files/f")
	p.answer(200, `{"id":"f","status":"registered"}`)
	assert.Contains(t, p.ended["upload 5"], `"stage":"done"`)
	p.b.StoreFailed(5, request, "late")
	p.b.CloseClient(1)
	p.isIdle()

	p.open(2, nil)
	delete(p.ended, "upload 5")
	p.b.StartUpload(5, 2, params)
	p.answer(200, `{}`)
	p.b.TicketRefused(5, "TypeError: no")
	assert.Equal(t, "map_ticket_failed", errorCode(t, p.ended["upload 5"]))
}

// TestWait closes the client under a wait: the page gets its number back.
func TestWait(t *testing.T) {
	p := newPage(t)
	p.open(1, nil)
	p.b.WaitFile(3, 1, &contract.WaitParams{WaitLimits: contract.WaitLimits{Limits: limits, Interval: 1000, MaxInterval: 1000}, FileID: "f"})
	p.answer(200, `{"id":"f","status":"processing"}`)
	assert.Contains(t, p.took(), "status processing")
	p.b.CloseClient(1)
	assert.Equal(t, "client_closed", errorCode(t, p.ended["call 3"]))
	p.isIdle()
}
