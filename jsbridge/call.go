package jsbridge

import (
	"github.com/seed-76f09577/turnwire/jsbridge/contract"
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
)

// call performs one request whose answer is read whole.
type call struct {
	pump
	requester
	awaited
	machine *retry.Call
	done    func(retry.Done)
	place   uint32 // among what the client has open
}

// newCall makes a call; start begins it.
func newCall(c *client, request *api.Request, policy *retry.Policy, headers []api.Field, done func(retry.Done)) *call {
	k := &call{machine: retry.NewCall(request, policy), done: done}
	k.requester = requester{client: c, headers: headers, machine: k.machine, flush: k.flush}
	c.begin()
	k.place = c.open.add(k)
	return k
}

// outlive lets a call go on though its client is closed.
func (k *call) outlive() { k.client.open.take(k.place) }

func (k *call) clientClosed(err *api.Error) {
	k.machine.Cancel(err)
	k.flush()
}

func (k *call) start() {
	k.machine.Start()
	k.flush()
}

func (k *call) flush() { k.run(k.machine, k.perform) }

func (k *call) perform(effect retry.Effect) {
	if k.requester.perform(effect) {
		return
	}
	done := effect.(retry.Done)
	k.client.b.clearTimer(&k.timer)
	k.letGo()
	k.client.open.take(k.place)
	k.done(done)
	k.client.end()
}

// cancel is of a call whose caller gave it up. Its end is told all the same, to who waits for it here.
func (k *call) cancel() {
	k.machine.Cancel(&api.Error{Kind: api.KindClient, Code: "cancelled", Message: "the call was cancelled by its caller"})
	k.flush()
}

// drop ends a call that nobody listens to any more.
func (k *call) drop() {
	k.done = func(retry.Done) {}
	k.machine.Cancel(nil)
	k.flush()
}

// awaited is what the page waits for under a number of its choice: a call, or a wait for a file.
type awaited struct {
	number uint32 // 0 where nobody waits (any more)
	what   cancelled
}

// await says that the page waits for a.
func (b *Bridge) await(number uint32, a *awaited, what cancelled) {
	a.number, a.what = number, what
	b.calls.put(number, a)
}

// told tells the page how a call ended, unless its caller gave it up.
func (b *Bridge) told(a *awaited, end *contract.CallEnd) {
	if number := a.number; number != 0 {
		b.calls.remove(number)
		a.number = 0
		b.page.CallEnded(number, end)
	}
}

// begin makes a call that the page knows by a number; end says what it gave.
func (b *Bridge) begin(number uint32, c *client, request *api.Request, policy *retry.Policy, limits *contract.Limits, end func(retry.Done) *contract.CallEnd) *call {
	var k *call
	k = newCall(c, request, policy, fields(limits.Headers), func(d retry.Done) { b.told(&k.awaited, end(d)) })
	b.await(number, &k.awaited, k)
	return k
}

// CreateChat is contract.Control's.
func (b *Bridge) CreateChat(number, client uint32, p *contract.ChatParams) {
	c := b.clients.get(client)
	request := api.CreateChat(p.WorkspaceID, p.AgentID, p.IsTemporary)
	b.begin(number, c, request, c.policy(&p.Limits, retry.Unkeyed), &p.Limits, func(d retry.Done) *contract.CallEnd {
		if d.Err != nil {
			return failed(d.Err)
		}
		id, err := api.ChatID(request, d.Response, d.Body)
		if err != nil {
			return failed(err)
		}
		return &contract.CallEnd{Chat: &contract.Chat{ID: id, Raw: d.Body}}
	}).start()
}

// GetFile is contract.Control's.
func (b *Bridge) GetFile(number, client uint32, p *contract.FileParams) {
	c := b.clients.get(client)
	request := api.GetFile(p.FileID)
	b.begin(number, c, request, c.policy(&p.Limits, retry.Repeatable), &p.Limits, func(d retry.Done) *contract.CallEnd {
		if d.Err != nil {
			return failed(d.Err)
		}
		file, ok := api.ParseFile(p.FileID, d.Body)
		if !ok {
			return failed(api.NotAFile(request, d.Response, d.Body))
		}
		return &contract.CallEnd{File: fileOf(&file)}
	}).start()
}

// ReportFailed is contract.Control's.
func (b *Bridge) ReportFailed(number, client uint32, p *contract.ReportParams) {
	c := b.clients.get(client)
	k := b.begin(number, c, api.ReportFailed(p.FileID, p.Why), c.policy(&p.Limits, retry.Repeatable), &p.Limits, func(d retry.Done) *contract.CallEnd {
		return failed(d.Err)
	})
	k.outlive()
	k.start()
}

// failed is the end of a call that gives nothing, or failed.
func failed(err *api.Error) *contract.CallEnd { return &contract.CallEnd{Error: errorOf(err)} }
