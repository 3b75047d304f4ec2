package api

import (
	"strconv"

	"github.com/seed-76f09577/turnwire/wasm/json"
)

// FileParams is what the service is told of a file before its upload (profile, "Files" 1).
type FileParams struct {
	Name        string
	Size        int64 // bytes
	ContentType string
	Purpose     string // left out where empty
	Checksum    string // as the service wants it encoded; left out where empty
	FileID      string // of a file that is registered already and needs a new address; left out where empty
}

// UploadURL is POST /v1/workspaces/{workspace_id}/files/upload-url.
func UploadURL(workspaceID string, p FileParams) *Request {
	var w json.Writer
	w.Open("", '{')
	w.String("name", p.Name)
	w.Int("size", p.Size)
	w.String("content_type", p.ContentType)
	w.Given("purpose", p.Purpose)
	w.Given("checksum", p.Checksum)
	w.Given("file_id", p.FileID)
	w.Close('}')
	return &Request{
		Method: "POST",
		Path:   "/v1/workspaces/" + segment(workspaceID) + "/files/upload-url",
		Header: []Field{jsonBody, {"Accept", "application/json"}},
		Body:   w.Text(),
	}
}

// ReportUploaded is PATCH /v1/files/{file_id} after the bytes are stored. checksum is left out where empty.
func ReportUploaded(fileID string, size int64, checksum string) *Request {
	var w json.Writer
	w.Open("", '{')
	w.String("status", "uploaded")
	w.Int("size", size)
	w.Given("checksum", checksum)
	w.Close('}')
	return reportFile(fileID, w.Text())
}

// ReportFailed is PATCH /v1/files/{file_id} after an upload that did not succeed.
func ReportFailed(fileID, why string) *Request {
	var w json.Writer
	w.Open("", '{')
	w.String("status", "upload_failed")
	w.String("error", why)
	w.Close('}')
	return reportFile(fileID, w.Text())
}

// reportFile outlives its page, so that no file hangs.
func reportFile(fileID string, body []byte) *Request {
	return &Request{
		Method:    "PATCH",
		Path:      filePath(fileID),
		Header:    []Field{jsonBody, {"Accept", "application/json"}},
		Body:      body,
		Keepalive: true,
	}
}

// GetFile is GET /v1/files/{file_id}.
func GetFile(fileID string) *Request {
	return &Request{Method: "GET", Path: filePath(fileID), Header: []Field{{"Accept", "application/json"}}}
}

func filePath(fileID string) string { return "/v1/files/" + segment(fileID) }

// File is the service's record of a file. Size is -1 where the record has none.
type File struct {
	ID       string
	Status   string
	Name     string
	Size     int64
	Checksum string
	Raw      []byte // the JSON as it came; nil where the service sent no record
}

// The statuses that end a wait (interface, "File status").
const (
	FileReady            = "ready"
	FileUploadFailed     = "upload_failed"
	FileProcessingFailed = "processing_failed"
)

// Settled reports whether the status is one of the three that end a wait.
func (f *File) Settled() bool {
	return f.Status == FileReady || f.Failed()
}

// Failed reports whether the file can't be used any more.
func (f *File) Failed() bool {
	return f.Status == FileUploadFailed || f.Status == FileProcessingFailed
}

// ParseFile reads a file's record, which may also stand inside file or data. It returns false where the body is none: a
// record says its status.
func ParseFile(fileID string, body []byte) (File, bool) {
	if !json.Valid(body) {
		return File{ID: fileID, Size: -1}, false
	}
	raw := trim(body)
	record := raw
	if top := json.Members(raw, "status", "file", "data"); !json.IsString(top[0]) {
		for _, inner := range top[1:] {
			if json.IsObject(inner) {
				record = inner
				break
			}
		}
	}
	m := json.Members(record, "file_id", "id", "status", "name", "size", "checksum")
	ids, status, name, size, checksum := m[:2], m[2], m[3], m[4], m[5]
	f := File{ID: firstString(ids...), Status: json.String(status), Name: json.String(name), Size: -1, Checksum: json.String(checksum), Raw: raw}
	if n, ok := json.Int(size); ok && n >= 0 {
		f.Size = n
	}
	if f.ID == "" {
		f.ID = fileID
	}
	return f, f.Status != ""
}

// ParseReport reads the answer to ReportUploaded. The interface shows none, so that an empty body and a JSON object
// without a status will do, with the status "uploaded"; an object that names an error and whatever is no JSON object
// confirm nothing.
func ParseReport(req *Request, res *Response, fileID string, body []byte) (File, *Error) {
	file, ok := ParseFile(fileID, body)
	raw := trim(body)
	switch {
	case len(raw) == 0:
		file.Status = "uploaded"
		return file, nil
	case file.Settled():
		return file, nil
	case !json.Valid(raw) || !json.IsObject(raw):
		err := unexpected(req, res, body, "report_not_confirmed", "a record", KindProtocol)
		err.Retryable = true // such as the page of a proxy that is in the way
		return file, err
	}
	if refused := json.Members(raw, "error")[0]; len(refused) > 0 && json.View(refused) != "null" {
		code, message := ErrorText(raw)
		if code == "" {
			code = "report_not_confirmed"
		}
		return file, &Error{Kind: KindProtocol, Code: code, Status: res.Status, RequestID: res.RequestID,
			Message: req.Method + " " + req.Path + " answered " + strconv.Itoa(res.Status) + " with an error: " + message}
	}
	if !ok {
		file.Status = "uploaded"
	}
	return file, nil
}

// NotAFile is the error of an answer that should have been a file's record.
func NotAFile(req *Request, res *Response, body []byte) *Error {
	return unexpected(req, res, body, "file_without_status", "a status", KindProtocol)
}

// FileFailed is the error of a file that ended as upload_failed or processing_failed.
func FileFailed(f *File) *Error {
	_, message := ErrorText(f.Raw)
	if message == "" {
		message = "the service does not say why"
	}
	return &Error{Kind: KindFile, Code: f.Status, Message: "file " + f.ID + " ended as " + f.Status + ": " + message, FileID: f.ID, File: f}
}

// unexpected is the error of a record without what the client needs.
func unexpected(req *Request, res *Response, body []byte, code, want string, kind Kind) *Error {
	saw := "no JSON object"
	if raw := trim(body); json.Valid(raw) && json.IsObject(raw) {
		saw = names(raw)
	} else if start := WithoutQueries(Excerpt(body, 200)); start != "" {
		saw += ", but: " + start
	}
	return &Error{Kind: kind, Code: code, Status: res.Status, RequestID: res.RequestID,
		Message: req.Method + " " + req.Path + " answered without " + want + ": saw " + saw}
}
