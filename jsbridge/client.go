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
	host        string // where that is: scheme, name and port, and the path "/"
	headers     []api.Field
	credentials string
	fetch       safejs.Value
	log         safejs.Value // undefined where nobody listens

	key     string
	keyFunc safejs.Value // undefined where the key is a string or left out
	asking  *keyAsked    // the last call of it, while it has not settled

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
		host:        text(config, "host"),
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

// closeClient(handle): disconnects its turns and ends its calls, but for those that tell the service of an end; the
// loader has aborted its uploads.
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

// keyAsked is one call of the key's function.
type keyAsked struct {
	waiting []func(key string, err *api.Error)
}

// withKey calls then with the key, at once where it is a string, so that a request on pagehide still goes out.
// Requests that come while the key's function is running share its answer, unless it was too late for one of them: one
// that never settles must not hold up all that follows.
func (c *client) withKey(then_ func(key string, err *api.Error)) {
	if !truthy(c.keyFunc) {
		then_(c.key, nil)
		return
	}
	if asking := c.asking; asking != nil {
		asking.waiting = append(asking.waiting, then_)
		return
	}
	asking := &keyAsked{waiting: []func(string, *api.Error){then_}}
	c.asking = asking
	answer := func(key string, err *api.Error) {
		if c.asking == asking {
			c.asking = nil
		}
		for _, w := range asking.waiting {
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
