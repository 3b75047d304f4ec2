package service

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
)

// keptError bounds, in characters, what is kept of why an upload failed.
const keptError = 2000

const checksumForm = "checksum must be a SHA-256, as 64 hexadecimal digits or as base64"

// uploadReport is the body of endpoint 6. Size is -1 where it is not given.
type uploadReport struct {
	Status   fileStatus `json:"status"`
	Size     int64      `json:"size"`
	Checksum string     `json:"checksum,omitempty"`
	Error    string     `json:"error,omitempty"`
}

// uploaded is the status of a report that all bytes arrived; it is no status of a file.
const uploaded fileStatus = "uploaded"

func parseReport(fields map[string]json.RawMessage) (uploadReport, *apiError) {
	report := uploadReport{Size: -1}
	var status string
	for _, field := range []struct {
		name     string
		required bool
		to       *string
	}{{"status", true, &status}, {"checksum", false, &report.Checksum}, {"error", false, &report.Error}} {
		if problem := stringField(fields, field.name, field.required, field.to); problem != nil {
			return report, problem
		}
	}
	report.Status = fileStatus(status)
	if report.Status != uploaded && report.Status != fileUploadFailed {
		return report, invalid("status", "status must be uploaded or upload_failed")
	}
	if report.Checksum != "" && digestOf(report.Checksum) == nil {
		return report, invalid("checksum", checksumForm)
	}
	if _, ok := fields["size"]; ok {
		size, problem := sizeField(fields)
		if problem != nil {
			return report, problem
		}
		report.Size = size
	}
	if r := []rune(report.Error); len(r) > keptError {
		report.Error = string(r[:keptError])
	}
	return report, nil
}

// agrees tells whether a report says the same as the first one: of a failure, that it failed.
func (r uploadReport) agrees(first uploadReport) bool {
	if r.Status != first.Status {
		return false
	}
	return r.Status == fileUploadFailed || r.Size == first.Size && bytes.Equal(digestOf(r.Checksum), digestOf(first.Checksum))
}

// reportFile is endpoint 6 of the spec. The same report again gives the same record, another one is a
// conflict. It answers when the bytes have been checked; processing goes on behind it.
func (s *Service) reportFile(w http.ResponseWriter, r *http.Request, f *faults) *apiError {
	found, problem := s.findFile(r.PathValue("file_id"))
	if problem != nil {
		return problem
	}
	fields, _, problem := readObject(w, r)
	if problem != nil {
		return problem
	}
	report, problem := parseReport(fields)
	if problem != nil {
		return problem
	}
	// A page that leaves, as after an upload it usually does, does not stop the check.
	ctx, done, ok := s.work(context.WithoutCancel(r.Context()))
	if !ok {
		return shuttingDown()
	}
	defer done()
	found.reporting.Lock()
	defer found.reporting.Unlock()
	if status := found.record().Status; status != fileUploading {
		found.mu.Lock()
		first := found.report
		found.mu.Unlock()
		// A client that gives up is right about a file that failed, whoever found out first.
		if !report.agrees(first) && (report.Status != fileUploadFailed || status != fileUploadFailed) {
			return failure(http.StatusConflict, "already_reported", "the file was reported otherwise before, it is "+string(status))
		}
		f.writeFile(w, found.record())
		return nil
	}
	if problem := s.settle(ctx, found, report, f); problem != nil {
		return problem
	}
	f.writeFile(w, found.record())
	return nil
}

// settle takes the first report of a file. found.reporting must be held.
func (s *Service) settle(ctx context.Context, found *file, report uploadReport, f *faults) *apiError {
	if report.Status == fileUploadFailed {
		reason := report.Error
		if reason == "" {
			reason = "the client reported that the upload failed"
		}
		return s.failUpload(ctx, found, report, reason)
	}
	sum, reason, err := s.verify(ctx, found, report)
	switch {
	case ctx.Err() != nil:
		return shuttingDown()
	case err != nil:
		s.log.Error("object not read", "file", found.id, "error", err)
		return unavailable("storage_failed", "the stored bytes could not be read")
	case reason != "":
		return s.failUpload(ctx, found, report, reason)
	}
	status := fileReady
	if found.needsProcessing() {
		status = fileProcessing
	}
	problem := s.change(ctx, found, func() {
		found.status, found.report = status, report
		if report.Checksum != "" {
			found.checksum = report.Checksum
		}
		if found.checksum == "" {
			found.checksum = sum
		}
	})
	if problem != nil {
		return problem
	}
	if status == fileProcessing {
		s.process(found, f)
	}
	return nil
}

// failUpload ends an upload and removes what was stored of it. f.reporting must be held.
func (s *Service) failUpload(ctx context.Context, f *file, report uploadReport, reason string) *apiError {
	if problem := s.change(ctx, f, func() { f.status, f.error, f.report = fileUploadFailed, reason, report }); problem != nil {
		return problem
	}
	if err := s.cfg.Storage.Remove(ctx, f.object()); err != nil {
		s.log.Error("object not removed", "file", f.id, "error", err)
	}
	return nil
}

// verify reads the stored bytes and compares them with all that was said of them. reason tells what is
// wrong with them; err says that they could not be read.
func (s *Service) verify(ctx context.Context, f *file, report uploadReport) (sum, reason string, err error) {
	object, announced := f.object(), f.record()
	if report.Size >= 0 && report.Size != announced.Size {
		return "", fmt.Sprintf("%d bytes were announced, %d reported", announced.Size, report.Size), nil
	}
	body, err := s.cfg.Storage.Read(ctx, object)
	if errors.Is(err, ErrNoBytes) {
		return "", "the storage has no complete object: no bytes arrived, or the upload was not completed", nil
	}
	if err != nil {
		return "", "", err
	}
	defer body.Close()
	hash := sha256.New()
	n, err := io.Copy(hash, interruptible{ctx, body})
	if err != nil {
		return "", "", err
	}
	if n != announced.Size {
		return "", fmt.Sprintf("%d bytes were announced, %d stored", announced.Size, n), nil
	}
	digest := hash.Sum(nil)
	for _, want := range []string{announced.Checksum, report.Checksum} {
		if want != "" && !bytes.Equal(digestOf(want), digest) {
			return "", "the SHA-256 of the stored bytes is " + hex.EncodeToString(digest) + ", not " + hex.EncodeToString(digestOf(want)), nil
		}
	}
	return hex.EncodeToString(digest), "", nil
}

// interruptible ends a long read with its context.
type interruptible struct {
	ctx context.Context
	io.Reader
}

func (r interruptible) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// digestOf decodes a SHA-256 in hex or in any base64, nil where it is neither.
func digestOf(text string) []byte {
	if len(text) == 2*sha256.Size {
		if digest, err := hex.DecodeString(text); err == nil {
			return digest
		}
	}
	standard := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	digest, err := base64.RawStdEncoding.DecodeString(standard)
	if err != nil || len(digest) != sha256.Size {
		return nil
	}
	return digest
}

func mediaType(text string) bool {
	media, _, err := mime.ParseMediaType(text)
	return err == nil && strings.Contains(media, "/")
}
