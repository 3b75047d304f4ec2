package upload

import (
	"strconv"
	"strings"

	"github.com/seed-76f09577/turnwire/wasm/api"
)

var gcsResumable = protocol{"gcs-resumable", isResumable, &gcsWire{}}

// isResumable reports whether an address is that of a session, or signed to begin one.
func isResumable(t *api.Ticket) bool {
	return query(t.URL, "upload_id") != "" || query(t.URL, "X-Goog-Signature") != "" && startsResumable(t)
}

// gcsWire stores one block after the other in a session of Google Cloud Storage (XML API, "Resumable uploads"),
// which says how far it came. A session's address needs no signature.
type gcsWire struct{}

func (*gcsWire) layout(*transfer) (layout, *api.Error) {
	return layout{min: 256 * kib, multiple: 256 * kib, lanes: 1}, nil
}

// startsResumable reports whether a signed address is one that begins a session.
func startsResumable(t *api.Ticket) bool {
	_, named := api.Find(t.Header, "x-goog-resumable")
	return named || t.Method == "POST" || contains(api.Lower(query(t.URL, "X-Goog-SignedHeaders")), "x-goog-resumable")
}

func (*gcsWire) survey(*transfer, bool) (Request, bool) { return Request{}, false }
func (*gcsWire) surveyed(*transfer, *Answer)            {}

func (*gcsWire) next(t *transfer, l *lane) Request {
	if l.url == "" && query(t.ticket.URL, "upload_id") != "" {
		l.url = t.ticket.URL
	}
	total := strconv.FormatInt(t.size, 10)
	switch {
	case l.url == "":
		own := []api.Field{{Name: "x-goog-resumable", Value: "start"}}
		return Request{Method: "POST", URL: t.ticket.URL, Header: with(own, t.ticket.Header), Want: []string{"location"}}
	case l.unsure || t.size == 0:
		return Request{Method: "PUT", URL: l.url, Header: []api.Field{{Name: "Content-Range", Value: "bytes */" + total}}, Want: []string{"range"}}
	}
	to := t.chunk(l)
	return Request{Method: "PUT", URL: l.url, From: l.at, To: to, Want: []string{"range"}, Header: []api.Field{{Name: "Content-Range",
		Value: "bytes " + strconv.FormatInt(l.at, 10) + "-" + strconv.FormatInt(to-1, 10) + "/" + total}}}
}

func (*gcsWire) answered(t *transfer, l *lane, r *Request, a *Answer) verdict {
	switch {
	case r.Method == "POST":
		if !a.ok() {
			return refusal("the start of the session", a)
		}
		if l.url = a.get("location"); l.url == "" {
			return hidden("Location", `for Cloud Storage, "responseHeader": ["Location", "Range"] in the bucket's CORS configuration`)
		}
		l.url, l.unsure = resolve(t.ticket.URL, l.url), false
		return verdict{}
	case a.ok() && l.sent < l.to:
		return verdict{failed, mismatch("every one", l.sent)}
	case a.ok():
		// The store says so only when it has the last byte.
		t.finish(l)
		return verdict{}
	case a.Status == 308:
		return t.gcsRange(l, r, a.get("range"))
	case a.Status == 404, a.Status == 410, a.Status == 416:
		v := refusal("a block", a)
		v.outcome = gone
		return v
	}
	return refusal("a block", a)
}

// gcsRange reads how far the store came. Where CORS hides its Range header, a block of which every byte was sent counts as
// stored: the store answers with success only when it has every byte to the last. After a break the block is sent from
// its beginning: the store passes over what it has. A store whose header was seen once is able to show it: an answer
// without one then says that it has nothing.
func (t *transfer) gcsRange(l *lane, r *Request, value string) verdict {
	l.unsure = false
	if value == "" {
		switch {
		case t.able:
			t.move(l, l.from)
		case r.carries():
			t.move(l, min(r.To, l.to))
		}
		return t.short(l)
	}
	t.able = true
	last, ok := rangeEnd(value)
	if !ok || last >= l.sent {
		return verdict{failed, mismatch(value, l.sent)}
	}
	t.move(l, last+1)
	return t.short(l)
}

// short is the verdict on a session that is not complete. One that has every byte and still says so is asked again.
func (t *transfer) short(l *lane) verdict {
	if l.at < l.to {
		return verdict{}
	}
	l.unsure = true
	err := passing("storage_unavailable", "the storage has every byte and does not say that the upload is complete")
	err.Status = 308
	return verdict{again, err}
}

func (*gcsWire) commit(*transfer) (Request, bool)     { return Request{}, false }
func (*gcsWire) committed(*transfer, *Answer) verdict { return verdict{} }

// rangeEnd reads the last byte of "bytes=0-n", in any of the spellings about.
func rangeEnd(value string) (last int64, ok bool) {
	value = strings.TrimPrefix(trim(value), "bytes")
	for value != "" && (value[0] == '=' || value[0] == ' ') {
		value = value[1:]
	}
	first, end, _ := cut(value, "-")
	last, ok = api.Digits(end)
	return last, ok && first == "0"
}
