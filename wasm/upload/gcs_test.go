package upload

import (
	"fmt"

	"github.com/seed-76f09577/turnwire/wasm/api"
)

var gcsRoom = room{
	protocol: &gcsResumable,
	object:   func() object { return &gcsObject{sessions: map[string]*gcsSession{}} },
	ticket: func(_ *store, t *api.Ticket, place, signed string) {
		t.URL = place + "?X-Goog-Signature=x&X-Goog-SignedHeaders=host;x-goog-resumable&" + signed
	},
	block: func(size int64) int64 { return ceil(size, 256*kib) * 256 * kib },
	recognised: []recognisedCase{
		{"a session of Google's", api.Ticket{URL: "https://g/o?upload_id=1"}},
		{"its start, by header", api.Ticket{URL: "https://g/o?X-Goog-Signature=1", Header: []api.Field{{Name: "X-Goog-Resumable", Value: "start"}}}},
		{"its start, by what is signed", api.Ticket{URL: "https://g/o?X-Goog-Signature=1&X-Goog-SignedHeaders=host%3Bx-goog-resumable"}},
	},
	cuts: []cutCase{
		{"units", transfer{size: 20 * mib, wanted: 300 * kib}, 512 * kib, 1, ""},
	},
	answers: []answerCase{
		{"session begun", Request{Method: "POST"}, Answer{Status: 201, Header: []api.Field{{Name: "Location", Value: "/s"}}}, onward, 0, ""},
		{"Location hidden", Request{Method: "POST"}, Answer{Status: 201}, failed, 0, "header_hidden"},
		{"half stored", Request{Method: "PUT", To: 50}, Answer{Status: 308, Header: []api.Field{{Name: "Range", Value: "bytes=0-29"}}}, onward, 30, ""},
		{"Range hidden", Request{Method: "PUT", To: 50}, Answer{Status: 308}, onward, 50, ""},
		{"Range hidden from a question", Request{Method: "PUT"}, Answer{Status: 308}, onward, 0, ""},
		{"all, and not complete", Request{Method: "PUT", To: 100}, Answer{Status: 308, Header: []api.Field{{Name: "Range", Value: "bytes=0-99"}}}, again, 100, "storage_unavailable"},
		{"more than there is", Request{Method: "PUT", To: 50}, Answer{Status: 308, Header: []api.Field{{Name: "Range", Value: "bytes=0-100"}}}, failed, 0, "storage_mismatch"},
		{"no range", Request{Method: "PUT", To: 50}, Answer{Status: 308, Header: []api.Field{{Name: "Range", Value: "x"}}}, failed, 0, "storage_mismatch"},
		{"complete", Request{Method: "PUT", To: 100}, Answer{Status: 200}, onward, 100, ""},
		{"complete in the middle", Request{Method: "PUT", To: 50}, Answer{Status: 200}, failed, 0, "storage_mismatch"},
		{"more than was sent", Request{Method: "PUT", To: 50}, Answer{Status: 308, Header: []api.Field{{Name: "Range", Value: "bytes=0-50"}}}, failed, 0, "storage_mismatch"},
		{"session gone", Request{Method: "PUT", To: 50}, Answer{Status: 410}, gone, 0, "storage_refused"},
	},
}

type gcsObject struct {
	sessions map[string]*gcsSession
	made     int
	stored   []extent
	ok       bool
}
type gcsSession struct {
	at   int64
	list []extent
	done bool
}

func (o *gcsObject) handle(s *store, r Request, got extent) Answer {
	if r.Method == "POST" {
		if field(r, "x-goog-resumable") != "start" || r.To != r.From || len(r.Body) > 0 {
			return s.broken("start with %v", r.Header)
		}
		o.made++
		id := fmt.Sprint("s", o.made)
		o.sessions[id] = &gcsSession{}
		return answer(201, "Location", place(r.URL)+"?upload_id="+id)
	}
	u := o.sessions[query(r.URL, "upload_id")]
	if u == nil {
		return answer(404)
	}
	rng := field(r, "Content-Range")
	if u.done {
		return answer(200)
	}
	if r.To > r.From {
		if rng != fmt.Sprintf("bytes %d-%d/%d", r.From, r.To-1, s.size) || r.To != s.size && (r.To-r.From)%(256*kib) != 0 {
			return s.broken("Content-Range %q for %d to %d", rng, r.From, r.To)
		}
		if r.From > u.at {
			return s.broken("a block from %d where there are %d", r.From, u.at)
		}
		if got.to != s.size { // what broke off is kept in units
			got.to = max(got.from+(got.to-got.from)/(256*kib)*(256*kib), got.from)
		}
		if got.to > u.at {
			u.list, u.at = append(u.list, extent{u.at, got.to}), got.to
		}
	} else if rng != fmt.Sprintf("bytes */%d", s.size) {
		return s.broken("Content-Range %q for %d bytes", rng, s.size)
	}
	if u.at == s.size {
		u.done, o.ok, o.stored = true, true, u.list
		return answer(200)
	}
	if u.at == 0 || s.hides {
		return answer(308)
	}
	return answer(308, "Range", fmt.Sprintf("bytes=0-%d", u.at-1))
}
func (o *gcsObject) content() ([]extent, bool) { return o.stored, o.ok }
func (o *gcsObject) lose()                     { clear(o.sessions) }
