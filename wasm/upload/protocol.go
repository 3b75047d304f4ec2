package upload

import (
	"strconv"

	"github.com/seed-76f09577/turnwire/wasm/api"
)

// A protocol is one wire form of storing the bytes (profile, "Files" 3), and lives in a file of its own.
type protocol struct {
	name string // as tickets say it
	// recognises reports whether a ticket that names no protocol is one of this; nil where only the name tells.
	recognises func(t *api.Ticket) bool
	wire       wire
}

// protocols are all that there are, in the order in which they look at a ticket: put, the last, takes every one.
var protocols = []*protocol{&s3Multipart, &azureBlock, &gcsResumable, &tus, &put}

// Protocols names them.
func Protocols() []string {
	var names []string
	for _, p := range protocols {
		names = append(names, p.name)
	}
	return names
}

// recognise finds a ticket's protocol: the one that it names, else the first that recognises it.
func recognise(t *api.Ticket) (*protocol, *api.Error) {
	known := ""
	for _, p := range protocols {
		if t.Protocol == p.name || t.Protocol == "" && p.recognises != nil && p.recognises(t) {
			return p, nil
		}
		known += " " + p.name
	}
	return nil, &api.Error{Kind: api.KindProtocol, Code: "unknown_upload_protocol",
		Message: "the service asks for the upload protocol " + api.Excerpt([]byte(t.Protocol), 50) +
			", this client knows" + known + "; option mapUploadTicket can translate"}
}

// wire is how a protocol speaks. It has no state: what it knows of an upload lies in the transfer, so that it can be kept
// and gone on with.
type wire interface {
	// layout says how the data may be cut. An error says that this data can't be stored this way.
	layout(t *transfer) (layout, *api.Error)
	// survey is a question to the store before any block is sent: what it can do, or what it has of an upload that is
	// gone on with. Its answer is welcome, not needed.
	survey(t *transfer, continued bool) (Request, bool)
	surveyed(t *transfer, a *Answer)
	// next is the request that brings a lane on: its beginning, a block, or a question how far it came.
	next(t *transfer, l *lane) Request
	// answered reads the answer to it, and moves the lane.
	answered(t *transfer, l *lane, r *Request, a *Answer) verdict
	// commit makes one thing of the lanes once all are stored; false where nothing is left to do.
	commit(t *transfer) (Request, bool)
	committed(t *transfer, a *Answer) verdict
}

// layout is how data is cut into blocks, and blocks are put into lanes. Sizes are bytes.
type layout struct {
	min, max int64 // of a block; the last may be smaller
	multiple int64 // of which a block's size is one
	most     int64 // blocks at most; 0 for no limit
	fixed    int64 // the size that the ticket demands; 0 where it does not
	lanes    int64 // stored side by side, each in order; 0: every block is its own lane
}

const (
	kib = int64(1) << 10
	mib = int64(1) << 20

	defaultBlock = 8 * mib
)

// Request is one request to the store. It goes without the key, without cookies, and only with these headers.
type Request struct {
	Method string
	URL    string
	Header []api.Field
	// The body: bytes From to To of the data, where they are not the same; else Body, which may be empty.
	From, To int64
	Body     []byte
	// Want names the headers that the answer's reader needs, in lower case; CORS may hide them.
	Want []string
}

// carries reports whether the request moves a part of the data.
func (r *Request) carries() bool { return r.To > r.From }

// Answer is what the store said.
type Answer struct {
	Status int
	Header []api.Field
	Body   []byte // at most 64 KiB
}

// get returns a header, "" where it is missing or hidden by CORS.
func (a *Answer) get(name string) string {
	value, _ := api.Find(a.Header, name)
	return value
}

func (a *Answer) ok() bool { return a.Status >= 200 && a.Status < 300 }

type outcome int

const (
	onward  outcome = iota // the answer was understood, and the lane moved
	again                  // the same may succeed later
	expired                // the address is not accepted (any more)
	gone                   // the store has nothing of the lane any more
	failed                 // it will never succeed
)

// verdict is what an answer means. err says why, for every outcome but onward.
type verdict struct {
	outcome outcome
	err     *api.Error
}

// failure makes an error of an upload.
func failure(code, message string) *api.Error {
	return &api.Error{Kind: api.KindUpload, Code: code, Message: message}
}

// passing makes one of what may not happen again.
func passing(code, message string) *api.Error {
	return &api.Error{Kind: api.KindUpload, Code: code, Message: message, Retryable: true}
}

// refusal judges an answer in the way that all stores share.
func refusal(what string, a *Answer) verdict {
	err := failure("storage_refused", "the storage answered "+strconv.Itoa(a.Status)+" to "+what+storeText(a.Body))
	err.Status = a.Status
	switch {
	case api.Transient(a.Status):
		err.Code, err.Retryable = "storage_unavailable", true
		return verdict{again, err}
	case a.Status == 401 || a.Status == 403:
		err.Code = "address_refused"
		return verdict{expired, err}
	}
	return verdict{failed, err}
}

// storeText is what a store's error says: code and message of its XML, else how the body begins.
func storeText(body []byte) string {
	code, message := xmlText(body, "Code"), xmlText(body, "Message")
	if code == "" && message == "" {
		if message = api.WithoutQueries(api.Excerpt(body, 200)); message == "" {
			return ""
		}
	}
	if code != "" && message != "" {
		code += ": "
	}
	return ": " + code + api.Excerpt([]byte(message), 300)
}

// mismatch is the error of a store that says to have what it was never sent.
func mismatch(value string, sent int64) *api.Error {
	return failure("storage_mismatch", "the storage says that it has "+api.Excerpt([]byte(value), 50)+" of the bytes, of which "+strconv.FormatInt(sent, 10)+" were sent")
}

// hidden is the error of a header that is needed and not to be seen.
func hidden(header, store string) verdict {
	return verdict{failed, failure("header_hidden",
		"the storage's answer has no "+header+" header that this page may read: its CORS rules must name it ("+store+")")}
}
