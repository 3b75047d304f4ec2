//go:build js && wasm

package jsbridge

import (
	"github.com/hack-pad/safejs"
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
)

// call performs one request whose answer is read whole.
type call struct {
	pump
	wire
	id      uint32
	machine *retry.Call
	done    func(retry.Done)
}

var calls table[*call]

// newCall makes a call; start begins it.
func newCall(c *client, request api.Request, policy retry.Policy, headers []api.Field, done func(retry.Done)) *call {
	k := &call{machine: retry.NewCall(request, policy), done: done}
	k.wire = wire{client: c, headers: headers, machine: k.machine, flush: k.flush}
	k.id = calls.add(k)
	c.calls[k] = true
	return k
}

// outlive lets a call go on though its client is closed.
func (k *call) outlive() { delete(k.client.calls, k) }

func (k *call) start() uint32 {
	k.machine.Start()
	k.flush()
	return k.id
}

func (k *call) flush() { k.run(k.machine, k.perform) }

func (k *call) perform(effect retry.Effect) {
	if k.wire.perform(effect) {
		return
	}
	done := effect.(retry.Done)
	k.timer.clear()
	k.letGo()
	delete(k.client.calls, k)
	calls.remove(k.id)
	k.done(done)
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
	}).start()
}

// cancelCall(call): the caller's signal was aborted; the loader has rejected the call already.
func cancelCall(args []safejs.Value) any {
	if k := calls.get(index(args[0])); k != nil {
		// Its end is told all the same, to who waits for it here: the loader is done with it.
		k.machine.Cancel(&api.Error{Kind: api.KindClient, Code: "cancelled", Message: "the call was cancelled by its caller"})
		k.flush()
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

		Connections: connections,
		Host:        c.host,
	}
}

func jitter() float64 {
	f, err := method(host, "random").Float()
	if err != nil {
		panic(err)
	}
	return f
}
