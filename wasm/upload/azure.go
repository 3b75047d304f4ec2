package upload

import (
	"strconv"
	"strings"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/json"
)

var azureBlock = protocol{"azure-block", isSAS, &azureWire{}}

// isSAS reports whether an address has a shared access signature.
func isSAS(t *api.Ticket) bool {
	has := func(name string) bool { return query(t.URL, name) != "" }
	return has("sig") && has("sv") && (has("sp") || has("si"))
}

// azureWire stores blocks side by side and then commits their list (Azure Blob Storage REST API: Put Block, Put Block
// List, Get Block List); data of one block goes as one Put Blob. A signed address (SAS) takes the operation as a
// parameter.
type azureWire struct{}

func (*azureWire) layout(*transfer) (layout, *api.Error) {
	return layout{min: 1, max: 4000 * mib, most: 50_000}, nil
}

// survey asks which blocks are there, committed or not: those uncommitted are dropped after a week, and a commit's
// answer may have been lost. The signature may not allow it.
func (*azureWire) survey(t *transfer, continued bool) (Request, bool) {
	if !continued || t.oneBlock() {
		return Request{}, false
	}
	return Request{Method: "GET", URL: withQuery(t.ticket.URL, "comp=blocklist&blocklisttype=all")}, true
}

func (*azureWire) surveyed(t *transfer, a *Answer) {
	if !a.ok() || !contains(string(a.Body), "<BlockList") {
		return
	}
	stored := map[string]int64{}
	for text, rest := xmlElement(string(a.Body), "Block"); text != "" || rest != ""; text, rest = xmlElement(rest, "Block") {
		if size, ok := json.Int([]byte(xmlText([]byte(text), "Size"))); ok {
			stored[xmlText([]byte(text), "Name")] = size
		}
	}
	// A list that was cut says nothing of the rest.
	complete := contains(string(a.Body), "</BlockList>")
	for _, l := range t.lanes {
		size, there := stored[blockID(l.index)]
		switch {
		case there && size == l.to-l.from:
			t.finish(l)
		case complete && l.done:
			t.reset(l)
		}
	}
}

// blockID has the same length for every block of a blob, as the service demands, and survives a query unencoded.
func blockID(index int) string {
	digits := strconv.Itoa(index)
	return base64([]byte("block-" + "000000000"[len(digits):] + digits))
}

func (*azureWire) next(t *transfer, l *lane) Request {
	if t.oneBlock() {
		own := []api.Field{{Name: "x-ms-blob-type", Value: "BlockBlob"}, {Name: "x-ms-blob-content-type", Value: t.contentType}}
		return Request{Method: "PUT", URL: t.ticket.URL, Header: with(own, t.ticket.Header), From: l.from, To: l.to}
	}
	return Request{Method: "PUT", URL: withQuery(t.ticket.URL, "comp=block&blockid="+blockID(l.index)),
		Header: t.azureHeader(false), From: l.from, To: l.to}
}

// azureHeader is what the ticket names, less what belongs to the blob as a whole where a block is sent.
func (t *transfer) azureHeader(list bool) []api.Field {
	var out []api.Field
	for _, f := range t.ticket.Header {
		name := api.Lower(f.Name)
		if name == "x-ms-blob-type" || !list && strings.HasPrefix(name, "x-ms-blob-") || name == "content-type" {
			continue
		}
		out = append(out, f)
	}
	return out
}

func (*azureWire) answered(t *transfer, l *lane, _ *Request, a *Answer) verdict {
	if !a.ok() {
		return refusal("block "+strconv.Itoa(l.index), a)
	}
	t.finish(l)
	return verdict{}
}

func (*azureWire) commit(t *transfer) (Request, bool) {
	if t.oneBlock() {
		return Request{}, false
	}
	body := []byte(`<?xml version="1.0" encoding="utf-8"?><BlockList>`)
	for _, l := range t.lanes {
		body = append(body, "<Latest>"+blockID(l.index)+"</Latest>"...)
	}
	own := []api.Field{{Name: "x-ms-blob-content-type", Value: t.contentType}}
	return Request{Method: "PUT", URL: withQuery(t.ticket.URL, "comp=blocklist"), Header: with(own, t.azureHeader(true)),
		Body: append(body, "</BlockList>"...)}, true
}

func (*azureWire) committed(_ *transfer, a *Answer) verdict {
	if a.ok() {
		return verdict{}
	}
	v := refusal("the block list", a)
	if a.Status == 400 && xmlText(a.Body, "Code") == "InvalidBlockList" {
		v.outcome = gone
	}
	return v
}
