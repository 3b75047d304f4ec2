package upload

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/stretchr/testify/assert"
)

var s3Room = room{
	protocol: &s3Multipart,
	object:   func() object { return &s3Object{parts: map[int]extent{}} },
	ticket: func(s *store, t *api.Ticket, place, signed string) {
		n := min(max(ceil(s.size, max(t.BlockSize, 5*mib)), 1), 10_000)
		for i := 1; i <= int(n); i++ {
			t.Parts = append(t.Parts, api.Part{Number: i, URL: fmt.Sprintf("%s?partNumber=%d&uploadId=u&%s", place, i, signed)})
		}
		t.CompleteURL = place + "?uploadId=u&" + signed
	},
	block: func(size int64) int64 { return max(size, 5*mib) },
	recognised: []recognisedCase{
		{"parts", api.Ticket{Parts: threeParts(0).Parts, CompleteURL: "c"}},
	},
	cuts: []cutCase{
		{"parts", transfer{size: 20 * mib, ticket: threeParts(0)}, 8 * mib, 3, ""},
		{"parts are few", transfer{size: 60 * mib, ticket: threeParts(0)}, 20 * mib, 3, ""},
		{"parts are not small", transfer{size: 12 * mib, wanted: 1, ticket: threeParts(0)}, 5 * mib, 3, ""},
		{"parts are the service's", transfer{size: 60 * mib, wanted: 30 * mib, ticket: threeParts(20 * mib)}, 20 * mib, 3, ""},
		{"no parts", transfer{size: 1}, 0, 0, "ticket_without_parts"},
	},
	answers: []answerCase{
		{"part stored", Request{Method: "PUT", To: 100}, Answer{Status: 200, Header: []api.Field{{Name: "ETag", Value: `"x"`}}}, onward, 100, ""},
		{"ETag hidden", Request{Method: "PUT", To: 100}, Answer{Status: 200}, failed, 0, "header_hidden"},
	},
}

// threeParts is a ticket for three parts of a size; 0 for any.
func threeParts(size int64) *api.Ticket {
	t := &api.Ticket{CompleteURL: "c", BlockSize: size}
	for i := 1; i <= 3; i++ {
		t.Parts = append(t.Parts, api.Part{Number: i, URL: "p"})
	}
	return t
}

func TestCompletion(t *testing.T) {
	cases := []struct {
		name string
		a    Answer
		want outcome
	}{
		{"done", Answer{Status: 200, Body: []byte("<CompleteMultipartUploadResult><Location>x</Location></CompleteMultipartUploadResult>")}, onward},
		{"an error behind a 200", Answer{Status: 200, Body: []byte("<?xml version='1.0'?>\n\n<Error><Code>EntityTooSmall</Code></Error>")}, failed},
		{"a passing error behind a 200", Answer{Status: 200, Body: []byte("<Error><Code>InternalError</Code></Error>")}, again},
		{"refused", Answer{Status: 400}, failed},
		{"expired", Answer{Status: 403}, expired},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, (&s3Wire{}).committed(nil, &c.a).outcome) })
	}
}

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

// TestLostCompletion shows that a 404 to a second one proves nothing.
func TestLostCompletion(t *testing.T) {
	ticket := `{"id":"f","parts":[{"part_number":1,"url":"https://store.test/x?partNumber=1&uploadId=u"}],"complete_url":"https://store.test/x?uploadId=u"}`
	h := begin(t, Config{Size: 100})
	h.do(h.m.Start)
	h.answerAsk(ticket)
	h.answer(1, 200, "ETag", "a")
	h.do(func(now int64) { h.m.StoreFailed(now, 2, "", false) })
	h.pass(1_000)
	h.answer(3, 404)
	assert.Contains(t, h.lastAsk(), `"status":"uploaded"`)

	h = begin(t, Config{Size: 100})
	h.do(h.m.Start)
	h.answerAsk(ticket)
	h.answer(1, 200, "ETag", "a")
	h.answer(2, 404)
	assert.Contains(t, h.lastAsk(), `"status":"upload_failed"`, "the first one proves it")
}
