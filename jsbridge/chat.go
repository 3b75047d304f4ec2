//go:build js && wasm

package jsbridge

import (
	"github.com/hack-pad/safejs"
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
	"github.com/seed-76f09577/turnwire/wasm/turn"
)

// chat is what a page's clients share of one chat of a service: the order in which messages and aborts leave.
type chat struct {
	pump
	name  string
	users int // turns and aborts that have not ended
	line  turn.Line
	timer timer
}

// chats has those of which something is under way, by the service's address and the chat's identifier.
var chats = map[string]*chat{}

// chatOf gives one more user the chat of that identifier.
func chatOf(c *client, id string) *chat {
	name := c.base + " " + id
	if chats[name] == nil {
		chats[name] = &chat{name: name}
	}
	chats[name].users++
	return chats[name]
}

func (c *chat) release() {
	if c.users--; c.users == 0 {
		delete(chats, c.name)
	}
}

func (c *chat) flush() { c.run(&c.line, c.perform) }

func (c *chat) perform(effect retry.Effect) {
	switch e := effect.(type) {
	case turn.Go:
		turns.get(e.Turn).leave()
	case turn.GiveUp:
		calls.get(e.Call).giveUp()
	case retry.SetTimer:
		c.timer.set(e.After, func() {
			c.line.TimerFired(monotonic())
			c.flush()
		})
	case retry.StopTimer:
		c.timer.clear()
	}
}

// abort tells the service to stop what the chat is producing; a message that is sent meanwhile waits. It goes out though
// the client is closed: nobody else would tell. It gives one user of the chat back when it ends.
func (c *chat) abort(key string, of *client, request api.Request, policy retry.Policy, headers []api.Field, done func(*api.Error)) *call {
	var k *call
	k = newCall(of, request, policy, headers, func(d retry.Done) {
		if d.Err != nil {
			of.record("warn", "the service was not told to stop", retry.Field{Name: "path", Value: request.Path}, retry.Field{Name: "code", Value: d.Err.Code})
		}
		c.line.Answered(k.id)
		c.flush()
		c.release()
		done(d.Err)
	})
	k.lent = key
	k.outlive()
	c.line.Abort(monotonic(), k.id, policy.Timeout)
	k.start()
	return k
}

// giveUp ends an abort for which the chat's next message has waited long enough.
func (k *call) giveUp() {
	request := k.machine.Request()
	k.machine.Cancel(&api.Error{Kind: api.KindTimeout, Code: "abort_given_up", Retryable: true,
		Message: request.Method + " " + request.Path + " was given up (option timeout), because the chat's next message waited for its answer: whether the turn was stopped is not known"})
	k.flush()
}

// abortChat(client, chatId, options, settle) → call
func abortChat(args []safejs.Value) any {
	c, chatID, settle := clients.get(index(args[0])), str(args[1]), args[3]
	k := chatOf(c, chatID).abort("", c, api.AbortChat(chatID), policy(c, args[2], retry.Repeatable), fields(property(args[2], "headers")), settled(settle))
	return k.id
}

// settled tells the loader how an abort ended.
func settled(settle safejs.Value) func(*api.Error) {
	return func(err *api.Error) {
		if err != nil {
			invoke(settle, errorJSON(err))
			return
		}
		invoke(settle, safejs.Null())
	}
}
