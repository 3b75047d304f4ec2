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
	wire
	id      uint32
	machine *turn.Machine
	sink    safejs.Value // the loader's side: opened(body), ended(outcome)
	settle  safejs.Value // of the one abort that a turn has; undefined until it is asked for
}

var turns table[*liveTurn]

// startTurn(client, {chatId, parts, model, key, idleTimeout, …options}, sink) → turn
func startTurn(args []safejs.Value) any {
	c, params := clients.get(index(args[0])), args[1]
	chatID := text(params, "chatId")
	t := &liveTurn{sink: args[2], machine: turn.New(turn.Config{
		Request:     api.SendMessage(chatID, text(params, "key"), text(params, "parts"), text(params, "model")),
		Abort:       api.AbortChat(chatID),
		Policy:      policy(c, params, retry.Repeatable),
		IdleTimeout: number(params, "idleTimeout"),
		Replay:      truthy(property(params, "replay")),
		Offline:     func() bool { return !truthy(method(host, "online")) },
	})}
	t.wire = wire{client: c, headers: fields(property(params, "headers")), machine: t.machine, flush: t.flush}
	t.id = turns.add(t)
	c.turns[t] = true
	t.machine.Start()
	t.flush()
	return t.id
}

func (t *liveTurn) flush() {
	for t.machine.Wants() {
		for _, effect := range t.machine.Take() {
			if t.perform(effect) {
				continue
			}
			switch e := effect.(type) {
			case turn.OpenStream:
				method(t.sink, "opened", property(t.response, "body"))
			case turn.SendAbort:
				t.sendAbort(e.Request)
			case turn.Finish:
				t.finish(e.Outcome)
			}
		}
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

// sendAbort tells the service to stop. The turn is over already; only the promise of abort() waits for the answer. It
// carries the message's own key: on pagehide, a key that has to be asked for first would come too late.
func (t *liveTurn) sendAbort(request api.Request) {
	settle := t.settle
	policy := t.machine.Policy()
	newCallWithKey(t.key, t.client, request, policy, t.headers, func(d retry.Done) {
		if d.Err != nil {
			invoke(settle, errorJSON(d.Err))
			return
		}
		invoke(settle, safejs.Null())
	})
}

// abortTurn(turn, settle): the loader asks once, of a turn that it has not seen end.
func abortTurn(args []safejs.Value) any {
	t := turns.get(index(args[0]))
	t.settle = args[1]
	over := t.machine.Over()
	t.machine.Abort()
	t.flush()
	if over {
		invoke(t.settle, safejs.Null())
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

// online(): the browser has a network again.
func online([]safejs.Value) any {
	for _, t := range turns.entries {
		if t != nil {
			t.machine.Online()
			t.flush()
		}
	}
	for _, u := range uploads.entries {
		if u != nil {
			u.machine.Online(clock())
			u.flush()
		}
	}
	for _, w := range waits.entries {
		if w != nil {
			w.machine.Online(clock())
			w.flush()
		}
	}
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
