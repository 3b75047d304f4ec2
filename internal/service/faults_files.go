package service

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
)

// ticketShapes are the words of the fault ticket: one plain PUT; the address alone, so that it tells the
// protocol; other names for its members; the identifier nested, or alone; and what an answer may lack.
var ticketShapes = []string{string(Put), "bare", "other_names", "nested", "nested_id", "no_address", "no_id"}

// renews tells whether an upload-url request asks for new addresses of a file it has. The body can still be
// read after it.
func renews(w http.ResponseWriter, r *http.Request) (bool, *apiError) {
	body, problem := readBody(w, r)
	if problem != nil {
		return false, problem
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var fields struct {
		FileID string `json:"file_id"`
	}
	return json.Unmarshal(body, &fields) == nil && fields.FileID != "", nil
}

// writeTicket answers endpoint 4, in the shape that ticket asks for.
func (f *faults) writeTicket(w http.ResponseWriter, status int, answer ticketAnswer) {
	id, address := answer.FileID, answer.UploadURL
	switch f.values[faultTicket] {
	case "bare":
		writeJSON(w, status, map[string]any{"file_id": id, "upload_url": address})
	case "other_names":
		writeJSON(w, status, map[string]any{"id": id, "signed_url": address})
	case "nested":
		writeJSON(w, status, map[string]any{"file": map[string]any{"file_id": id, "status": answer.Status}, "url": address})
	case "nested_id":
		writeJSON(w, status, map[string]any{"file": map[string]any{"id": id}, "upload_url": address})
	case "no_address":
		answer.Ticket = Ticket{}
		writeJSON(w, status, answer)
	case "no_id":
		writeJSON(w, status, map[string]any{"upload_url": address})
	default:
		writeJSON(w, status, answer)
	}
}

// writeFile answers a file's record, with the status that file_status asks for.
func (f *faults) writeFile(w http.ResponseWriter, record fileRecord) {
	if f.has(faultFileStatus) {
		record.Status = fileStatus(f.values[faultFileStatus])
	}
	writeJSON(w, http.StatusOK, record)
}

// heldAnswer keeps an answer back until it is settled whether it is given.
type heldAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *heldAnswer) Header() http.Header { return a.header }

func (a *heldAnswer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

func (a *heldAnswer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

func (a *heldAnswer) give(w http.ResponseWriter) {
	h := w.Header()
	for name, values := range a.header {
		h[name] = values
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body.Bytes())
}
