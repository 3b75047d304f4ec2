package jsbridge

import (
	"github.com/seed-76f09577/turnwire/jsbridge/contract"
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
	"github.com/seed-76f09577/turnwire/wasm/turn"
)

// chat is what a page's clients share of one chat of a service: the order in which messages and aborts leave.
type chat struct {
	b *Bridge
	pump
	name   string
	turns  map[uint32]*liveTurn // that have not ended, or whose abort is not answered, by their number
	last   uint32               // number given out; the page's are used again too soon
	aborts map[uint32]*call     // by their number
	line   turn.Line
	timer  timer
}

// chatOf finds a chat by the service's address and its identifier, or makes it.
func (c *client) chatOf(id string) *chat {
	name := c.Base + " " + id
	if c.b.chats[name] == nil {
		c.b.chats[name] = &chat{b: c.b, name: name, turns: map[uint32]*liveTurn{}, aborts: map[uint32]*call{}}
	}
	return c.b.chats[name]
}

// join gives a turn its number.
func (c *chat) join(t *liveTurn) {
	c.last++
	t.number = c.last
	c.turns[t.number] = t
}

// over tells that a turn has ended.
func (c *chat) over(t *liveTurn) {
	c.line.Over(c.b.monotonic(), t.number)
	c.flush()
	if !t.stopping {
		c.leave(t)
	}
}

// leave takes a turn out of which nothing more is told. Until then its client is needed: its abort may still have to go out.
func (c *chat) leave(t *liveTurn) {
	delete(c.turns, t.number)
	c.forget()
	t.client.end()
}

func (c *chat) forget() {
	if len(c.turns)+len(c.aborts) == 0 && c.b.chats[c.name] == c {
		delete(c.b.chats, c.name)
	}
}

func (c *chat) flush() { c.run(&c.line, c.perform) }

func (c *chat) perform(effect retry.Effect) {
	switch e := effect.(type) {
	case turn.Go:
		c.turns[e.Turn].leave()
	case turn.Stop:
		c.stop(e.Turns)
	case turn.Refuse:
		c.stopped(c.turns[e.Turn], &api.Error{Kind: api.KindClient, Code: "another_turn_under_way",
			Message: "the service was not told to stop this turn: its abort names the chat, of which another turn is under way that it could stop instead; chat.abort() stops whatever the chat is producing"})
	case turn.GiveUp:
		c.aborts[e.Call].giveUp()
	case retry.SetTimer:
		c.b.setTimer(&c.timer, e.After, func() {
			c.line.TimerFired(c.b.monotonic())
			c.flush()
		})
	case retry.StopTimer:
		c.b.clearTimer(&c.timer)
	}
}

// stop sends one abort for turns that are over already; only their promises wait for the answer. It carries the key of the
// message that left last: on pagehide, a key that has to be asked for first would come too late.
func (c *chat) stop(numbers []uint32) {
	var turns []*liveTurn
	for _, number := range numbers {
		turns = append(turns, c.turns[number])
	}
	t := turns[len(turns)-1]
	c.abort(t.key, t.client, t.abort, t.machine.Policy(), t.headers, func(err *api.Error) {
		for _, t := range turns {
			c.stopped(t, err)
		}
	}).start()
}

// stopped tells a turn how its abort ended.
func (c *chat) stopped(t *liveTurn, err *api.Error) {
	if err != nil {
		t.client.log("warn", "the service was not told to stop", retry.Field{Name: "path", Value: t.abort.Path}, retry.Field{Name: "code", Value: err.Code})
	}
	t.stopping = false
	t.aborted(err)
	c.leave(t)
}

// abort tells the service to stop what the chat is producing; a message that is sent meanwhile waits. It goes out though
// the client is closed: nobody else would tell.
func (c *chat) abort(key string, of *client, request *api.Request, policy *retry.Policy, headers []api.Field, done func(*api.Error)) *call {
	var k *call
	c.last++
	number := c.last
	k = newCall(of, request, policy, headers, func(d retry.Done) {
		delete(c.aborts, number)
		c.line.Answered(c.b.monotonic(), number)
		c.flush()
		done(d.Err)
		c.forget()
	})
	k.lent = key
	k.outlive()
	c.aborts[number] = k
	c.line.Abort(c.b.monotonic(), number, policy.Timeout)
	return k
}

// giveUp ends an abort for which the chat's next message has waited long enough.
func (k *call) giveUp() {
	request := k.machine.Request()
	k.machine.Cancel(&api.Error{Kind: api.KindTimeout, Code: "abort_given_up", Retryable: true,
		Message: request.Method + " " + request.Path + " was given up (option timeout), because the chat's next message waited for its answer: whether the turn was stopped is not known"})
	k.flush()
}

// AbortChat is contract.Control's.
func (b *Bridge) AbortChat(number, client uint32, p *contract.AbortParams) {
	c := b.clients.get(client)
	var k *call
	k = c.chatOf(p.ChatID).abort("", c, api.AbortChat(p.ChatID), c.policy(&p.Limits, retry.Repeatable), fields(p.Headers), func(err *api.Error) {
		b.told(&k.awaited, failed(err))
	})
	b.await(number, &k.awaited, k)
	k.start()
}
