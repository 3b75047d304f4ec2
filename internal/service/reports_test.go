package service_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReports(t *testing.T) {
	whole := func(s *server, address string) { s.putBlocks(address) }
	uploaded := map[string]any{"status": "uploaded"}
	for name, c := range map[string]struct {
		announce map[string]any
		put      func(s *server, address string)
		report   map[string]any
		status   string
		says     string
	}{
		"the least":           {nil, whole, uploaded, "ready", ""},
		"other size reported": {nil, whole, map[string]any{"status": "uploaded", "size": 1}, "upload_failed", "33 bytes were announced, 1 reported"},
		"fewer bytes":         {map[string]any{"size": 40}, whole, uploaded, "upload_failed", "40 bytes were announced, 33 stored"},
		"more bytes":          {map[string]any{"size": 4}, whole, uploaded, "upload_failed", "4 bytes were announced, 33 stored"},
		"other checksum":      {nil, whole, map[string]any{"status": "uploaded", "checksum": sum("x")}, "upload_failed", "the SHA-256 of the stored bytes is " + sum(content) + ", not " + sum("x")},
		"other before":        {map[string]any{"checksum": sum("x")}, whole, map[string]any{"status": "uploaded", "checksum": sum(content)}, "upload_failed", "not " + sum("x")},
		"nothing put":         {nil, func(*server, string) {}, uploaded, "upload_failed", "no bytes arrived"},
		"no block list":       {nil, func(s *server, address string) { s.block(address, "1", content) }, uploaded, "upload_failed", "not completed"},
		"empty": {map[string]any{"size": 0}, func(s *server, address string) { s.put(address, "", "x-ms-blob-type", "BlockBlob") },
			map[string]any{"status": "uploaded", "size": 0, "checksum": sum("")}, "ready", ""},
		"failed":             {nil, whole, map[string]any{"status": "upload_failed", "error": "the user left"}, "upload_failed", "the user left"},
		"failed, no reason":  {nil, whole, map[string]any{"status": "upload_failed"}, "upload_failed", "the client reported"},
		"failed, long error": {nil, whole, map[string]any{"status": "upload_failed", "error": strings.Repeat("é", 3000)}, "upload_failed", "é"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			ticket := s.register(c.announce)
			c.put(s, ticket.UploadURL)
			status, record := s.report(ticket.FileID, c.report)
			require.Equal(t, 200, status)
			require.Equal(t, c.status, record.Status)
			require.Contains(t, record.Error, c.says)
			require.LessOrEqual(t, len([]rune(record.Error)), 2000)
			again, repeated := s.report(ticket.FileID, c.report)
			require.Equal(t, 200, again)
			require.Equal(t, record, repeated, "the same report gives the same record")
			after := s.block(ticket.UploadURL, "9", "late")
			if c.status == "ready" {
				require.Equal(t, 409, after)
			} else {
				require.Equal(t, 404, after, "what failed is removed")
			}
		})
	}
}

func TestReportsAreChecked(t *testing.T) {
	s := serve(t)
	ticket := s.register(nil)
	for name, c := range map[string]struct{ fields, param string }{
		"no status":       {`{}`, "status"},
		"other status":    {`{"status":"ready"}`, "status"},
		"negative size":   {`{"status":"uploaded","size":-1}`, "size"},
		"size null":       {`{"status":"uploaded","size":null}`, "size"},
		"no checksum":     {`{"status":"uploaded","checksum":"00"}`, "checksum"},
		"error of no use": {`{"status":"upload_failed","error":7}`, "error"},
	} {
		t.Run(name, func(t *testing.T) {
			resp, read := s.call("PATCH", "/v1/files/"+ticket.FileID, c.fields)
			require.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode)
			require.Contains(t, read, `"param":"`+c.param+`"`)
		})
	}
	require.Equal(t, "uploading", s.record(ticket.FileID).Status)
	for _, method := range []string{"GET", "PATCH"} {
		resp, read := s.call(method, "/v1/files/file_x", `{"status":"uploaded"}`)
		require.Equal(t, "file_not_found", errorCode(t, resp, read))
	}
	resp, _ := s.call("POST", "/v1/files/"+ticket.FileID, "")
	require.Equal(t, "GET, PATCH, OPTIONS", resp.Header.Get("Allow"))
	resp, _ = s.call("OPTIONS", "/v1/files/"+ticket.FileID, "")
	require.Equal(t, "GET, PATCH", resp.Header.Get("Access-Control-Allow-Methods"))
}

func TestContradictions(t *testing.T) {
	good := map[string]any{"status": "uploaded", "checksum": sum(content)}
	bad := map[string]any{"status": "uploaded", "checksum": sum("x")}
	failed := map[string]any{"status": "upload_failed", "error": "why"}
	for name, c := range map[string]struct {
		first, second map[string]any
		status        int
	}{
		"failed after ready":         {good, failed, 409},
		"other sum after ready":      {good, bad, 409},
		"other size after ready":     {good, map[string]any{"status": "uploaded", "checksum": sum(content), "size": 33}, 409},
		"other form of the same sum": {good, map[string]any{"status": "uploaded", "checksum": strings.ToUpper(sum(content))}, 200},
		"uploaded after failed":      {failed, good, 409},
		"failed again":               {failed, map[string]any{"status": "upload_failed", "error": "another"}, 200},
		"failed after a mismatch":    {bad, failed, 200},
		"good after a mismatch":      {bad, good, 409},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			ticket := s.register(nil)
			s.putBlocks(ticket.UploadURL)
			_, first := s.report(ticket.FileID, c.first)
			resp, read := s.call("PATCH", "/v1/files/"+ticket.FileID, body(c.second))
			require.Equal(t, c.status, resp.StatusCode)
			if c.status == 409 {
				require.Equal(t, "already_reported", errorCode(t, resp, read))
			}
			require.Equal(t, first, s.record(ticket.FileID))
		})
	}
}

func TestReportsAtOnce(t *testing.T) {
	s := serve(t)
	ticket := s.register(nil)
	s.putBlocks(ticket.UploadURL)
	var mu sync.Mutex
	var all sync.WaitGroup
	seen := map[fileRecord]int{}
	for range 20 {
		all.Go(func() {
			_, record := s.report(ticket.FileID, map[string]any{"status": "uploaded", "size": len(content)})
			mu.Lock()
			defer mu.Unlock()
			seen[record]++
		})
	}
	all.Wait()
	require.Len(t, seen, 1)
}
