package jsbridge

import (
	"github.com/seed-76f09577/turnwire/jsbridge/contract"
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/json"
	"github.com/seed-76f09577/turnwire/wasm/retry"
)

// client is what the requests of one AgentClient share.
type client struct {
	b *Bridge
	*contract.ClientConfig
	number  uint32
	headers []api.Field
	asking  *keyAsked // the last time that the key was asked for, while it is not there

	isClosed bool
	uses     int // what may still ask, send or log for it
	open     numbered[closed]
}

// OpenClient is contract.Control's.
func (b *Bridge) OpenClient(number uint32, config *contract.ClientConfig) {
	b.clients.put(number, &client{
		b: b, ClientConfig: config, number: number, headers: fields(config.Headers),
	})
}

// CloseClient is contract.Control's.
func (b *Bridge) CloseClient(number uint32) {
	c := b.clients.get(number)
	if c == nil {
		return
	}
	b.clients.remove(number)
	c.begin()
	c.isClosed = true
	c.open.each(func(o closed) {
		o.clientClosed(&api.Error{Kind: api.KindClient, Code: "client_closed", Message: "the client was closed while the call was under way"})
	})
	c.end()
}

// closed is what ends with its client.
type closed interface{ clientClosed(err *api.Error) }

// begin says that something uses the client, end that it has ended.
func (c *client) begin() { c.uses++ }

func (c *client) end() {
	if c.uses--; c.isClosed && c.uses == 0 {
		c.b.page.ClientEnded(c.number)
	}
}

// policy is how a request of the client is tried.
func (c *client) policy(limits *contract.Limits, safety retry.Safety) *retry.Policy {
	return &retry.Policy{
		Safety:     safety,
		MaxRetries: limits.MaxRetries,
		Timeout:    limits.Timeout,
		RenewKey:   c.AsksKey,
		Jitter:     c.b.page.Random,

		Connections: c.b.connections,
		Host:        c.Host,
	}
}

// keyAsked is one call of the key's function.
type keyAsked struct {
	client  *client
	waiting []func(key string, err *api.Error)
}

// withKey calls then with the key, at once where it is a string, so that a request on pagehide still goes out.
// Requests that come while the key's function is running share its answer, unless it was too late for one of them: one
// that never settles must not hold up all that follows.
func (c *client) withKey(then func(key string, err *api.Error)) {
	if !c.AsksKey {
		then(c.Key, nil)
		return
	}
	if c.asking != nil {
		c.asking.waiting = append(c.asking.waiting, then)
		return
	}
	c.asking = &keyAsked{c, []func(string, *api.Error){then}}
	c.b.page.AskKey(c.b.asks.add(c.asking), c.number)
}

// KeyGiven is contract.Control's.
func (b *Bridge) KeyGiven(ask uint32, key string) { b.keyAnswered(ask, key, nil) }

// KeyRefused is contract.Control's.
func (b *Bridge) KeyRefused(ask uint32, why string) {
	b.keyAnswered(ask, "", &api.Error{Kind: api.KindClient, Code: "api_key_failed", Retryable: true,
		Message: "option apiKey: the function that should give the key failed, nothing was sent: " + why})
}

func (b *Bridge) keyAnswered(ask uint32, key string, err *api.Error) {
	asked, ok := b.asks.take(ask)
	if !ok {
		return
	}
	if asked.client.asking == asked {
		asked.client.asking = nil
	}
	for _, then := range asked.waiting {
		then(key, err)
	}
}

// log hands a record to the caller's onLog.
func (c *client) log(level, message string, facts ...retry.Field) {
	if !c.Logs {
		return
	}
	var w json.Writer
	w.Open("", '{')
	for _, f := range facts {
		switch v := f.Value.(type) {
		case string:
			w.String(f.Name, v)
		case int64:
			w.Int(f.Name, v)
		}
	}
	w.Close('}')
	c.b.page.Record(c.number, &contract.LogRecord{Level: level, Message: message, Fields: w.Text()})
}

// fields are headers as the core has them.
func fields(headers []contract.Header) []api.Field {
	out := make([]api.Field, len(headers))
	for i, h := range headers {
		out[i] = api.Field{Name: h[0], Value: h[1]}
	}
	return out
}
