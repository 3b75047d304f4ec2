package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// maxProcessing bounds the files whose text is taken in at once: extraction is a matter of the processor.
const maxProcessing = 2

// needsText are the media types of documents whose text has to be extracted, and the extensions that
// tell them where the type says nothing.
var needsText = map[string][]string{
	"application/pdf":       {".pdf"},
	"text/html":             {".html", ".htm"},
	"application/xhtml+xml": {".xhtml"},
}

// needsProcessing follows the spec: files for retrieval, and any document needing text extraction.
func (f *file) needsProcessing() bool {
	media, _, _ := mime.ParseMediaType(f.contentType)
	if _, ok := needsText[media]; ok || f.purpose == "rag" {
		return true
	}
	if media != "application/octet-stream" {
		return false
	}
	extension := strings.ToLower(path.Ext(f.name))
	for _, extensions := range needsText {
		if slices.Contains(extensions, extension) {
			return true
		}
	}
	return false
}

// work returns a context that ends with the service, which waits for done; false once the service closes.
func (s *Service) work(parent context.Context) (ctx context.Context, done func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, false
	}
	s.works.Add(1)
	ctx, cancel := context.WithCancel(parent)
	stop := context.AfterFunc(s.working, cancel)
	return ctx, func() { stop(); cancel(); s.works.Done() }, true
}

// process takes a file's text in, behind the request that reported it. One that the service's end
// interrupts stays as it is, and is processed anew after the restart.
func (s *Service) process(f *file, faults *faults) {
	ctx, done, ok := s.work(context.Background())
	if !ok {
		return
	}
	go func() {
		defer done()
		select {
		case s.processing <- struct{}{}:
			defer func() { <-s.processing }()
		case <-ctx.Done():
			return
		}
		err := faults.processing(ctx)
		if err == nil {
			err = s.take(ctx, f)
		}
		if ctx.Err() != nil {
			return
		}
		_ = s.change(ctx, f, func() {
			if f.status = fileReady; err != nil {
				f.status, f.error = fileProcessingFailed, err.Error()
			}
		})
	}()
}

func (s *Service) take(ctx context.Context, f *file) (err error) {
	if s.cfg.Library == nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("library panicked", "file", f.id, "panic", fmt.Sprint(p))
			err = errors.New("the text could not be extracted: internal error")
		}
	}()
	body, err := s.cfg.Storage.Read(ctx, f.object())
	if err != nil {
		return fmt.Errorf("the stored bytes could not be read: %w", err)
	}
	defer body.Close()
	content, ok := body.(io.ReaderAt)
	if !ok {
		spool, err := os.CreateTemp("", "turnwire-document-")
		if err != nil {
			return err
		}
		defer os.Remove(spool.Name())
		defer spool.Close()
		if _, err := io.Copy(spool, interruptible{ctx, body}); err != nil {
			return fmt.Errorf("the stored bytes could not be read: %w", err)
		}
		content = spool
	}
	return s.cfg.Library.Add(ctx, Document{
		WorkspaceID: f.workspace, ID: f.id, Name: f.name, ContentType: f.contentType, Content: content, Size: f.size,
	})
}

// processing performs the faults of processing.
func (f *faults) processing(ctx context.Context) error {
	if delay := f.durationOr(faultProcessing, 0); delay > 0 {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if f.has(faultProcessingError) {
		return errors.New(f.values[faultProcessingError])
	}
	return nil
}
