package upload

import (
	b64 "encoding/base64"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/seed-76f09577/turnwire/wasm/api"
)

// object is a place in the store that one upload goes to, under one of the protocols. handle takes a request whose
// body is that run of the data (got may be shorter than what was announced: then the connection broke on the way and
// nobody hears the answer). It fails the test where the request breaks the protocol.
type object interface {
	handle(s *store, r Request, got extent) Answer
	// content is what the object holds once it is complete.
	content() ([]extent, bool)
	// lose drops what is not complete, as stores do after a time.
	lose()
}

type store struct {
	w       *world
	fail    func(string)
	size    int64
	hides   bool // CORS hides the headers that need not be seen
	concat  bool
	objects map[string]object
}

func (s *store) broken(format string, args ...any) Answer {
	s.fail("the store: " + fmt.Sprintf(format, args...))
	return Answer{Status: 400}
}

func field(r Request, name string) string {
	for _, f := range r.Header {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

func answer(status int, header ...string) Answer {
	a := Answer{Status: status}
	for i := 0; i+1 < len(header); i += 2 {
		a.Header = append(a.Header, api.Field{Name: header[i], Value: header[i+1]})
	}
	return a
}

// --- put

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

// --- azure

type azureObject struct {
	pending   map[string]extent
	committed map[string]extent
	stored    []extent
	ok        bool
}

var latest = regexp.MustCompile(`<Latest>([^<]*)</Latest>`)

func (o *azureObject) handle(s *store, r Request, got extent) Answer {
	whole := got.to-got.from == r.To-r.From
	switch comp := query(r.URL, "comp"); {
	case r.Method == "GET" && comp == "blocklist":
		if s.w.one(4) {
			return Answer{Status: 403, Body: []byte("<Error><Code>AuthorizationPermissionMismatch</Code></Error>")}
		}
		body := "\ufeff<?xml version=\"1.0\"?><BlockList>"
		for i, set := range []map[string]extent{o.committed, o.pending} {
			name := []string{"CommittedBlocks", "UncommittedBlocks"}[i]
			body += "<" + name + ">"
			for id, e := range set {
				body += fmt.Sprintf("<Block><Name>%s</Name><Size>%d</Size></Block>", id, e.to-e.from)
			}
			body += "</" + name + ">"
		}
		return Answer{Status: 200, Body: []byte(body + "</BlockList>")}
	case r.Method != "PUT":
		return s.broken("%s", r.Method)
	case comp == "block":
		id := query(r.URL, "blockid")
		raw, err := b64.StdEncoding.DecodeString(id)
		if err != nil || len(raw) > 64 || r.To-r.From > 4000*mib || r.To == r.From || field(r, "x-ms-blob-type") != "" {
			return s.broken("block %q of %d bytes", id, r.To-r.From)
		}
		for other := range o.pending {
			if len(other) != len(id) {
				return s.broken("block ids %q and %q", other, id)
			}
		}
		if whole {
			o.pending[id] = got
		}
		return answer(201)
	case comp == "blocklist":
		if field(r, "x-ms-blob-content-type") == "" {
			return s.broken("a block list without content type")
		}
		var list []extent
		now := map[string]extent{}
		for _, m := range latest.FindAllStringSubmatch(string(r.Body), -1) {
			e, ok := o.pending[m[1]]
			if !ok {
				e, ok = o.committed[m[1]]
			}
			if !ok {
				return Answer{Status: 400, Body: []byte("<Error><Code>InvalidBlockList</Code></Error>")}
			}
			list, now[m[1]] = append(list, e), e
		}
		o.stored, o.ok, o.committed, o.pending = list, true, now, map[string]extent{}
		return answer(201)
	}
	if field(r, "x-ms-blob-type") != "BlockBlob" || r.From != 0 || r.To != s.size {
		return s.broken("Put Blob of %d to %d, header %v", r.From, r.To, r.Header)
	}
	if whole {
		o.stored, o.ok = []extent{got}, true
	}
	return answer(201)
}
func (o *azureObject) content() ([]extent, bool) { return o.stored, o.ok }
func (o *azureObject) lose()                     { o.pending = map[string]extent{} }

// --- s3

type s3Object struct {
	parts  map[int]extent
	stored []extent
	ok     bool
}

var part = regexp.MustCompile(`<Part><PartNumber>(\d+)</PartNumber><ETag>([^<]*)</ETag></Part>`)

func etag(e extent) string { return fmt.Sprintf(`"%d-%d"`, e.from, e.to) }

func (o *s3Object) handle(s *store, r Request, got extent) Answer {
	if r.Method == "PUT" {
		n, err := strconv.Atoi(query(r.URL, "partNumber"))
		if err != nil || r.To-r.From < 5*mib && r.To != s.size {
			return s.broken("part %s of %d bytes", query(r.URL, "partNumber"), r.To-r.From)
		}
		if got.to == r.To {
			o.parts[n] = got
		}
		return answer(200, "ETag", etag(got))
	}
	if s.w.fault(12) {
		return Answer{Status: 200, Body: []byte("<?xml version=\"1.0\"?>\n\n<Error><Code>InternalError</Code><Message>again</Message></Error>")}
	}
	var list []extent
	last := 0
	for _, m := range part.FindAllStringSubmatch(string(r.Body), -1) {
		n, _ := strconv.Atoi(m[1])
		if e, ok := o.parts[n]; !ok || n <= last || strings.ReplaceAll(m[2], "&quot;", `"`) != etag(e) {
			return s.broken("part %d with %s", n, m[2])
		}
		last = n
		list = append(list, o.parts[n])
	}
	if len(list) == 0 {
		return s.broken("no parts: %s", r.Body)
	}
	o.stored, o.ok = list, true
	return Answer{Status: 200, Body: []byte("<CompleteMultipartUploadResult><ETag>&quot;x&quot;</ETag></CompleteMultipartUploadResult>")}
}
func (o *s3Object) content() ([]extent, bool) { return o.stored, o.ok }
func (o *s3Object) lose()                     {}

// --- gcs

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

// --- tus

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
