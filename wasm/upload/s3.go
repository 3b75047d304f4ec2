package upload

import (
	"strconv"

	"github.com/seed-76f09577/turnwire/wasm/api"
)

var s3Multipart = protocol{"s3-multipart", hasParts, &s3Wire{}}

func hasParts(t *api.Ticket) bool { return len(t.Parts) > 0 && t.CompleteURL != "" }

// s3Wire stores parts side by side, each at its own signed address, and completes them by their ETags (Amazon S3
// API: UploadPart, CompleteMultipartUpload).
type s3Wire struct{}

func (*s3Wire) layout(t *transfer) (layout, *api.Error) {
	if len(t.ticket.Parts) == 0 || t.ticket.CompleteURL == "" {
		return layout{}, withoutParts("the service asks for s3-multipart, but its answer has no parts or no complete_url")
	}
	for i, p := range t.ticket.Parts {
		if p.URL == "" || i > 0 && p.Number <= t.ticket.Parts[i-1].Number {
			return layout{}, withoutParts("the parts of the service's answer need an address each and numbers that go up")
		}
	}
	return layout{min: 5 * mib, max: 5 << 30, most: int64(min(len(t.ticket.Parts), 10_000)), fixed: t.ticket.BlockSize}, nil
}

func withoutParts(message string) *api.Error {
	return &api.Error{Kind: api.KindProtocol, Code: "ticket_without_parts", Message: message}
}

func (*s3Wire) survey(*transfer, bool) (Request, bool) { return Request{}, false }
func (*s3Wire) surveyed(*transfer, *Answer)            {}

func (*s3Wire) next(t *transfer, l *lane) Request {
	return Request{Method: "PUT", URL: t.ticket.Parts[l.index].URL, Header: with(nil, t.ticket.Header),
		From: l.from, To: l.to, Want: []string{"etag"}}
}

func (*s3Wire) answered(t *transfer, l *lane, _ *Request, a *Answer) verdict {
	if !a.ok() {
		return refusal("part "+strconv.Itoa(t.ticket.Parts[l.index].Number), a)
	}
	l.tag = a.get("etag")
	if l.tag == "" {
		return hidden("ETag", `for S3, a CORS rule of the bucket with "ExposeHeaders": ["ETag"]`)
	}
	t.finish(l)
	return verdict{}
}

func (*s3Wire) commit(t *transfer) (Request, bool) {
	body := []byte(`<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">`)
	for i, l := range t.lanes {
		body = append(body, "<Part><PartNumber>"+strconv.Itoa(t.ticket.Parts[i].Number)+"</PartNumber><ETag>"+replace(l.tag, xmlEscape)+"</ETag></Part>"...)
	}
	return Request{Method: "POST", URL: t.ticket.CompleteURL, Body: append(body, "</CompleteMultipartUpload>"...)}, true
}

// committed reads the body too: S3 begins to answer 200 before it knows how the completion ends.
func (*s3Wire) committed(t *transfer, a *Answer) verdict {
	if a.Status == 404 && t.commits > 1 {
		// The upload is gone because an earlier completion, whose answer was lost, has succeeded; the service, which can
		// look, has the last word in any case.
		return verdict{}
	}
	if !a.ok() {
		return refusal("the completion", a)
	}
	inner, rest := xmlElement(string(a.Body), "Error")
	if inner == "" && rest == "" {
		return verdict{}
	}
	err := failure("storage_refused", "the storage could not complete the upload"+storeText([]byte(inner)))
	err.Status = a.Status
	switch xmlText([]byte(inner), "Code") {
	case "InternalError", "SlowDown", "ServiceUnavailable", "RequestTimeout", "OperationAborted":
		err.Code, err.Retryable = "storage_unavailable", true
		return verdict{again, err}
	}
	return verdict{failed, err}
}
