package upload

import (
	"strconv"

	"github.com/seed-76f09577/turnwire/wasm/api"
)

var tus = protocol{"tus", nil, &tusWire{}}

// tusWire stores over the tus protocol 1.0.0 (https://tus.io/protocols/resumable-upload): one upload in order or, where
// the server joins uploads (extension Concatenation), several side by side.
type tusWire struct{}

const tusExpose = "for tus, Access-Control-Expose-Headers with Location, Upload-Offset and Tus-Extension"

// layout has one lane for each block under way where the server is able to join uploads.
func (*tusWire) layout(t *transfer) (layout, *api.Error) {
	lay := layout{min: 1, lanes: 1}
	if t.able {
		lay.lanes = int64(max(t.concurrency, 1))
	}
	return lay, nil
}

// ready reports whether the ticket's address is an upload already, and not where one is made.
func (t *transfer) ready() bool { return t.ticket.Method == "PATCH" || t.ticket.Method == "HEAD" }

// survey asks what the server can do, where it could matter.
func (*tusWire) survey(t *transfer, continued bool) (Request, bool) {
	if continued || t.ready() || t.once || t.concurrency < 2 {
		return Request{}, false
	}
	t.able = false
	for _, name := range t.ticket.Extensions {
		t.able = t.able || joins(name)
	}
	if len(t.ticket.Extensions) > 0 {
		return Request{}, false
	}
	// The protocol wants no Tus-Resumable here.
	return Request{Method: "OPTIONS", URL: t.ticket.URL, Header: with(nil, t.ticket.Header), Want: []string{"tus-extension"}}, t.size > t.wantedBlock()
}

func (*tusWire) surveyed(t *transfer, a *Answer) {
	t.able = a.ok() && joins(a.get("tus-extension"))
}

// joins reports whether a list of extensions has the one that joins uploads.
func joins(list string) bool {
	for list != "" {
		var name string
		if name, list, _ = cut(list, ","); api.Lower(trim(name)) == "concatenation" {
			return true
		}
	}
	return false
}

// tusRequest has what every request of the protocol carries.
func (t *transfer) tusRequest(method, url string, own ...api.Field) Request {
	own = append(own, api.Field{Name: "Tus-Resumable", Value: "1.0.0"})
	return Request{Method: method, URL: url, Header: with(own, t.ticket.Header), Want: []string{"upload-offset"}}
}

func (*tusWire) next(t *transfer, l *lane) Request {
	if l.url == "" && t.ready() {
		l.url, l.unsure = t.ticket.URL, true
	}
	switch {
	case l.url == "":
		own := []api.Field{{Name: "Upload-Length", Value: strconv.FormatInt(l.to-l.from, 10)}}
		if len(t.lanes) > 1 {
			own = append(own, api.Field{Name: "Upload-Concat", Value: "partial"})
		} else {
			own = append(own, t.tusMetadata())
		}
		r := t.tusRequest("POST", t.ticket.URL, own...)
		r.Want = []string{"location"}
		return r
	case l.unsure:
		return t.tusRequest("HEAD", l.url)
	}
	r := t.tusRequest("PATCH", l.url, api.Field{Name: "Upload-Offset", Value: strconv.FormatInt(l.at-l.from, 10)},
		api.Field{Name: "Content-Type", Value: "application/offset+octet-stream"})
	r.From, r.To = l.at, t.chunk(l)
	return r
}

func (t *transfer) tusMetadata() api.Field {
	return api.Field{Name: "Upload-Metadata", Value: "filename " + base64([]byte(t.name)) + ",filetype " + base64([]byte(t.contentType))}
}

func (*tusWire) answered(t *transfer, l *lane, r *Request, a *Answer) verdict {
	switch {
	case a.ok() && r.Method == "POST":
		if l.url = a.get("location"); l.url == "" {
			return hidden("Location", tusExpose)
		}
		l.url, l.unsure = resolve(t.ticket.URL, l.url), false
		if l.at == l.to { // empty data is complete when its upload is made
			t.finish(l)
		}
		return verdict{}
	case a.ok():
		return t.tusOffset(l, r, a.get("upload-offset"))
	case a.Status == 409 && r.Method == "PATCH", a.Status == 423:
		// Another offset than thought, or locked by the request that broke off.
		v := refusal("a block", a)
		v.outcome, v.err.Code, v.err.Retryable, l.unsure = again, "storage_unavailable", true, true
		return v
	case (a.Status == 404 || a.Status == 410) && r.Method != "POST":
		v := refusal("a block", a)
		v.outcome = gone
		return v
	}
	return refusal("a block", a)
}

func (t *transfer) tusOffset(l *lane, r *Request, value string) verdict {
	if value == "" && r.carries() {
		// Hidden by CORS; a 204 says that every byte of the block was taken.
		value = strconv.FormatInt(r.To-l.from, 10)
	}
	if value == "" {
		return hidden("Upload-Offset", tusExpose)
	}
	offset, ok := api.Digits(value)
	if !ok || offset > l.sent-l.from {
		return verdict{failed, mismatch(value, l.sent-l.from)}
	}
	t.move(l, l.from+offset)
	l.unsure = false
	if l.at == l.to {
		t.finish(l)
	}
	return verdict{}
}

func (*tusWire) commit(t *transfer) (Request, bool) {
	if len(t.lanes) == 1 {
		return Request{}, false
	}
	list := "final;"
	for i, l := range t.lanes {
		if i > 0 {
			list += " "
		}
		list += l.url
	}
	return t.tusRequest("POST", t.ticket.URL, api.Field{Name: "Upload-Concat", Value: list}, t.tusMetadata()), true
}

func (*tusWire) committed(_ *transfer, a *Answer) verdict {
	if a.ok() {
		return verdict{}
	}
	v := refusal("the joining of the uploads", a)
	if a.Status == 404 || a.Status == 410 {
		v.outcome = gone
	}
	return v
}
