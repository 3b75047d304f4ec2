package service_test

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-76f09577/turnwire/internal/blobstore"
	"github.com/seed-76f09577/turnwire/internal/service"
)

// shelf is a library in one function.
type shelf func(ctx context.Context, d service.Document) error

func (l shelf) Add(ctx context.Context, d service.Document) error { return l(ctx, d) }

func withLibrary(l shelf) func(*service.Config) {
	return func(cfg *service.Config) { cfg.Library = l }
}

// stored keeps a service and its storage in a folder.
func stored(t *testing.T, dir string) func(*service.Config) {
	return func(cfg *service.Config) {
		store, err := blobstore.Open(blobstore.Config{Dir: filepath.Join(dir, "storage"), Now: cfg.Now})
		require.NoError(t, err)
		cfg.Dir, cfg.Storage = dir, store
	}
}

func TestProcessing(t *testing.T) {
	rag := map[string]any{"purpose": "rag"}
	for name, c := range map[string]struct {
		announce map[string]any
		err      error
		path     []string
	}{
		"for retrieval":   {rag, nil, []string{"processing", "ready"}},
		"fails":           {rag, errors.New("no text in it"), []string{"processing", "processing_failed"}},
		"a PDF":           {map[string]any{"content_type": "application/pdf"}, nil, []string{"processing", "ready"}},
		"HTML, with more": {map[string]any{"content_type": "text/html; charset=utf-8"}, nil, []string{"processing", "ready"}},
		"by its name":     {map[string]any{"content_type": "application/octet-stream", "name": "a.PDF"}, nil, []string{"processing", "ready"}},
		"plain text":      {nil, nil, []string{"ready"}},
	} {
		t.Run(name, func(t *testing.T) {
			let := make(chan struct{})
			var got service.Document
			s := serve(t, withLibrary(func(_ context.Context, d service.Document) error {
				<-let
				got = d
				read, err := io.ReadAll(io.NewSectionReader(d.Content, 0, d.Size))
				require.NoError(t, err)
				require.Equal(t, content, string(read))
				return c.err
			}))
			ticket := s.register(c.announce)
			s.putBlocks(ticket.UploadURL)
			_, record := s.report(ticket.FileID, map[string]any{"status": "uploaded"})
			require.Equal(t, c.path[0], record.Status)
			require.Equal(t, record, s.record(ticket.FileID))
			close(let)
			record = s.becomes(ticket.FileID, c.path[len(c.path)-1])
			if len(c.path) == 1 {
				return
			}
			require.Equal(t, ticket.FileID, got.ID)
			require.Equal(t, "demo", got.WorkspaceID)
			require.Equal(t, record.Name, got.Name)
			require.Equal(t, record.ContentType, got.ContentType)
			if c.err != nil {
				require.Equal(t, c.err.Error(), record.Error)
			}
			resp, _ := s.call("PATCH", "/v1/files/"+ticket.FileID, `{"status":"upload_failed"}`)
			require.Equal(t, 409, resp.StatusCode)
		})
	}
	t.Run("from a storage of streams", func(t *testing.T) {
		texts := make(chan string, 1)
		s := serve(t, withLibrary(func(_ context.Context, d service.Document) error {
			read, err := io.ReadAll(io.NewSectionReader(d.Content, 0, d.Size))
			texts <- string(read)
			return err
		}), func(cfg *service.Config) { cfg.Storage = streams{cfg.Storage.(service.StorageServer)} })
		ticket := s.register(rag)
		s.putBlocks(ticket.UploadURL)
		s.report(ticket.FileID, map[string]any{"status": "uploaded"})
		s.becomes(ticket.FileID, "ready")
		require.Equal(t, content, <-texts)
	})
	t.Run("panics", func(t *testing.T) {
		s := serve(t, withLibrary(func(context.Context, service.Document) error { panic("broken") }))
		ticket := s.register(rag)
		s.putBlocks(ticket.UploadURL)
		s.report(ticket.FileID, map[string]any{"status": "uploaded"})
		require.Contains(t, s.becomes(ticket.FileID, "processing_failed").Error, "internal error")
	})
}

func TestFilesSurvive(t *testing.T) {
	dir := t.TempDir()
	entered := make(chan struct{})
	s := serve(t, stored(t, dir), withLibrary(func(ctx context.Context, _ service.Document) error {
		close(entered)
		<-ctx.Done()
		return ctx.Err()
	}))
	ready, failed, waiting, open := s.register(nil), s.register(nil), s.register(map[string]any{"purpose": "rag"}), s.register(nil)
	s.putBlocks(ready.UploadURL)
	s.report(ready.FileID, map[string]any{"status": "uploaded", "checksum": sum(content)})
	s.report(failed.FileID, map[string]any{"status": "upload_failed", "error": "why"})
	s.putBlocks(waiting.UploadURL)
	s.report(waiting.FileID, map[string]any{"status": "uploaded"})
	require.Equal(t, 201, s.block(open.UploadURL, "1", blockOne))
	<-entered
	var before []fileRecord
	for _, f := range []fileRecord{ready, failed, open} {
		before = append(before, s.record(f.FileID))
	}
	s.stop()

	processed := make(chan service.Document, 1)
	s2 := serve(t, stored(t, dir), withLibrary(func(_ context.Context, d service.Document) error {
		processed <- d
		return nil
	}))
	for _, record := range before {
		require.Equal(t, record, s2.record(record.FileID))
	}
	require.Equal(t, waiting.FileID, (<-processed).ID)
	s2.becomes(waiting.FileID, "ready")
	address := strings.Replace(open.UploadURL, s.url, s2.url, 1)
	require.Equal(t, 201, s2.block(address, "2", blockTwo))
	require.Equal(t, 201, s2.blockList(address))
	_, record := s2.report(open.FileID, map[string]any{"status": "uploaded", "checksum": sum(content)})
	require.Equal(t, "ready", record.Status)
	status, _ := s2.report(ready.FileID, map[string]any{"status": "uploaded", "checksum": sum(content)})
	require.Equal(t, 200, status, "a report repeated after the restart")
	resp, _ := s2.call("PATCH", "/v1/files/"+failed.FileID, `{"status":"uploaded"}`)
	require.Equal(t, 409, resp.StatusCode)
}

// streams is a storage whose bytes can't be read at an offset, as those of real stores.
type streams struct{ service.StorageServer }

func (s streams) Read(ctx context.Context, o service.Object) (io.ReadCloser, error) {
	body, err := s.StorageServer.Read(ctx, o)
	return struct{ io.ReadCloser }{body}, err
}

// reading is a storage whose reads wait until they are let go.
type reading struct {
	service.StorageServer
	entered chan struct{}
	let     chan struct{}
}

func (r *reading) Read(ctx context.Context, o service.Object) (io.ReadCloser, error) {
	body, err := r.StorageServer.Read(ctx, o)
	return struct {
		io.Reader
		io.Closer
	}{&gate{Reader: body, entered: r.entered, let: r.let}, body}, err
}

type gate struct {
	io.Reader
	entered, let chan struct{}
	once         sync.Once
}

func (g *gate) Read(p []byte) (int, error) {
	g.once.Do(func() { close(g.entered); <-g.let })
	return g.Reader.Read(p)
}

func TestClosingStopsACheck(t *testing.T) {
	slow := &reading{entered: make(chan struct{}), let: make(chan struct{})}
	dir := t.TempDir()
	s := serve(t, stored(t, dir), func(cfg *service.Config) {
		slow.StorageServer = cfg.Storage.(service.StorageServer)
		cfg.Storage = slow
	})
	ticket := s.register(nil)
	s.putBlocks(ticket.UploadURL)
	answered := make(chan string)
	go func() {
		resp, read := s.call("PATCH", "/v1/files/"+ticket.FileID, `{"status":"uploaded"}`)
		answered <- resp.Status + read
	}()
	<-slow.entered
	closed := make(chan error)
	go func() { closed <- s.svc.Close(context.Background()) }()
	for status := 200; status != 503; {
		resp, _ := s.call("POST", uploads, body(announced()))
		status = resp.StatusCode
	}
	close(slow.let)
	require.Contains(t, <-answered, "shutting_down")
	require.NoError(t, <-closed)
	s.stop()
	again := serve(t, stored(t, dir))
	_, record := again.report(ticket.FileID, map[string]any{"status": "uploaded"})
	require.Equal(t, "ready", record.Status)
}

func TestAbandonedUploadsEnd(t *testing.T) {
	clock := &fakeClock{at: time.Now()}
	s := serve(t, func(cfg *service.Config) { cfg.Now = clock.now })
	old := s.register(nil)
	clock.advance(25*time.Hour + time.Second)
	s.register(nil)
	record := s.record(old.FileID)
	require.Equal(t, "upload_failed", record.Status)
	require.Contains(t, record.Error, "not finished in time")
	require.Equal(t, 404, s.block(old.UploadURL, "1", blockOne))
}

func TestABrokenJournalIsSaid(t *testing.T) {
	s := serve(t, stored(t, t.TempDir()))
	ticket := s.register(nil)
	s.putBlocks(ticket.UploadURL)
	require.NoError(t, s.svc.BreakStorage())
	resp, read := s.call("POST", uploads, body(announced()))
	require.Equal(t, 500, resp.StatusCode)
	require.Equal(t, "storage_failed", errorCode(t, resp, read))
	for _, status := range []string{"uploaded", "upload_failed"} {
		resp, _ = s.call("PATCH", "/v1/files/"+ticket.FileID, body(map[string]any{"status": status}))
		require.Equal(t, 500, resp.StatusCode)
		require.Equal(t, "uploading", s.record(ticket.FileID).Status)
	}
}
