package upload

import "github.com/seed-76f09577/turnwire/wasm/api"

var put = protocol{"put", func(*api.Ticket) bool { return true }, &putWire{}}

// putWire is one PUT of the whole to the signed address. What breaks off begins anew.
type putWire struct{}

func (*putWire) layout(s *session) (layout, *api.Error) {
	return layout{min: max(s.size, 1), lanes: 1}, nil
}

func (*putWire) survey(*session, bool) (Request, bool) { return Request{}, false }
func (*putWire) surveyed(*session, *Answer)            {}

func (*putWire) next(s *session, l *lane) Request {
	method := s.ticket.Method
	if method == "" {
		method = "PUT"
	}
	return Request{Method: method, URL: s.ticket.URL, Header: with(nil, s.ticket.Header), From: l.from, To: l.to}
}

func (*putWire) answered(s *session, l *lane, _ *Request, a *Answer) verdict {
	if !a.ok() {
		return refusal("the upload", a)
	}
	s.finish(l)
	return verdict{}
}

func (*putWire) commit(*session) (Request, bool)     { return Request{}, false }
func (*putWire) committed(*session, *Answer) verdict { return verdict{} }
