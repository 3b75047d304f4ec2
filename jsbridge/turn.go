//go:build js && wasm

package jsbridge

import (
	"github.com/hack-pad/safejs"
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/json"
	"github.com/seed-76f09577/turnwire/wasm/retry"
	"github.com/seed-76f09577/turnwire/wasm/turn"
)

// liveTurn performs one turn. It stays until the loader has taken its state and released it.
type liveTurn struct {
	pump
	wire
	chat    *chat // until the turn is over
	id      uint32
	machine *turn.Machine
	sink    safejs.Value // the loader's side: opened(body), ended(outcome)

	number   uint32       // within its chat
	abort    api.Request  // what tells the service to stop
	settle   safejs.Value // of the one abort that a turn has; undefined until it is asked for
	stopping bool         // settle is told when the service has answered
}

var turns table[*liveTurn]

// startTurn(client, {chatId, parts, model, key, idleTimeout, …options}, sink) → turn
func startTurn(args []safejs.Value) any {
	c, params := clients.get(index(args[0])), args[1]
	chatID := text(params, "chatId")
	t := &liveTurn{sink: args[2], abort: api.AbortChat(chatID), machine: turn.New(turn.Config{
		Request:     api.SendMessage(chatID, text(params, "key"), text(params, "parts"), text(params, "model")),
		Policy:      policy(c, params, retry.Repeatable),
		IdleTimeout: number(params, "idleTimeout"),
		Replay:      truthy(property(params, "replay")),
		Offline:     func() bool { return !online() },
	})}
	t.chat = chatOf(c, chatID)
	t.chat.join(t)
	t.wire = wire{client: c, headers: fields(property(params, "headers")), machine: sentTurn{t.machine, t}, flush: t.flush, ready: func() {
		t.chat.line.Ready(monotonic(), t.number)
		t.chat.flush()
	}}
	t.id = turns.add(t)
	c.turns[t] = true
	t.machine.Start()
	t.flush()
	return t.id
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
	if t.wire.perform(effect) {
		return
	}
	switch e := effect.(type) {
	case turn.OpenStream:
		method(t.sink, "opened", property(t.response, "body"))
	case turn.SendAbort:
		t.stopping = true
		t.chat.line.Stop(monotonic(), t.number, t.machine.Policy().Timeout)
		t.chat.flush()
	case turn.Finish:
		t.finish(e.Outcome)
	}
}

func (t *liveTurn) finish(o turn.Outcome) {
	delete(t.client.turns, t)
	level, fields := "info", []retry.Field{{Name: "path", Value: t.path()}, {Name: "status", Value: string(o.Status)}}
	if o.Err != nil {
		level = "warn"
		fields = append(fields, retry.Field{Name: "code", Value: o.Err.Code})
	}
	t.client.record(level, "turn ended", fields...)

	var w json.Writer
	w.Open("", '{')
	w.String("status", string(o.Status))
	if o.Err != nil {
		writeError(&w, "error", o.Err)
	}
	if o.Complete != nil {
		w.Raw("data", o.Complete)
	}
	w.Close('}')
	method(t.sink, "ended", string(w.Text()))
}

func (t *liveTurn) path() string { return t.machine.Request().Path }

// sentTurn is the turn's machine as its wire knows it: the chat has to hear what leaves.
type sentTurn struct {
	*turn.Machine
	of *liveTurn
}

func (s sentTurn) Sent() {
	s.of.chat.line.Left(s.of.number)
	s.Machine.Sent()
}

// abortTurn(turn, settle): the loader asks once, of a turn that it has not seen end. settle is told at once where the
// service has nothing to stop.
func abortTurn(args []safejs.Value) any {
	t := turns.get(index(args[0]))
	t.settle = args[1]
	left := t.machine.Left()
	over := t.machine.Over()
	t.machine.Abort()
	t.flush()
	if over || !left {
		settled(t.settle)(nil)
	}
	return nil
}

// disconnectTurn(turn)
func disconnectTurn(args []safejs.Value) any {
	t := turns.get(index(args[0]))
	t.machine.Disconnect()
	t.flush()
	return nil
}

// streamEnded(turn, reason | null): null where the stream ended cleanly. The loader drains the events afterwards.
func streamEnded(args []safejs.Value) any {
	t := turns.get(index(args[0]))
	if t == nil {
		return nil
	}
	detail := ""
	clean := args[1].IsNull()
	if !clean {
		detail = describe(args[1])
	}
	t.machine.StreamEnded(clean, detail)
	return nil
}
