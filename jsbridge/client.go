//go:build js && wasm

package jsbridge

import (
	"github.com/hack-pad/safejs"
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/json"
	"github.com/seed-76f09577/turnwire/wasm/retry"
)

// client is what the requests of one AgentClient share.
type client struct {
	id          uint32
	base        string // absolute, without a slash at the end
	headers     []api.Field
	credentials string
	fetch       safejs.Value
	log         safejs.Value // undefined where nobody listens

	key     string
	keyFunc safejs.Value // undefined where the key is a string or left out
	waiting []func(key string, err *api.Error)

	calls map[*call]bool
	turns map[*liveTurn]bool
	waits map[*liveWait]bool
}

var clients table[*client]

// openClient(config) → handle
func openClient(args []safejs.Value) any {
	config := args[0]
	c := &client{
		base:        text(config, "base"),
		headers:     fields(property(config, "headers")),
		credentials: text(config, "credentials"),
		fetch:       property(config, "fetch"),
		log:         property(config, "log"),
		key:         text(config, "key"),
		keyFunc:     property(config, "keyFunc"),
		calls:       map[*call]bool{},
		turns:       map[*liveTurn]bool{},
		waits:       map[*liveWait]bool{},
	}
	c.id = clients.add(c)
	return c.id
}

// closeClient(handle): disconnects its turns and ends its calls; the loader has aborted its uploads.
func closeClient(args []safejs.Value) any {
	id := index(args[0])
	c := clients.get(id)
	if c == nil {
		return nil
	}
	clients.remove(id)
	for t := range c.turns {
		t.machine.Disconnect()
		t.flush()
	}
	for w := range c.waits {
		w.drop()
	}
	for k := range c.calls {
		k.machine.Cancel(&api.Error{Kind: api.KindClient, Code: "client_closed", Message: "the client was closed while the call was under way"})
		k.flush()
	}
	return nil
}

// withKey calls then with the key, at once where it is a string, so that a request on pagehide still goes out.
// Requests that come while the key's function is running share its answer.
func (c *client) withKey(then_ func(key string, err *api.Error)) {
	if !truthy(c.keyFunc) {
		then_(c.key, nil)
		return
	}
	c.waiting = append(c.waiting, then_)
	if len(c.waiting) > 1 {
		return
	}
	answer := func(key string, err *api.Error) {
		waiting := c.waiting
		c.waiting = nil
		for _, w := range waiting {
			w(key, err)
		}
	}
	promise, err := c.keyFunc.Invoke()
	if err != nil {
		answer("", keyError(thrown(err)))
		return
	}
	then(promise, func(v safejs.Value) {
		// The loader rejects whatever is no string, so that the message names the type.
		answer(str(v), nil)
	}, func(reason safejs.Value) {
		answer("", keyError(reason))
	})
}

func keyError(reason safejs.Value) *api.Error {
	return &api.Error{Kind: api.KindClient, Code: "api_key_failed", Retryable: true,
		Message: "option apiKey: the function that should give the key failed, nothing was sent: " + describe(reason)}
}

// describe is a JavaScript error for people.
func describe(reason safejs.Value) string { return str(method(host, "describe", reason)) }

// record hands a record to the caller's onLog.
func (c *client) record(level, message string, fields ...retry.Field) {
	if !truthy(c.log) {
		return
	}
	var w json.Writer
	w.Open("", '{')
	for _, f := range fields {
		switch v := f.Value.(type) {
		case string:
			w.String(f.Name, v)
		case int64:
			w.Int(f.Name, v)
		}
	}
	w.Close('}')
	invoke(c.log, level, message, string(w.Text()))
}

// fields reads a flat array of names and values.
func fields(array safejs.Value) []api.Field {
	n, err := array.Length()
	if err != nil {
		panic(err)
	}
	out := make([]api.Field, 0, n/2)
	for i := 0; i+1 < n; i += 2 {
		name, err1 := array.Index(i)
		value, err2 := array.Index(i + 1)
		if err1 != nil || err2 != nil {
			panic("jsbridge: header fields can't be read")
		}
		out = append(out, api.Field{Name: str(name), Value: str(value)})
	}
	return out
}

// table gives out handles for what JavaScript holds on to. 0 is no handle. A slice, because a map's look-up is a good
// part of what feeding one event costs.
type table[T any] struct {
	entries []T
	free    []uint32
}

func (t *table[T]) add(v T) uint32 {
	if n := len(t.free); n > 0 {
		id := t.free[n-1]
		t.free = t.free[:n-1]
		t.entries[id] = v
		return id
	}
	if len(t.entries) == 0 {
		t.entries = append(t.entries, *new(T))
	}
	t.entries = append(t.entries, v)
	return uint32(len(t.entries) - 1)
}

// get returns the zero value where id is no handle (any more).
func (t *table[T]) get(id uint32) (v T) {
	if int(id) < len(t.entries) {
		v = t.entries[id]
	}
	return v
}

// remove takes a handle back, once: it is given out again.
func (t *table[T]) remove(id uint32) {
	t.entries[id] = *new(T)
	t.free = append(t.free, id)
}
