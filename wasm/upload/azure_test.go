package upload

import (
	b64 "encoding/base64"
	"fmt"
	"regexp"
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/stretchr/testify/assert"
)

var azureRoom = room{
	protocol: &azureBlock,
	object:   func() object { return &azureObject{pending: map[string]extent{}} },
	ticket: func(_ *store, t *api.Ticket, place, signed string) {
		t.URL = place + "?sv=2026&sp=cw&" + signed
	},
	recognised: []recognisedCase{
		{"SAS", api.Ticket{URL: "https://a/b?sv=1&sp=cw&sig=x"}},
		{"SAS of a stored policy", api.Ticket{URL: "https://a/b?sv=1&si=p&sig=x%3D"}},
	},
	cuts: []cutCase{
		{"default", transfer{size: 20 * mib}, 8 * mib, 3, ""},
		{"the caller's, grown until the count fits", transfer{size: 20 * mib, wanted: 5}, 420, 49_933, ""},
		{"the service's", transfer{size: 20 * mib, ticket: &api.Ticket{BlockSize: 4 * mib}}, 4 * mib, 5, ""},
		{"the caller's before the service's", transfer{size: 20 * mib, wanted: mib, ticket: &api.Ticket{BlockSize: 4 * mib}}, mib, 20, ""},
		{"grows with the data", transfer{size: 50_001 * 8 * mib}, 8388776, 50_000, ""},
		{"empty", transfer{}, 8 * mib, 1, ""},
		{"too large", transfer{size: 200_000_001 * mib}, 0, 0, "file_too_large"},
	},
	answers: []answerCase{
		{"stored", Request{Method: "PUT", To: 100}, Answer{Status: 201}, onward, 100, ""},
	},
}

func TestBlockID(t *testing.T) {
	assert.Len(t, blockID(49_999), len(blockID(0)))
}

func TestRefusedBlockList(t *testing.T) {
	assert.Equal(t, gone, (&azureWire{}).committed(nil, &Answer{Status: 400, Body: []byte("<Error><Code>InvalidBlockList</Code></Error>")}).outcome)
}

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
