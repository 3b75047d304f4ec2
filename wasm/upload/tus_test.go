package upload

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/stretchr/testify/assert"
)

var tusRoom = room{
	protocol: &tus,
	object:   func() object { return &tusObject{uploads: map[string]*tusUpload{}} },
	ticket: func(_ *store, t *api.Ticket, place, signed string) {
		t.Protocol, t.URL = "tus", place+"?"+signed
	},
	recognised: []recognisedCase{
		{"the ticket's word", api.Ticket{URL: "https://a/b?sv=1&sp=cw&sig=x", Protocol: "tus"}},
	},
	cuts: []cutCase{
		{"in order", transfer{size: 20 * mib}, 8 * mib, 1, ""},
		{"side by side", transfer{size: 80 * mib, concurrency: 4, able: true}, 8 * mib, 4, ""},
		{"side by side, little", transfer{size: 10 * mib, concurrency: 4, able: true}, 8 * mib, 2, ""},
	},
	answers: []answerCase{
		{"offset beyond what was sent", Request{Method: "PATCH", To: 60}, Answer{Status: 204, Header: []api.Field{{Name: "Upload-Offset", Value: "61"}}}, failed, 0, "storage_mismatch"},
		{"made", Request{Method: "POST"}, Answer{Status: 201, Header: []api.Field{{Name: "Location", Value: "u/1"}}}, onward, 0, ""},
		{"offset", Request{Method: "HEAD"}, Answer{Status: 200, Header: []api.Field{{Name: "Upload-Offset", Value: "70"}}}, onward, 70, ""},
		{"offset hidden", Request{Method: "HEAD"}, Answer{Status: 200}, failed, 0, "header_hidden"},
		{"offset hidden after a block", Request{Method: "PATCH", To: 60}, Answer{Status: 204}, onward, 60, ""},
		{"offset wrong", Request{Method: "HEAD"}, Answer{Status: 200, Header: []api.Field{{Name: "Upload-Offset", Value: "101"}}}, failed, 0, "storage_mismatch"},
		{"another offset", Request{Method: "PATCH", To: 60}, Answer{Status: 409}, again, 0, "storage_unavailable"},
		{"locked", Request{Method: "HEAD"}, Answer{Status: 423}, again, 0, "storage_unavailable"},
		{"upload gone", Request{Method: "HEAD"}, Answer{Status: 404}, gone, 0, "storage_refused"},
		{"nowhere to make one", Request{Method: "POST"}, Answer{Status: 404}, failed, 0, "storage_refused"},
	},
}

// TestSurveyOfTus shows when the server is asked whether it joins uploads.
func TestSurveyOfTus(t *testing.T) {
	cases := []struct {
		name        string
		extensions  []string
		answer      string
		asks, joins bool
	}{
		{"it says so", nil, "creation, Concatenation,expiration", true, true},
		{"it says something else", nil, "creation,concatenation-unfinished", true, false},
		{"its header is hidden", nil, "", true, false},
		{"the ticket says so", []string{"creation", " concatenation"}, "", false, true},
		{"the ticket says something else", []string{"creation"}, "", false, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := transfer{size: 20 * mib, concurrency: 2, ticket: &api.Ticket{URL: "u", Extensions: c.extensions}}
			_, asks := (&tusWire{}).survey(&s, false)
			assert.Equal(t, c.asks, asks)
			if asks {
				(&tusWire{}).surveyed(&s, &Answer{Status: 204, Header: []api.Field{{Name: "Tus-Extension", Value: c.answer}}})
			}
			assert.Equal(t, c.joins, s.able)
		})
	}
}

type tusObject struct {
	uploads map[string]*tusUpload
	made    int
	stored  []extent
	ok      bool
}
type tusUpload struct {
	length, at int64
	partial    bool
	list       []extent
}

func (o *tusObject) handle(s *store, r Request, got extent) Answer {
	if r.Method == "OPTIONS" {
		if s.concat && !s.hides {
			return answer(204, "Tus-Extension", "creation,concatenation")
		}
		return answer(204)
	}
	if field(r, "Tus-Resumable") != "1.0.0" {
		return s.broken("no Tus-Resumable on %s", r.Method)
	}
	if concat := field(r, "Upload-Concat"); r.Method == "POST" && strings.HasPrefix(concat, "final;") {
		var list []extent
		for _, url := range strings.Fields(concat[len("final;"):]) {
			u := o.uploads[url]
			if u == nil {
				return Answer{Status: 404, Body: []byte("a part is lost")}
			}
			if !u.partial || u.at != u.length {
				return s.broken("final with %s", url)
			}
			list = append(list, u.list...)
		}
		o.stored, o.ok = list, true
		return answer(201, "Location", "/files/final")
	} else if r.Method == "POST" {
		length, err := strconv.ParseInt(field(r, "Upload-Length"), 10, 64)
		if err != nil || concat != "" && !s.concat {
			return s.broken("creation with %v", r.Header)
		}
		o.made++
		path := fmt.Sprint(place(r.URL), "/u", o.made)
		o.uploads[path] = &tusUpload{length: length, partial: concat != ""}
		o.check(o.uploads[path])
		return answer(201, "Location", strings.TrimPrefix(path, "https://store.test"))
	}
	u := o.uploads[place(r.URL)]
	if u == nil {
		return answer(404)
	}
	if r.Method == "HEAD" {
		return answer(200, "Upload-Offset", fmt.Sprint(u.at))
	}
	if r.Method != "PATCH" || field(r, "Content-Type") != "application/offset+octet-stream" {
		return s.broken("%s with %v", r.Method, r.Header)
	}
	if field(r, "Upload-Offset") != fmt.Sprint(u.at) {
		return answer(409)
	}
	if got.to > got.from {
		u.list, u.at = append(u.list, got), u.at+got.to-got.from
	}
	o.check(u)
	return answer(204, "Upload-Offset", fmt.Sprint(u.at))
}

func (o *tusObject) check(u *tusUpload) {
	if u.at == u.length && !u.partial {
		o.stored, o.ok = u.list, true
	}
}
func (o *tusObject) content() ([]extent, bool) { return o.stored, o.ok }
func (o *tusObject) lose()                     { clear(o.uploads) }
