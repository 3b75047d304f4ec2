package service

import (
	"net/http"
	"slices"
	"strings"
	"sync"
)

// maxStorageLog bounds the remembered storage requests; past it the older half is forgotten.
const maxStorageLog = 20_000

// storageRequest is one request to the own storage as tests see it.
type storageRequest struct {
	FileID    string `json:"file_id"`
	Method    string `json:"method"`
	Operation string `json:"operation"`
	BlockID   string `json:"block_id,omitempty"`
	// Bytes of the body that have arrived so far.
	Bytes int64 `json:"bytes"`
	// Headers are the names of the request's, in lower case and sorted.
	Headers []string `json:"headers"`
	// Status is 0 while there is no answer, and where there never was one: Finished tells which.
	Status   int  `json:"status"`
	Finished bool `json:"finished"`

	body *arrivingBody
}

type storageLog struct {
	mu      sync.Mutex
	entries []*storageRequest
}

func (l *storageLog) add(r *http.Request, id, operation string, body *arrivingBody) *storageRequest {
	entry := &storageRequest{FileID: id, Method: r.Method, Operation: operation, BlockID: r.URL.Query().Get("blockid"), body: body}
	for name := range r.Header {
		entry.Headers = append(entry.Headers, strings.ToLower(name))
	}
	slices.Sort(entry.Headers)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.entries) >= maxStorageLog {
		l.entries = slices.Clone(l.entries[maxStorageLog/2:])
	}
	l.entries = append(l.entries, entry)
	return entry
}

func (l *storageLog) finish(entry *storageRequest, status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	entry.Bytes, entry.body = entry.body.count(), nil
	entry.Status, entry.Finished = status, true
}

// debugStorage lists the requests to the own storage in the order of their arrival, those of one file
// with ?file_id=.
func (s *Service) debugStorage(w http.ResponseWriter, r *http.Request, _ *faults) *apiError {
	id := r.URL.Query().Get("file_id")
	shown := []storageRequest{}
	s.storageLog.mu.Lock()
	for _, entry := range s.storageLog.entries {
		if id != "" && entry.FileID != id {
			continue
		}
		copied := *entry
		if entry.body != nil {
			copied.Bytes = entry.body.count()
		}
		shown = append(shown, copied)
	}
	s.storageLog.mu.Unlock()
	writeJSON(w, http.StatusOK, shown)
	return nil
}
