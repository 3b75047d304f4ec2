package service

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

type fileStatus string

// The states of the spec's section "File status", and those that come before.
const (
	fileUploading        fileStatus = "uploading"
	fileProcessing       fileStatus = "processing"
	fileReady            fileStatus = "ready"
	fileUploadFailed     fileStatus = "upload_failed"
	fileProcessingFailed fileStatus = "processing_failed"
)

const (
	maxName     = 1024
	maxFileSize = 1 << 42
	// abandonedAfter is how long after its last address expired an upload that nobody reported is given up.
	abandonedAfter = 24 * time.Hour
)

// file is one file.
type file struct {
	id, workspace, name, contentType, purpose string
	size                                      int64
	created                                   time.Time

	// reporting is held while a report is worked on, so that a second one waits for its outcome.
	reporting sync.Mutex

	mu sync.Mutex
	fileState
}

// fileState is what changes about a file; its mu guards it.
type fileState struct {
	status   fileStatus
	checksum string
	error    string
	// report is the first report that was taken; the zero value says that none was.
	report  uploadReport
	handle  string
	expires time.Time
	updated time.Time
}

func (f *file) object() Object {
	f.mu.Lock()
	defer f.mu.Unlock()
	return Object{ID: f.id, ContentType: f.contentType, Size: f.size, Handle: f.handle}
}

// fileRecord is what endpoints 6 and 7 answer.
type fileRecord struct {
	FileID      string     `json:"file_id"`
	WorkspaceID string     `json:"workspace_id"`
	Name        string     `json:"name"`
	Size        int64      `json:"size"`
	ContentType string     `json:"content_type"`
	Purpose     string     `json:"purpose,omitempty"`
	Checksum    string     `json:"checksum,omitempty"`
	Status      fileStatus `json:"status"`
	Error       string     `json:"error,omitempty"`
	CreatedAt   time.Time  `json:"created_at"`
	UpdatedAt   time.Time  `json:"updated_at"`
}

func (f *file) record() fileRecord {
	f.mu.Lock()
	defer f.mu.Unlock()
	return fileRecord{
		FileID: f.id, WorkspaceID: f.workspace, Name: f.name, Size: f.size, ContentType: f.contentType, Purpose: f.purpose,
		Checksum: f.checksum, Status: f.status, Error: f.error, CreatedAt: f.created, UpdatedAt: f.updated,
	}
}

// change alters a file and saves it. What can't be saved does not hold: a client must not be told what a
// restart would take back.
func (s *Service) change(ctx context.Context, f *file, alter func()) *apiError {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.fileState
	alter()
	f.updated = s.cfg.Now().UTC()
	if err := s.journal.saveFile(ctx, f); err != nil {
		f.fileState = before
		s.log.Error("file not saved", "file", f.id, "error", err)
		return failure(http.StatusInternalServerError, "storage_failed", "the file could not be saved")
	}
	if f.status != before.status {
		s.log.Info("file "+string(f.status), "file", f.id, "workspace", f.workspace, "reason", f.error)
	}
	return nil
}

func (s *Service) findFile(id string) (*file, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[id]; f != nil {
		return f, nil
	}
	return nil, failure(http.StatusNotFound, "file_not_found", "there is no such file")
}

// readFile is endpoint 7 of the spec.
func (s *Service) readFile(w http.ResponseWriter, r *http.Request, f *faults) *apiError {
	found, problem := s.findFile(r.PathValue("file_id"))
	if problem != nil {
		return problem
	}
	f.writeFile(w, found.record())
	return nil
}

// upload is the body of endpoint 4.
type upload struct {
	fileID, name, contentType, purpose, checksum string
	size                                         int64
}

func parseUpload(fields map[string]json.RawMessage) (u upload, problem *apiError) {
	for _, field := range []struct {
		name     string
		required bool
		to       *string
	}{
		{"name", true, &u.name}, {"content_type", true, &u.contentType},
		{"purpose", false, &u.purpose}, {"checksum", false, &u.checksum}, {"file_id", false, &u.fileID},
	} {
		if problem := stringField(fields, field.name, field.required, field.to); problem != nil {
			return u, problem
		}
	}
	if len(u.name) > maxName {
		return u, invalid("name", fmt.Sprintf("name must not be longer than %d bytes", maxName))
	}
	if !mediaType(u.contentType) {
		return u, invalid("content_type", "content_type must be a media type such as text/plain")
	}
	if u.checksum != "" && digestOf(u.checksum) == nil {
		return u, invalid("checksum", checksumForm)
	}
	if _, ok := fields["size"]; !ok {
		return u, invalid("size", "size is missing")
	}
	u.size, problem = sizeField(fields)
	return u, problem
}

func sizeField(fields map[string]json.RawMessage) (int64, *apiError) {
	var size int64
	if raw := fields["size"]; json.Unmarshal(raw, &size) != nil || string(raw) == "null" || size < 0 || size > maxFileSize {
		return 0, invalid("size", fmt.Sprintf("size must be a whole number of bytes from 0 to %d", int64(maxFileSize)))
	}
	return size, nil
}

// createUpload is endpoint 4 of the spec. With the file_id of a file that is still being uploaded, its
// addresses are signed anew.
func (s *Service) createUpload(w http.ResponseWriter, r *http.Request, f *faults) *apiError {
	workspace := r.PathValue("workspace_id")
	if !slices.Contains(s.cfg.Workspaces, workspace) {
		return failure(http.StatusNotFound, "workspace_not_found", "there is no such workspace")
	}
	if s.cfg.Storage == nil {
		return failure(http.StatusNotImplemented, "no_storage", "this service has no storage for files")
	}
	fields, _, problem := readObject(w, r)
	if problem != nil {
		return problem
	}
	u, problem := parseUpload(fields)
	if problem != nil {
		return problem
	}
	grant := Grant{
		Expires: s.cfg.Now().UTC().Add(f.durationOr(faultExpires, s.cfg.SignedFor)).Truncate(time.Millisecond),
		Service: originOf(r), Page: r.Header.Get("Origin"), Plain: f.values[faultTicket] == string(Put),
	}
	status := http.StatusCreated
	var found *file
	if u.fileID != "" && !f.has(faultOtherFile) {
		status = http.StatusOK
		found, problem = s.renewed(workspace, u)
	} else {
		found, problem = s.newFile(r.Context(), workspace, u, grant)
	}
	if problem != nil {
		return problem
	}
	s.storageFaults.remember(found.id, f)
	ticket, err := s.cfg.Storage.Sign(r.Context(), found.object(), grant)
	if err != nil {
		s.log.Error("address not signed", "file", found.id, "error", err)
		return unavailable("storage_failed", "the storage gave no address for the upload")
	}
	if problem := s.change(r.Context(), found, func() { found.expires = grant.Expires }); problem != nil {
		return problem
	}
	f.writeTicket(w, status, ticketAnswer{FileID: found.id, Status: fileUploading, Ticket: ticket, ExpiresAt: grant.Expires})
	return nil
}

// ticketAnswer is what endpoint 4 answers.
type ticketAnswer struct {
	FileID string     `json:"file_id"`
	Status fileStatus `json:"status"`
	Ticket
	ExpiresAt time.Time `json:"expires_at"`
}

// renewed returns the file whose addresses may be signed again.
func (s *Service) renewed(workspace string, u upload) (*file, *apiError) {
	found, problem := s.findFile(u.fileID)
	if problem != nil {
		return nil, problem
	}
	if found.workspace != workspace {
		return nil, failure(http.StatusNotFound, "file_not_found", "there is no such file in this workspace")
	}
	if found.name != u.name || found.size != u.size {
		return nil, failure(http.StatusConflict, "file_differs", fmt.Sprintf("file_id names a file of another name or size: %q, %d bytes", found.name, found.size))
	}
	if status := found.record().Status; status != fileUploading {
		return nil, failure(http.StatusConflict, "file_not_uploading", "the file takes no more bytes, it is "+string(status))
	}
	return found, nil
}

func (s *Service) newFile(ctx context.Context, workspace string, u upload, grant Grant) (*file, *apiError) {
	now := s.cfg.Now().UTC()
	made := &file{
		id: newID("file"), workspace: workspace, name: u.name, contentType: u.contentType, purpose: u.purpose,
		size: u.size, created: now,
	}
	made.status, made.checksum, made.expires = fileUploading, u.checksum, grant.Expires
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return nil, shuttingDown()
	}
	s.dropAbandoned(ctx, now)
	handle, err := s.cfg.Storage.Begin(ctx, made.object(), grant)
	if err != nil {
		s.log.Error("upload not begun", "error", err)
		return nil, unavailable("storage_failed", "the storage did not begin the upload")
	}
	made.handle = handle
	if problem := s.change(ctx, made, func() {}); problem != nil {
		_ = s.cfg.Storage.Remove(ctx, made.object())
		return nil, problem
	}
	s.mu.Lock()
	s.files[made.id] = made
	s.mu.Unlock()
	return made, nil
}

// dropAbandoned ends the uploads that nobody will finish, so that no file hangs and no block stays.
func (s *Service) dropAbandoned(ctx context.Context, now time.Time) {
	s.mu.Lock()
	var abandoned []*file
	for _, f := range s.files {
		f.mu.Lock()
		if f.status == fileUploading && now.Sub(f.expires) > abandonedAfter {
			abandoned = append(abandoned, f)
		}
		f.mu.Unlock()
	}
	s.mu.Unlock()
	for _, f := range abandoned {
		if f.reporting.TryLock() {
			_ = s.failUpload(ctx, f, uploadReport{}, "the upload was not finished in time")
			f.reporting.Unlock()
		}
	}
}
