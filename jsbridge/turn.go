package jsbridge

import (
	"github.com/seed-76f09577/turnwire/jsbridge/contract"
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
	"github.com/seed-76f09577/turnwire/wasm/turn"
)

// liveTurn performs one turn. It stays until the page has taken its state and released it.
type liveTurn struct {
	pump
	requester
	chat    *chat  // until the turn is over
	id      uint32 // the page's number of it
	machine *turn.Machine
	place   uint32 // among what the client has open

	number   uint32       // within its chat
	abort    *api.Request // what tells the service to stop
	abortion uint32       // the call that is told of the one abort that a turn has
	stopping bool         // it is told when the service has answered
}

// StartTurn is contract.Control's.
func (b *Bridge) StartTurn(number, client uint32, p *contract.TurnParams) {
	c := b.clients.get(client)
	t := &liveTurn{id: number, abort: api.AbortChat(p.ChatID), machine: turn.New(turn.Config{
		Request:     api.SendMessage(p.ChatID, p.Key, p.Parts, p.Model),
		Policy:      c.policy(&p.Limits, retry.Repeatable),
		IdleTimeout: p.IdleTimeout,
		Replay:      p.Replay,
		Offline:     func() bool { return !b.page.Online() },
	})}
	t.chat = c.chatOf(p.ChatID)
	t.chat.join(t)
	t.requester = requester{client: c, headers: fields(p.Headers), machine: sentTurn{t.machine, t}, flush: t.flush, ready: func() {
		t.chat.line.Ready(b.monotonic(), t.number)
		t.chat.flush()
	}}
	b.turns.put(number, t)
	b.streams.Add(number, t.machine)
	c.begin()
	t.place = c.open.add(t)
	t.machine.Start()
	t.flush()
}

func (t *liveTurn) flush() {
	t.run(t.machine, t.perform)
	// After its abort, of which the line has to know whose it is.
	if t.machine.Over() && !t.pump.running && t.chat != nil {
		t.chat.over(t)
		t.chat = nil
	}
}

func (t *liveTurn) perform(effect retry.Effect) {
	if t.requester.perform(effect) {
		return
	}
	switch e := effect.(type) {
	case turn.OpenStream:
		t.client.b.page.TurnOpened(t.id, t.request)
	case turn.SendAbort:
		t.stopping = true
		t.chat.line.Stop(t.client.b.monotonic(), t.number, t.machine.Policy().Timeout)
		t.chat.flush()
	case turn.Finish:
		t.finish(e.Outcome)
	}
}

func (t *liveTurn) finish(o turn.Outcome) {
	t.client.open.take(t.place)
	level, facts := "info", []retry.Field{{Name: "path", Value: t.machine.Request().Path}, {Name: "status", Value: string(o.Status)}}
	if o.Err != nil {
		level = "warn"
		facts = append(facts, retry.Field{Name: "code", Value: o.Err.Code})
	}
	t.client.log(level, "turn ended", facts...)
	t.client.b.page.TurnEnded(t.id, &contract.TurnEnd{Status: o.Status, Error: errorOf(o.Err), Data: o.Complete})
}

// sentTurn is the turn's machine as its requester knows it: the chat has to hear what leaves.
type sentTurn struct {
	*turn.Machine
	of *liveTurn
}

func (s sentTurn) Sent() {
	s.of.chat.line.Left(s.of.number)
	s.Machine.Sent()
}

// AbortTurn is contract.Control's. Where the service has nothing to stop, the call ends at once.
func (b *Bridge) AbortTurn(number, call uint32) {
	t := b.turns.get(number)
	t.abortion = call
	left, over := t.machine.Left(), t.machine.Over()
	t.machine.Abort()
	t.flush()
	if over || !left {
		t.aborted(nil)
	}
}

// aborted tells the page how the abort of a turn ended.
func (t *liveTurn) aborted(err *api.Error) { t.client.b.page.CallEnded(t.abortion, failed(err)) }

func (t *liveTurn) clientClosed(*api.Error) {
	t.machine.Disconnect()
	t.flush()
}

// DisconnectTurn is contract.Control's.
func (b *Bridge) DisconnectTurn(number uint32) {
	t := b.turns.get(number)
	t.machine.Disconnect()
	t.flush()
}

// StreamEnded is contract.Control's.
func (b *Bridge) StreamEnded(number uint32, failure string) {
	if t := b.turns.get(number); t != nil {
		t.machine.StreamEnded(failure == "", failure)
	}
}

// Flush is page.Module's.
func (b *Bridge) Flush(number uint32) {
	if t := b.turns.get(number); t != nil {
		t.flush()
	}
}

// Hold is page.Module's.
func (b *Bridge) Hold(number uint32, on bool) {
	if t := b.turns.get(number); t != nil {
		t.machine.Hold(b.monotonic(), on)
	}
}

// Release is page.Module's.
func (b *Bridge) Release(number uint32) {
	b.turns.remove(number)
	b.streams.Remove(number)
}
