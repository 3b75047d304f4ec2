package service_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-76f09577/turnwire/internal/service"
)

const uploads = "/v1/workspaces/demo/files/upload-url"

// bytes are those that the tests upload, in two blocks.
const blockOne, blockTwo = "the first block, ", "the second block"
const content = blockOne + blockTwo

// fileRecord is what endpoints 4, 6 and 7 answer, together.
type fileRecord struct {
	FileID      string `json:"file_id"`
	WorkspaceID string `json:"workspace_id"`
	Name        string
	Size        int64
	ContentType string `json:"content_type"`
	Purpose     string
	Checksum    string
	Status      string
	Error       string
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`

	Protocol  string
	UploadURL string    `json:"upload_url"`
	ExpiresAt time.Time `json:"expires_at"`
}

func body(v map[string]any) string {
	encoded, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(encoded)
}

func announced(more ...map[string]any) map[string]any {
	fields := map[string]any{"name": "notes.txt", "size": len(content), "content_type": "text/plain"}
	for _, m := range more {
		for name, value := range m {
			if fields[name] = value; value == nil {
				delete(fields, name)
			}
		}
	}
	return fields
}

func sum(of string) string {
	digest := sha256.Sum256([]byte(of))
	return hex.EncodeToString(digest[:])
}

func (s *server) file(method, path string, fields map[string]any, headers ...string) (int, fileRecord) {
	s.t.Helper()
	text := ""
	if fields != nil {
		text = body(fields)
	}
	resp, read := s.call(method, path, text, headers...)
	var record fileRecord
	require.NoError(s.t, json.Unmarshal([]byte(read), &record), read)
	return resp.StatusCode, record
}

// register announces a file.
func (s *server) register(more map[string]any, headers ...string) fileRecord {
	s.t.Helper()
	status, ticket := s.file("POST", uploads, announced(more), headers...)
	require.Equal(s.t, http.StatusCreated, status)
	require.Equal(s.t, "uploading", ticket.Status)
	return ticket
}

// put sends a body to a signed address, without the key, and returns the status; 0 where none came.
func (s *server) put(address, body string, headers ...string) int {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), "PUT", address, strings.NewReader(body))
	require.NoError(s.t, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := s.client.Do(r)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

func (s *server) block(address, id, body string) int {
	s.t.Helper()
	return s.put(address+"&comp=block&blockid="+url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(id))), body)
}

func (s *server) blockList(address string) int {
	s.t.Helper()
	return s.put(address+"&comp=blocklist", "<BlockList><Latest>MQ==</Latest><Latest>Mg==</Latest></BlockList>")
}

func (s *server) putBlocks(address string) {
	s.t.Helper()
	require.Equal(s.t, 201, s.block(address, "1", blockOne))
	require.Equal(s.t, 201, s.block(address, "2", blockTwo))
	require.Equal(s.t, 201, s.blockList(address))
}

func (s *server) report(id string, fields map[string]any, headers ...string) (int, fileRecord) {
	s.t.Helper()
	return s.file("PATCH", "/v1/files/"+id, fields, headers...)
}

func (s *server) record(id string) fileRecord {
	s.t.Helper()
	status, record := s.file("GET", "/v1/files/"+id, nil)
	require.Equal(s.t, http.StatusOK, status)
	return record
}

// becomes waits until a file has a status.
func (s *server) becomes(id, status string) fileRecord {
	s.t.Helper()
	s.logs.wait(s.t, "file "+status, map[string]any{"file": id})
	record := s.record(id)
	require.Equal(s.t, status, record.Status)
	return record
}

func TestUpload(t *testing.T) {
	digest := sha256.Sum256([]byte(content))
	for name, c := range map[string]struct{ before, after, shown string }{
		"no checksum":         {"", "", sum(content)},
		"hex before":          {sum(content), "", sum(content)},
		"hex after":           {"", sum(content), sum(content)},
		"upper case":          {"", strings.ToUpper(sum(content)), strings.ToUpper(sum(content))},
		"base64":              {"", base64.StdEncoding.EncodeToString(digest[:]), base64.StdEncoding.EncodeToString(digest[:])},
		"base64 url":          {base64.RawURLEncoding.EncodeToString(digest[:]), "", base64.RawURLEncoding.EncodeToString(digest[:])},
		"one of each, agreed": {base64.StdEncoding.EncodeToString(digest[:]), sum(content), sum(content)},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			more, said := map[string]any{"later": true}, map[string]any{"status": "uploaded", "size": len(content)}
			if c.before != "" {
				more["checksum"] = c.before
			}
			if c.after != "" {
				said["checksum"] = c.after
			}
			ticket := s.register(more)
			require.Equal(t, "azure-block", ticket.Protocol)
			require.True(t, strings.HasPrefix(ticket.UploadURL, s.url+"/storage/"+ticket.FileID+"?"))
			require.WithinDuration(t, time.Now().Add(time.Hour), ticket.ExpiresAt, time.Minute)
			before := s.record(ticket.FileID)
			require.Equal(t, "uploading", before.Status)
			s.putBlocks(ticket.UploadURL)
			status, record := s.report(ticket.FileID, said)
			require.Equal(t, 200, status)
			require.Equal(t, fileRecord{FileID: ticket.FileID, WorkspaceID: "demo", Name: "notes.txt", Size: int64(len(content)),
				ContentType: "text/plain", Checksum: c.shown, Status: "ready", CreatedAt: before.CreatedAt, UpdatedAt: record.UpdatedAt}, record)
			require.Equal(t, record, s.record(ticket.FileID))
			require.NotContains(t, s.logs.String(), "sig=")
		})
	}
}

func TestUploadRequestsAreChecked(t *testing.T) {
	s := serve(t)
	for name, c := range map[string]struct {
		change map[string]any
		param  string
	}{
		"no name":               {map[string]any{"name": nil}, "name"},
		"empty name":            {map[string]any{"name": ""}, "name"},
		"name too long":         {map[string]any{"name": strings.Repeat("n", 1025)}, "name"},
		"no size":               {map[string]any{"size": nil}, "size"},
		"negative size":         {map[string]any{"size": -1}, "size"},
		"size with a fraction":  {map[string]any{"size": 1.5}, "size"},
		"size in words":         {map[string]any{"size": "9"}, "size"},
		"size over all":         {map[string]any{"size": int64(1)<<42 + 1}, "size"},
		"no content type":       {map[string]any{"content_type": nil}, "content_type"},
		"content type of none":  {map[string]any{"content_type": "text"}, "content_type"},
		"checksum of too few":   {map[string]any{"checksum": "abc"}, "checksum"},
		"checksum of no digits": {map[string]any{"checksum": strings.Repeat("x!", 32)}, "checksum"},
		"purpose of no text":    {map[string]any{"purpose": 1}, "purpose"},
		"file_id of no text":    {map[string]any{"file_id": 1}, "file_id"},
	} {
		t.Run(name, func(t *testing.T) {
			resp, read := s.call("POST", uploads, body(announced(c.change)))
			require.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode)
			require.Equal(t, "invalid_field", errorCode(t, resp, read))
			require.Contains(t, read, `"param":"`+c.param+`"`)
		})
	}
	t.Run("no workspace", func(t *testing.T) {
		resp, read := s.call("POST", "/v1/workspaces/other/files/upload-url", body(announced()))
		require.Equal(t, "workspace_not_found", errorCode(t, resp, read))
	})
	t.Run("no key", func(t *testing.T) {
		resp, read := s.call("POST", uploads, body(announced()), "Authorization", "")
		require.Equal(t, "missing_api_key", errorCode(t, resp, read))
	})
	t.Run("no storage", func(t *testing.T) {
		s := serve(t, func(cfg *service.Config) { cfg.Storage = nil })
		resp, read := s.call("POST", uploads, body(announced()))
		require.Equal(t, "no_storage", errorCode(t, resp, read))
	})
}

func TestRenewal(t *testing.T) {
	s := serve(t, func(cfg *service.Config) { cfg.Workspaces = []string{"demo", "other"} })
	ticket := s.register(nil)
	done := s.register(nil)
	s.report(done.FileID, map[string]any{"status": "upload_failed"})
	for name, c := range map[string]struct {
		path, id string
		change   map[string]any
		status   int
		code     string
	}{
		"same file":       {uploads, ticket.FileID, nil, 200, ""},
		"other name":      {uploads, ticket.FileID, map[string]any{"name": "n"}, 409, "file_differs"},
		"other size":      {uploads, ticket.FileID, map[string]any{"size": 1}, 409, "file_differs"},
		"over":            {uploads, done.FileID, nil, 409, "file_not_uploading"},
		"no such":         {uploads, "file_x", nil, 404, "file_not_found"},
		"other workspace": {"/v1/workspaces/other/files/upload-url", ticket.FileID, nil, 404, "file_not_found"},
	} {
		t.Run(name, func(t *testing.T) {
			resp, read := s.call("POST", c.path, body(announced(c.change, map[string]any{"file_id": c.id})))
			require.Equal(t, c.status, resp.StatusCode, read)
			if c.code != "" {
				require.Equal(t, c.code, errorCode(t, resp, read))
				return
			}
			var again fileRecord
			require.NoError(t, json.Unmarshal([]byte(read), &again))
			require.Equal(t, ticket.FileID, again.FileID)
			require.Equal(t, 201, s.block(ticket.UploadURL, "1", blockOne))
			require.Equal(t, 201, s.block(again.UploadURL, "2", blockTwo))
			require.Equal(t, 201, s.blockList(again.UploadURL))
		})
	}
}
