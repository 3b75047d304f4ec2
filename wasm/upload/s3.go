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

func (*s3Wire) layout(s *session) (layout, *api.Error) {
	if len(s.ticket.Parts) == 0 || s.ticket.CompleteURL == "" {
		return layout{}, withoutParts("the service asks for s3-multipart, but its answer has no parts or no complete_url")
	}
	for i, p := range s.ticket.Parts {
		if p.URL == "" || i > 0 && p.Number <= s.ticket.Parts[i-1].Number {
			return layout{}, withoutParts("the parts of the service's answer need an address each and numbers that go up")
		}
	}
	return layout{min: 5 * mib, max: 5 << 30, most: int64(min(len(s.ticket.Parts), 10_000)), fixed: s.ticket.BlockSize}, nil
}

func withoutParts(message string) *api.Error {
	return &api.Error{Kind: api.KindProtocol, Code: "ticket_without_parts", Message: message}
}

func (*s3Wire) survey(*session, bool) (Request, bool) { return Request{}, false }
func (*s3Wire) surveyed(*session, *Answer)            {}

func (*s3Wire) next(s *session, l *lane) Request {
	return Request{Method: "PUT", URL: s.ticket.Parts[l.index].URL, Header: with(nil, s.ticket.Header),
		From: l.from, To: l.to, Want: []string{"etag"}}
}

func (*s3Wire) answered(s *session, l *lane, _ *Request, a *Answer) verdict {
	if !a.ok() {
		return refusal("part "+strconv.Itoa(s.ticket.Parts[l.index].Number), a)
	}
	l.tag = a.get("etag")
	if l.tag == "" {
		return hidden("ETag", `for S3, a CORS rule of the bucket with "ExposeHeaders": ["ETag"]`)
	}
	s.finish(l)
	return verdict{}
}

func (*s3Wire) commit(s *session) (Request, bool) {
	body := []byte(`<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">`)
	for i, l := range s.lanes {
		body = append(body, "<Part><PartNumber>"+strconv.Itoa(s.ticket.Parts[i].Number)+"</PartNumber><ETag>"+replace(l.tag, xmlEscape)+"</ETag></Part>"...)
	}
	return Request{Method: "POST", URL: s.ticket.CompleteURL, Body: append(body, "</CompleteMultipartUpload>"...)}, true
}

// committed reads the body too: S3 begins to answer 200 before it knows how the completion ends.
func (*s3Wire) committed(s *session, a *Answer) verdict {
	if a.Status == 404 && s.commits > 1 {
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
