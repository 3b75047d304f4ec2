//go:build js && wasm

package jsbridge

import (
	"github.com/hack-pad/safejs"
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
)

// call performs one request whose answer is read whole.
type call struct {
	wire
	id      uint32
	machine *retry.Call
	done    func(retry.Done)
}

var calls table[*call]

func newCall(c *client, request api.Request, policy retry.Policy, headers []api.Field, done func(retry.Done)) *call {
	return newCallWithKey("", c, request, policy, headers, done)
}

// newCallWithKey makes a call whose first try carries this key, where it is one. Refused, it asks for another.
func newCallWithKey(key string, c *client, request api.Request, policy retry.Policy, headers []api.Field, done func(retry.Done)) *call {
	k := &call{machine: retry.NewCall(request, policy), done: done}
	k.wire = wire{client: c, headers: headers, machine: k.machine, flush: k.flush, lent: key}
	k.id = calls.add(k)
	c.calls[k] = true
	k.machine.Start()
	k.flush()
	return k
}

func (k *call) flush() {
	for _, effect := range k.machine.Take() {
		if k.perform(effect) {
			continue
		}
		done := effect.(retry.Done)
		k.timer.clear()
		k.letGo()
		delete(k.client.calls, k)
		calls.remove(k.id)
		k.done(done)
	}
}

// createChat(client, workspaceId, agentId, isTemporary | undefined, options, settle) → call
func createChat(args []safejs.Value) any {
	c := clients.get(index(args[0]))
	var temporary *bool
	if args[3].Type() == safejs.TypeBoolean {
		t := truthy(args[3])
		temporary = &t
	}
	request := api.CreateChat(str(args[1]), str(args[2]), temporary)
	settle := args[5]
	return newCall(c, request, policy(c, args[4], retry.Unkeyed), fields(property(args[4], "headers")), func(d retry.Done) {
		err := d.Err
		var id string
		if err == nil {
			id, err = api.ChatID(request, d.Response, d.Body)
		}
		if err != nil {
			invoke(settle, errorJSON(err))
			return
		}
		invoke(settle, safejs.Null(), id, string(d.Body))
	}).id
}

// abortChat(client, chatId, options, settle) → call
func abortChat(args []safejs.Value) any {
	c := clients.get(index(args[0]))
	settle := args[3]
	return newCall(c, api.AbortChat(str(args[1])), policy(c, args[2], retry.Repeatable), fields(property(args[2], "headers")), func(d retry.Done) {
		if d.Err != nil {
			invoke(settle, errorJSON(d.Err))
			return
		}
		invoke(settle, safejs.Null())
	}).id
}

// cancelCall(call): the caller's signal was aborted; the loader has rejected the call already.
func cancelCall(args []safejs.Value) any {
	if k := calls.get(index(args[0])); k != nil {
		k.drop()
	}
	return nil
}

// drop ends a call that nobody listens to any more.
func (k *call) drop() {
	k.done = func(retry.Done) {}
	k.machine.Cancel(nil)
	k.flush()
}

// policy reads the limits that the loader worked out from the call's options and the client's.
func policy(c *client, options safejs.Value, safety retry.Safety) retry.Policy {
	return retry.Policy{
		Safety:     safety,
		MaxRetries: int(number(options, "maxRetries")),
		Timeout:    number(options, "timeout"),
		RenewKey:   truthy(c.keyFunc),
		Jitter:     jitter,
	}
}

func jitter() float64 {
	f, err := method(host, "random").Float()
	if err != nil {
		panic(err)
	}
	return f
}
