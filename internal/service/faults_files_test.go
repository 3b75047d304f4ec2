package service_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-76f09577/turnwire/internal/blobstore"
	"github.com/seed-76f09577/turnwire/internal/service"
)

// step is one of the requests about files, as one with faults.
func (s *server) step(name, id, fault string) (*http.Response, string, error) {
	s.t.Helper()
	method, path, fields := "POST", uploads, announced()
	switch name {
	case "renewal":
		fields["file_id"] = id
	case "report":
		method, path, fields = "PATCH", "/v1/files/"+id, map[string]any{"status": "uploaded"}
	case "file":
		method, path, fields = "GET", "/v1/files/"+id, nil
	}
	text := ""
	if fields != nil {
		text = body(fields)
	}
	resp, err := s.do(s.t.Context(), method, path, text, "X-Fault", fault)
	if err != nil {
		return nil, "", err
	}
	return resp, read(s.t, resp), nil
}

func TestFaultsOfEachStep(t *testing.T) {
	for _, step := range []string{"upload-url", "renewal", "report", "file"} {
		for name, c := range map[string]struct {
			fault  string
			status []int // of one request after another, 0 for none
		}{
			"status":          {"status=503&retry_after=1&times=1", []int{503, 2}},
			"refused":         {"refuse=1&times=2", []int{0, 0, 2}},
			"late":            {"delay_ms=1", []int{2}},
			"answer lost":     {"lost_answer=1&times=1", []int{0, 2}},
			"not the first":   {"status=429&after=1&times=1", []int{2, 429, 2}},
			"all but first":   {"status=500&after=1", []int{2, 500, 500}},
			"one, then other": {"status=500&times=1;status=429&after=1&times=1", []int{500, 429, 2}},
			"on this":         {"status=500&on=" + step, []int{500}},
			"two on this":     {"status=500&on=" + step + "; retry_after=7&on=" + step, []int{500}},
			"not on another":  {"status=500&on=chats", []int{2}},
			"not on a block":  {"status=500&on=block", []int{2}},
		} {
			t.Run(step+" "+name, func(t *testing.T) {
				s := serve(t)
				id := s.register(nil).FileID
				if step == "report" {
					s.putBlocks(s.renewed(id))
				}
				for _, want := range c.status {
					resp, body, err := s.step(step, id, c.fault)
					switch {
					case want == 0:
						require.Error(t, err)
					case want == 2:
						require.NoError(t, err)
						require.Equal(t, 2, resp.StatusCode/100, body)
					default:
						require.NoError(t, err)
						require.Equal(t, want, resp.StatusCode, body)
					}
				}
			})
		}
	}
}

// renewed gives a new address of a file.
func (s *server) renewed(id string) string {
	s.t.Helper()
	status, ticket := s.file("POST", uploads, announced(map[string]any{"file_id": id}))
	require.Equal(s.t, http.StatusOK, status)
	return ticket.UploadURL
}

func TestALostAnswerIsNoLostReport(t *testing.T) {
	s := serve(t)
	ticket := s.register(nil)
	s.putBlocks(ticket.UploadURL)
	_, _, err := s.step("report", ticket.FileID, "lost_answer=1&times=1")
	require.Error(t, err)
	require.Equal(t, "ready", s.record(ticket.FileID).Status)
	resp, _, err := s.step("report", ticket.FileID, "lost_answer=1&times=1")
	require.NoError(t, err)
	require.Equal(t, 200, resp.StatusCode)
}

func TestFaultsCountForThemselves(t *testing.T) {
	s := serve(t)
	one, two := s.register(nil).FileID, s.register(nil).FileID
	for _, id := range []string{one, two} {
		resp, _, _ := s.step("file", id, "status=503&times=1")
		require.Equal(t, 503, resp.StatusCode, "each file counts for itself")
	}
	for _, tag := range []string{"a", "b"} {
		resp, _, _ := s.step("upload-url", "", "status=503&times=1&tag="+tag)
		require.Equal(t, 503, resp.StatusCode, "each tag counts for itself")
	}
}

func TestTicketShapes(t *testing.T) {
	s := serve(t)
	for shape, pattern := range map[string]string{
		"put":         `^\{"file_id":"file_[0-9a-f-]{36}","status":"uploading","protocol":"put","upload_url":"http://[^"]+\?expires=[^"]+","method":"PUT","expires_at":"[^"]+"\}\n$`,
		"bare":        `^\{"file_id":"file_[0-9a-f-]{36}","upload_url":"http://[^"]+"\}\n$`,
		"other_names": `^\{"id":"file_[0-9a-f-]{36}","signed_url":"http://[^"]+"\}\n$`,
		"nested":      `^\{"file":\{"file_id":"file_[0-9a-f-]{36}","status":"uploading"\},"url":"http://[^"]+"\}\n$`,
		"nested_id":   `^\{"file":\{"id":"file_[0-9a-f-]{36}"\},"upload_url":"http://[^"]+"\}\n$`,
		"no_address":  `^\{"file_id":"file_[0-9a-f-]{36}","status":"uploading","expires_at":"[^"]+"\}\n$`,
		"no_id":       `^\{"upload_url":"http://[^"]+"\}\n$`,
	} {
		t.Run(shape, func(t *testing.T) {
			resp, body, err := s.step("upload-url", "", "ticket="+shape)
			require.NoError(t, err)
			require.Equal(t, 201, resp.StatusCode)
			require.Regexp(t, pattern, strings.ReplaceAll(body, `\u0026`, "&"))
		})
	}
	t.Run("a plain PUT works", func(t *testing.T) {
		_, ticket := s.file("POST", uploads, announced(), "X-Fault", "ticket=put")
		require.Equal(t, 201, s.put(ticket.UploadURL, content))
		_, record := s.report(ticket.FileID, map[string]any{"status": "uploaded"})
		require.Equal(t, "ready", record.Status)
	})
}

func TestFaultOtherFile(t *testing.T) {
	s := serve(t)
	first := s.register(nil, "X-Fault", "other_file=1&on=renewal")
	status, second := s.file("POST", uploads, announced(map[string]any{"file_id": first.FileID}), "X-Fault", "other_file=1&on=renewal")
	require.Equal(t, 201, status)
	require.NotEqual(t, first.FileID, second.FileID)
}

func TestFaultExpires(t *testing.T) {
	clock := &fakeClock{at: time.Now()}
	s := serve(t, func(cfg *service.Config) { cfg.Now = clock.now }, stored(t, t.TempDir()))
	const fault = "expires_ms=500&on=upload-url"
	ticket := s.register(nil, "X-Fault", fault)
	require.WithinDuration(t, clock.now().Add(500*time.Millisecond), ticket.ExpiresAt, time.Millisecond)
	require.Equal(t, 201, s.block(ticket.UploadURL, "1", blockOne))
	clock.advance(time.Second)
	require.Equal(t, 403, s.block(ticket.UploadURL, "2", blockTwo))
	status, again := s.file("POST", uploads, announced(map[string]any{"file_id": ticket.FileID}), "X-Fault", fault)
	require.Equal(t, 200, status)
	require.Equal(t, 201, s.block(again.UploadURL, "2", blockTwo))
	require.Equal(t, 201, s.blockList(again.UploadURL))
}

func TestFaultsOfProcessing(t *testing.T) {
	rag := map[string]any{"purpose": "rag"}
	upload := func(s *server, fault string) string {
		ticket := s.register(rag)
		s.putBlocks(ticket.UploadURL)
		status, _ := s.report(ticket.FileID, map[string]any{"status": "uploaded"}, "X-Fault", fault)
		require.Equal(t, 200, status)
		return ticket.FileID
	}
	s := serve(t)
	s.becomes(upload(s, "processing_ms=1"), "ready")
	require.Equal(t, "no text layer", s.becomes(upload(s, "processing_error=no+text+layer&on=report"), "processing_failed").Error)
	id := upload(s, "processing_ms=86400000")
	require.Equal(t, "processing", s.record(id).Status)
	_, record := s.file("GET", "/v1/files/"+id, nil, "X-Fault", "file_status=scanning")
	require.Equal(t, "scanning", record.Status)
	s.stop()
}

// storageRequest is one entry of /debug/storage.
type storageRequest struct {
	FileID    string `json:"file_id"`
	Method    string
	Operation string
	BlockID   string `json:"block_id"`
	Bytes     int64
	Headers   []string
	Status    int
	Finished  bool
}

func (s *server) storage(id string) []storageRequest {
	s.t.Helper()
	_, body := s.call("GET", "/debug/storage?file_id="+id, "")
	var requests []storageRequest
	require.NoError(s.t, json.Unmarshal([]byte(body), &requests))
	return requests
}

func TestFaultsOfTheStorage(t *testing.T) {
	for name, c := range map[string]struct {
		fault  string
		status []int // of block 1 sent again and again, 0 for none
		bytes  []int64
	}{
		"status":          {"status=503&retry_after=1&times=2", []int{503, 503, 201}, []int64{17, 17, 17}},
		"refused address": {"status=403&times=1", []int{403, 201}, []int64{17, 17}},
		"refused":         {"refuse=1&times=1", []int{0, 201}, []int64{0, 17}},
		"late":            {"delay_ms=1", []int{201}, []int64{17}},
		"cut at once":     {"cut_bytes=0&times=1", []int{0, 201}, []int64{0, 17}},
		"cut":             {"cut_bytes=5&times=1", []int{0, 201}, []int64{5, 17}},
		"cut at the end":  {"cut_bytes=17&times=1", []int{0, 201}, []int64{17, 17}},
		"cut beyond":      {"cut_bytes=18", []int{201}, []int64{17}},
		"slow":            {"bytes_per_s=1000", []int{201}, []int64{17}},
		"answer lost":     {"lost_answer=1&times=1", []int{0, 201}, []int64{17, 17}},
		"not the first":   {"status=500&after=1&times=1", []int{201, 500, 201}, []int64{17, 17, 17}},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			ticket := s.register(nil, "X-Fault", c.fault+"&on=block")
			for _, want := range c.status {
				require.Equal(t, want, s.block(ticket.UploadURL, "1", blockOne))
			}
			var seen []storageRequest
			for i, n := range c.bytes {
				seen = append(seen, storageRequest{FileID: ticket.FileID, Method: "PUT", Operation: "block", BlockID: "MQ==", Bytes: n,
					Headers: []string{"accept-encoding", "connection", "content-length", "user-agent"}, Status: c.status[i], Finished: true})
			}
			require.Equal(t, seen, s.storage(ticket.FileID))
			// The other operations are as ever, and what was stored is whole.
			require.NotEqual(t, 0, s.block(ticket.UploadURL, "2", blockTwo))
			require.Equal(t, 201, s.blockList(ticket.UploadURL))
			_, record := s.report(ticket.FileID, map[string]any{"status": "uploaded", "checksum": sum(content)})
			require.Equal(t, "ready", record.Status)
		})
	}
}

func TestFaultsOfSeveralOperations(t *testing.T) {
	s := serve(t)
	other := s.register(nil)
	ticket := s.register(nil, "X-Fault", "status=500&times=1&on=block; lost_answer=1&times=1&on=blocklist;status=403&on=blob;status=503&on=report")
	require.Equal(t, 500, s.block(ticket.UploadURL, "1", blockOne))
	require.Equal(t, 201, s.block(ticket.UploadURL, "1", blockOne))
	require.Equal(t, 201, s.block(ticket.UploadURL, "2", blockTwo))
	require.Equal(t, 0, s.blockList(ticket.UploadURL))
	require.Equal(t, 201, s.blockList(ticket.UploadURL), "what was put together can be put together again")
	require.Equal(t, 403, s.put(ticket.UploadURL, content, "x-ms-blob-type", "BlockBlob"))
	s.putBlocks(other.UploadURL)
	require.Len(t, s.storage(other.FileID), 3)
	require.Len(t, s.storage(""), 9)

	// A renewal with the same X-Fault does not begin to count anew.
	status, _ := s.file("POST", uploads, announced(map[string]any{"file_id": ticket.FileID}), "X-Fault", "status=500&times=1&on=block")
	require.Equal(t, 200, status)
	require.Equal(t, 201, s.block(ticket.UploadURL, "1", blockOne))
}

func TestFaultCorrupt(t *testing.T) {
	for _, on := range []string{"block", "blob"} {
		s := serve(t)
		ticket := s.register(nil, "X-Fault", "corrupt=1&times=1&on="+on)
		if on == "block" {
			s.putBlocks(ticket.UploadURL)
		} else {
			s.put(ticket.UploadURL, content, "x-ms-blob-type", "BlockBlob")
		}
		_, record := s.report(ticket.FileID, map[string]any{"status": "uploaded", "checksum": sum(content)})
		require.Equal(t, "upload_failed", record.Status)
		require.Contains(t, record.Error, "SHA-256")
	}
}

func TestFaultStallOfTheStorage(t *testing.T) {
	for name, fault := range map[string]string{"stall": "stall_bytes=5&on=block", "slow": "bytes_per_s=1&on=block", "delay": "delay_ms=600000&on=block"} {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			ticket := s.register(nil, "X-Fault", fault)
			ended := make(chan int)
			go func() { ended <- s.block(ticket.UploadURL, "1", blockOne) }()
			for {
				seen := s.storage(ticket.FileID)
				if len(seen) == 1 && (name != "stall" || seen[0].Bytes == 5) {
					require.False(t, seen[0].Finished)
					break
				}
			}
			s.stop()
			require.Zero(t, <-ended)
		})
	}
}

func TestStorageFaultsAreChecked(t *testing.T) {
	s := serve(t)
	for fault, says := range map[string]string{
		"on=bloc":            "fault on must be one of",
		"ticket=none":        "fault ticket must be one of put, bare,",
		"status=500;corrupt": "fault corrupt must be 1 or 0",
		"processing_error=":  "fault processing_error must not be empty",
		"bytes_per_s=0":      "fault bytes_per_s must be a whole number from 1",
	} {
		resp, body, err := s.step("upload-url", "", fault)
		require.NoError(t, err)
		require.Equal(t, 400, resp.StatusCode, fault)
		require.Contains(t, body, says)
	}
}

func TestNoFaultsNoDebugOfStorage(t *testing.T) {
	s := serve(t, func(cfg *service.Config) { cfg.Faults = false })
	ticket := s.register(nil, "X-Fault", "status=500&on=block")
	s.putBlocks(ticket.UploadURL)
	resp, _ := s.call("GET", "/debug/storage", "")
	require.Equal(t, 404, resp.StatusCode)
}

func TestManyUploadsAtOnce(t *testing.T) {
	s := serve(t, stored(t, t.TempDir()))
	done := make(chan error)
	const files = 16
	for i := range files {
		go func() {
			fault := fmt.Sprintf("status=503&times=1&on=block;tag=%d", i)
			ticket := s.register(nil, "X-Fault", fault)
			s.block(ticket.UploadURL, "1", blockOne)
			s.putBlocks(ticket.UploadURL)
			_, record := s.report(ticket.FileID, map[string]any{"status": "uploaded", "checksum": sum(content)})
			if record.Status != "ready" {
				done <- fmt.Errorf("%s: %s", record.Status, record.Error)
				return
			}
			done <- nil
		}()
	}
	for range files {
		require.NoError(t, <-done)
	}
}

// TestBlockSize has the own storage tell one.
func TestBlockSize(t *testing.T) {
	store, err := blobstore.Open(blobstore.Config{Dir: t.TempDir(), BlockSize: 1 << 20})
	require.NoError(t, err)
	s := serve(t, func(cfg *service.Config) { cfg.Storage = store })
	_, body := s.call("POST", uploads, body(announced()))
	require.Contains(t, body, `"block_size":1048576`)
}
