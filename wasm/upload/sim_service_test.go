package upload

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-76f09577/turnwire/wasm/api"
)

// service is the conversational service, as far as files go: it hands out addresses in the store, checks what it is
// told of them, and processes files.
type service struct {
	w        *world
	store    *store
	fail     func(string)
	room     *room
	block    int64 // as the ticket names it; 0 for none
	lifetime int64 // of an address; 0 for ever
	says     bool  // when the address ends
	renews   bool  // gives the same file again
	moves    bool  // and another place for it
	ends     string
	sum      string // that the files should have; "" for none
	before   bool   // the sum is to come with step 1
	files    map[string]*file
}

type file struct {
	status  string
	place   string
	gave    []string // the places so far
	places  int
	ready   int64 // when its processing ends
	heard   bool  // the client knows its identifier
	told    bool  // the client has said that it failed, or keeps what it has to say
	stored  bool  // the client knows it to be stored whole
	reports int   // that it was uploaded, as far as they were sent
}

func (s *service) handle(r *api.Request) (int, string) {
	var body struct {
		Name, ContentType, Checksum, Status, Error string
		Size                                       int64
		FileID                                     string `json:"file_id"`
	}
	if r.Body != nil {
		if err := json.Unmarshal(r.Body, &body); err != nil {
			s.fail(err.Error())
		}
	}
	if r.Method == "POST" {
		if body.Size != s.store.size || s.before && body.Checksum != s.sum || !s.before && body.Checksum != "" {
			s.fail(fmt.Sprintf("step 1 says %s", r.Body))
		}
		id := body.FileID
		f := s.files[id]
		if f == nil || !s.renews {
			id = fmt.Sprint("file-", len(s.files)+1)
			f = &file{status: "pending"}
			s.files[id] = f
			s.give(id, f)
		} else if s.moves {
			s.give(id, f)
		}
		return 200, s.ticket(id, f)
	}
	id := strings.TrimPrefix(r.Path, "/v1/files/")
	f := s.files[id]
	if f == nil {
		return 404, `{}`
	}
	if r.Method == "PATCH" && body.Status == "uploaded" {
		if !s.complete(f) {
			s.fail("told of an upload that is not there")
		}
		if body.Size != s.store.size || body.Checksum != s.sum {
			s.fail(fmt.Sprintf("told of %s, want %q", r.Body, s.sum))
		}
		if f.status == "pending" {
			f.status, f.ready = "processing", s.w.now+s.w.between(0, 20_000)
		}
	} else if r.Method == "PATCH" {
		f.status = "upload_failed"
	} else if f.status == "processing" && s.w.now >= f.ready {
		f.status = s.ends
	}
	return 200, fmt.Sprintf(`{"file_id":%q,"status":%q}`, id, f.status)
}

// complete reports whether the whole data lies at a place that was given for the file: the page may have missed the
// last one.
func (s *service) complete(f *file) bool {
	for _, place := range f.gave {
		list, ok := s.store.objects[place].content()
		if run, joins := joined(list); ok && joins && run == (extent{0, s.store.size}) {
			return true
		}
	}
	return false
}

// give finds a place in the store.
func (s *service) give(id string, f *file) {
	f.places++
	f.place = fmt.Sprintf("https://store.test/%s-%d", id, f.places)
	f.gave = append(f.gave, f.place)
	s.store.objects[f.place] = s.room.object()
}

func (s *service) ticket(id string, f *file) string {
	t := api.Ticket{FileID: id, BlockSize: s.block, Header: []api.Field{{Name: "x-ticket", Value: "yes"}}}
	signed := "sig=x"
	if s.lifetime > 0 {
		signed = fmt.Sprint("sig=x&until=", s.w.now+s.lifetime)
		if s.says {
			t.ExpiresAt = s.w.now + s.lifetime
		}
	}
	s.room.ticket(s.store, &t, f.place, signed)
	return string(t.AppendJSON(nil))
}
