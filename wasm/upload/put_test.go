package upload

import (
	"github.com/seed-76f09577/turnwire/wasm/api"
)

var putRoom = room{
	protocol: &put,
	object:   func() object { return &putObject{} },
	ticket: func(_ *store, t *api.Ticket, place, signed string) {
		t.URL = place + "?" + signed
	},
	recognised: []recognisedCase{
		{"half a SAS", api.Ticket{URL: "https://a/b?sv=1&sig=x"}},
		{"parts without an end", api.Ticket{URL: "u", Parts: []api.Part{{Number: 1, URL: "p"}}}},
		{"one signed PUT of S3", api.Ticket{URL: "https://s/k?X-Amz-Signature=x"}},
		{"a signed PUT of Google's", api.Ticket{URL: "https://g/o?X-Goog-Signature=1&X-Goog-SignedHeaders=host", Method: "PUT"}},
		{"nothing known", api.Ticket{URL: "/upload/1"}},
	},
	cuts: []cutCase{
		{"one block", transfer{size: 20 * mib}, 20 * mib, 1, ""},
	},
	answers: []answerCase{
		{"stored", Request{Method: "PUT", To: 100}, Answer{Status: 204}, onward, 100, ""},
		{"busy", Request{Method: "PUT", To: 100}, Answer{Status: 503}, again, 0, "storage_unavailable"},
		{"refused", Request{Method: "PUT", To: 100}, Answer{Status: 400, Body: []byte("<Error><Code>Bad</Code></Error>")}, failed, 0, "storage_refused"},
		{"expired", Request{Method: "PUT", To: 100}, Answer{Status: 403}, expired, 0, "address_refused"},
	},
}

type putObject struct {
	stored []extent
	ok     bool
}

func (o *putObject) handle(s *store, r Request, got extent) Answer {
	if r.From != 0 || r.To != s.size || field(r, "x-ticket") != "yes" {
		return s.broken("PUT of %d to %d, header %v", r.From, r.To, r.Header)
	}
	if got.to == r.To {
		o.stored, o.ok = []extent{got}, true
	}
	return answer(200)
}
func (o *putObject) content() ([]extent, bool) { return o.stored, o.ok }
func (o *putObject) lose()                     {}
