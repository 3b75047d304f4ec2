package upload

import "github.com/seed-76f09577/turnwire/wasm/api"

// put is one PUT of the whole to the signed address. What breaks off begins anew.
type put struct{}

func (*put) layout(s *session) (layout, *api.Error) {
	return layout{min: max(s.size, 1), lanes: 1}, nil
}

func (*put) survey(*session, bool) (Request, bool) { return Request{}, false }
func (*put) surveyed(*session, *Answer)            {}

func (*put) next(s *session, l *lane) Request {
	method := s.ticket.Method
	if method == "" {
		method = "PUT"
	}
	return Request{Method: method, URL: s.ticket.URL, Header: with(nil, s.ticket.Header), From: l.from, To: l.to}
}

func (*put) answered(s *session, l *lane, _ *Request, a *Answer) verdict {
	if !a.ok() {
		return refusal("the upload", a)
	}
	s.finish(l)
	return verdict{}
}

func (*put) commit(*session) (Request, bool)     { return Request{}, false }
func (*put) committed(*session, *Answer) verdict { return verdict{} }
