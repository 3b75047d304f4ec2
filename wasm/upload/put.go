package upload

import "github.com/seed-76f09577/turnwire/wasm/api"

var put = protocol{"put", func(*api.Ticket) bool { return true }, &putWire{}}

// putWire is one PUT of all the data to the signed address. What breaks off begins anew.
type putWire struct{}

func (*putWire) layout(t *transfer) (layout, *api.Error) {
	return layout{min: max(t.size, 1), lanes: 1}, nil
}

func (*putWire) survey(*transfer, bool) (Request, bool) { return Request{}, false }
func (*putWire) surveyed(*transfer, *Answer)            {}

func (*putWire) next(t *transfer, l *lane) Request {
	method := t.ticket.Method
	if method == "" {
		method = "PUT"
	}
	return Request{Method: method, URL: t.ticket.URL, Header: with(nil, t.ticket.Header), From: l.from, To: l.to}
}

func (*putWire) answered(t *transfer, l *lane, _ *Request, a *Answer) verdict {
	if !a.ok() {
		return refusal("the upload", a)
	}
	t.finish(l)
	return verdict{}
}

func (*putWire) commit(*transfer) (Request, bool)     { return Request{}, false }
func (*putWire) committed(*transfer, *Answer) verdict { return verdict{} }
