package jsbridge

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-76f09577/turnwire/jsbridge/contract"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fakePage is a page that does nothing by itself: it notes what it is asked for, as JavaScript would see it.
type fakePage struct {
	t       *testing.T
	b       *Bridge
	now     float64
	offline bool
	notes   []string
	timers  map[uint32]float64
	fetches []fetched
	asks    []uint32
	logs    []string
	ended   map[string]string // how calls, turns and uploads ended, by kind and number
	gone    []uint32          // clients of which nothing more comes
}

type fetched struct {
	request, client uint32
	*contract.FetchParams
}

func newPage(t *testing.T) *fakePage {
	p := &fakePage{t: t, timers: map[uint32]float64{}, ended: map[string]string{}}
	p.b = New(p)
	return p
}

func (p *fakePage) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

// took returns the notes since it was called last.
func (p *fakePage) took() []string {
	notes := p.notes
	p.notes = nil
	return notes
}

func (p *fakePage) Now() float64        { return p.now }
func (p *fakePage) TimeOrigin() float64 { return 1_700_000_000_000 }
func (p *fakePage) UnixTime() float64   { return 1_700_000_000_000 + p.now }
func (p *fakePage) Random() float64     { return 0.5 }
func (p *fakePage) Online() bool        { return !p.offline }
func (p *fakePage) Crashed(why string)  { p.t.Errorf("crashed: %s", why) }

func (p *fakePage) SetTimer(timer uint32, ms int64) { p.timers[timer] = p.now + float64(ms) }
func (p *fakePage) ClearTimer(timer uint32)         { delete(p.timers, timer) }
func (p *fakePage) ClientEnded(client uint32)       { p.gone = append(p.gone, client) }
func (p *fakePage) AskKey(ask, client uint32)       { p.asks = append(p.asks, ask) }
func (p *fakePage) TellPages(int, string)           {}

func (p *fakePage) Record(client uint32, record *contract.LogRecord) {
	assert.NotContains(p.t, p.gone, client, "nothing more comes of it")
	p.logs = append(p.logs, record.Message)
	assert.True(p.t, json.Valid([]byte(record.JSON())), record.JSON())
}

func (p *fakePage) Fetch(request, client uint32, params *contract.FetchParams) {
	assert.NotContains(p.t, p.gone, client, "nothing more comes of it")
	p.fetches = append(p.fetches, fetched{request, client, params})
	p.note("fetch %s %s", params.Method, params.URL)
}
func (p *fakePage) ReadBody(request uint32, limit int) { p.note("read %d", request) }
func (p *fakePage) Cancel(request uint32)              { p.note("cancel %d", request) }

func (p *fakePage) end(kind string, number uint32, record string) {
	key := fmt.Sprint(kind, " ", number)
	if _, twice := p.ended[key]; twice {
		p.t.Errorf("%s ended twice", key)
	}
	p.ended[key] = record
}
func (p *fakePage) CallEnded(call uint32, end *contract.CallEnd)   { p.end("call", call, end.JSON()) }
func (p *fakePage) FileStatus(call uint32, file *contract.File)    { p.note("status %s", file.Status) }
func (p *fakePage) TurnOpened(turn, request uint32)                { p.note("opened %d by %d", turn, request) }
func (p *fakePage) TurnEnded(turn uint32, end *contract.TurnEnd)   { p.end("turn", turn, end.JSON()) }
func (p *fakePage) UploadEnded(up uint32, end *contract.UploadEnd) { p.end("upload", up, end.JSON()) }
func (p *fakePage) UploadStatus(up uint32, file *contract.File)    { p.note("status %s", file.Status) }
func (p *fakePage) Hash(up uint32, part *contract.HashRange)       { p.note("hash %s", part.JSON()) }
func (p *fakePage) ReleaseData(up uint32, before int64)            { p.note("release %d", before) }
func (p *fakePage) ShowProgress(up uint32, now *contract.Progress) { p.note("progress %s", now.Stage) }
func (p *fakePage) SaveRecord(up uint32, record string)            { p.note("save %q", record) }
func (p *fakePage) ForgetRecord(up uint32)                         { p.note("forget") }
func (p *fakePage) MapTicket(up uint32, body string)               { p.note("map %s", body) }
func (p *fakePage) CancelBlock(up, request uint32)                 { p.note("cancel block %d", request) }
func (p *fakePage) SendBlock(up, request uint32, block *contract.StoreRequest) {
	p.note("block %d %s", request, block.JSON())
}

// pass lets time pass, and the timers that come due fire in their order.
func (p *fakePage) pass(ms float64) {
	for until := p.now + ms; ; {
		first, due := uint32(0), until
		for timer, at := range p.timers {
			if at < due || at == due && (first == 0 || timer < first) {
				first, due = timer, at
			}
		}
		p.now = due
		if first == 0 {
			return
		}
		delete(p.timers, first)
		p.b.TimerFired(first)
	}
}

// answer answers the newest request, and its body where it is read.
func (p *fakePage) answer(status int, body string) {
	request := p.fetches[len(p.fetches)-1].request
	p.b.Answered(request, &contract.Head{Status: status, ContentType: "application/json"})
	p.b.BodyRead(request, body)
}

// header is a request's header as it is sent; "" where it is not.
func (f fetched) header(name string) string {
	for _, h := range f.Headers {
		if h[0] == name {
			return h[1]
		}
	}
	return ""
}

var limits = contract.Limits{MaxRetries: 2, Timeout: 60_000}

func (p *fakePage) open(client uint32, change func(*contract.ClientConfig)) {
	config := &contract.ClientConfig{Base: "https://a.example", Host: "https://a.example/", Key: "key", Logs: true}
	if change != nil {
		change(config)
	}
	p.b.OpenClient(client, config)
}

// isIdle fails where something is left of what has ended.
func (p *fakePage) isIdle() {
	p.t.Helper()
	assert.Zero(p.t, p.b.Live(), "something is left under way")
	assert.Empty(p.t, p.timers)
}

func errorCode(t *testing.T, record string) string {
	var end struct {
		Error struct{ Code string }
	}
	require.NoError(t, json.Unmarshal([]byte(record), &end), record)
	return end.Error.Code
}

func lines(notes []string) string { return strings.Join(notes, "\n") }
