package api

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFileRequests(t *testing.T) {
	cases := []struct {
		name      string
		request   *Request
		path      string
		body      string
		keepalive bool
	}{
		{"upload-url", UploadURL("w 1", FileParams{Name: "a\"b", Size: 3, ContentType: "text/plain"}),
			"POST /v1/workspaces/w%201/files/upload-url", `{"name":"a\"b","size":3,"content_type":"text/plain"}`, false},
		{"upload-url with all", UploadURL("w", FileParams{"n", 0, "t", "rag", "abc", "f"}),
			"POST /v1/workspaces/w/files/upload-url", `{"name":"n","size":0,"content_type":"t","purpose":"rag","checksum":"abc","file_id":"f"}`, false},
		{"uploaded", ReportUploaded("f/1", 12, "abc"), "PATCH /v1/files/f%2F1", `{"status":"uploaded","size":12,"checksum":"abc"}`, true},
		{"uploaded without a sum", ReportUploaded("f", 0, ""), "PATCH /v1/files/f", `{"status":"uploaded","size":0}`, true},
		{"failed", ReportFailed("f", "why"), "PATCH /v1/files/f", `{"status":"upload_failed","error":"why"}`, true},
		{"get", GetFile("f"), "GET /v1/files/f", ``, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.path, c.request.Method+" "+c.request.Path)
			assert.Equal(t, c.body, string(c.request.Body))
			assert.Equal(t, c.keepalive, c.request.Keepalive)
		})
	}
}

func TestTicket(t *testing.T) {
	cases := []struct {
		name, body string
		want       Ticket
		code       string
	}{
		{"plain", `{"file_id":"f","upload_url":"u"}`, Ticket{FileID: "f", URL: "u"}, ""},
		{"id and signed_url", `{"id":"f","signed_url":"u"}`, Ticket{FileID: "f", URL: "u"}, ""},
		{"file.file_id and url", `{"file":{"file_id":"f"},"url":"u"}`, Ticket{FileID: "f", URL: "u"}, ""},
		{"file.id", `{"file":{"id":"f"},"url":"u"}`, Ticket{FileID: "f", URL: "u"}, ""},
		{"the first name counts", `{"id":"b","file_id":"a","url":"y","upload_url":"x"}`, Ticket{FileID: "a", URL: "x"}, ""},
		{"a name that is no string is passed over", `{"file_id":7,"id":"f","upload_url":null,"url":"u"}`, Ticket{FileID: "f", URL: "u"}, ""},
		{"all", `{"file_id":"f","upload_url":"u","protocol":"s3-multipart","method":"put","headers":{"X-A":"1","b":2},"block_size":5,
			"parts":[{"part_number":1,"url":"p1"},{"number":2,"url":"p2"},{"url":"p3"}],"complete_url":"c","expires_at":1700000000,"extensions":["concatenation"]}`,
			Ticket{"f", "u", "s3-multipart", "PUT", []Field{{"X-A", "1"}}, 5, []Part{{1, "p1"}, {2, "p2"}}, "c", 1700000000000, []string{"concatenation"}}, ""},
		{"in JavaScript's spelling", `{"fileId":"f","url":"u","blockSize":5,"parts":[{"partNumber":1,"url":"p"}],"completeURL":"c","expiresAt":"2023-11-14T22:13:20Z"}`,
			Ticket{FileID: "f", URL: "u", BlockSize: 5, Parts: []Part{{1, "p"}}, CompleteURL: "c", ExpiresAt: 1700000000000}, ""},
		{"parts need no other address", `{"id":"f","parts":[{"part_number":1,"url":"p"}],"complete_url":"c"}`,
			Ticket{FileID: "f", Parts: []Part{{1, "p"}}, CompleteURL: "c"}, ""},
		{"no JSON", `<html>`, Ticket{}, "ticket_not_json"},
		{"an array", `[]`, Ticket{}, "ticket_not_json"},
		{"no identifier", `{"upload_url":"u"}`, Ticket{URL: "u"}, "ticket_without_id"},
		{"no address", `{"id":"f","address":"u"}`, Ticket{FileID: "f"}, "ticket_without_url"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseTicket(UploadURL("w", FileParams{}), &Response{Status: 200}, []byte(c.body))
			assert.Equal(t, c.want, *got)
			if c.code != "" {
				require.NotNil(t, err)
				assert.Equal(t, c.code, err.Code)
				assert.Contains(t, err.Message, "mapUploadTicket")
				return
			}
			require.Nil(t, err)
			again, err := ParseTicket(&Request{}, &Response{}, got.AppendJSON(nil))
			require.Nil(t, err)
			assert.Equal(t, got, again)
		})
	}
	_, err := ParseTicket(UploadURL("w", FileParams{}), &Response{}, []byte(`{"id":"f","address":"u"}`))
	assert.Contains(t, err.Message, "id, address")
}

func TestMoment(t *testing.T) {
	at := func(s string) int64 {
		v, err := time.Parse(time.RFC3339Nano, s)
		require.NoError(t, err)
		return v.UnixMilli()
	}
	cases := []struct {
		name, value string
		want        int64
	}{
		{"seconds", `1700000000`, 1700000000000},
		{"milliseconds", `1700000000123`, 1700000000123},
		{"seconds with a fraction", `1700000000.9`, 1700000000000},
		{"seconds in a string", `"1700000000"`, 1700000000000},
		{"ISO", `"2026-11-20T10:00:00Z"`, at("2026-11-20T10:00:00Z")},
		{"a fraction", `"2024-02-29T23:59:59.1239Z"`, at("2024-02-29T23:59:59.123Z")},
		{"east", `"2026-01-01T00:30:00+01:30"`, at("2025-12-31T23:00:00Z")},
		{"west", `"2026-03-01T00:30:00-0130"`, at("2026-03-01T02:00:00Z")},
		{"hours only", `"2026-03-01T00:30:00-01"`, at("2026-03-01T01:30:00Z")},
		{"no zone", `"2026-03-01T00:30:00"`, at("2026-03-01T00:30:00Z")},
		{"no seconds", `"2026-03-01T00:30Z"`, at("2026-03-01T00:30:00Z")},
		{"a day", `"2026-03-01"`, at("2026-03-01T00:00:00Z")},
		{"basic", `"20261120T100000Z"`, at("2026-11-20T10:00:00Z")},
		{"zero", `0`, 0},
		{"negative", `-5`, 0},
		{"none", ``, 0},
		{"null", `null`, 0},
		{"words", `"soon"`, 0},
		{"empty", `""`, 0},
		{"cut", `"2026-11-20T10:"`, 0},
		{"no such month", `"2026-13-20T10:00:00Z"`, 0},
		{"more behind it", `"2026-11-20T10:00:00Z!"`, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, moment([]byte(c.value))) })
	}
}

func TestFile(t *testing.T) {
	cases := []struct {
		name, body string
		want       File
		ok         bool
	}{
		{"whole", `{"file_id":"f","status":"ready","name":"n","size":7,"checksum":"c"}`, File{ID: "f", Status: "ready", Name: "n", Size: 7, Checksum: "c"}, true},
		{"inside file", `{"file":{"id":"g","status":"x"}}`, File{ID: "g", Status: "x", Size: -1}, true},
		{"no identifier", `{"status":"ready"}`, File{ID: "asked", Status: "ready", Size: -1}, true},
		{"no status", `{"id":"f"}`, File{ID: "f", Size: -1}, false},
		{"empty", ``, File{ID: "asked", Size: -1}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, ok := ParseFile("asked", []byte(c.body))
			assert.Equal(t, c.ok, ok)
			assert.Equal(t, c.body, string(got.Raw))
			got.Raw = nil
			assert.Equal(t, c.want, got)
		})
	}
	f, _ := ParseFile("f", []byte(`{"status":"processing_failed","error":{"message":"no text"}}`))
	assert.True(t, f.Settled() && f.Failed())
	assert.Equal(t, "file f ended as processing_failed: no text", FileFailed(&f).Message)
}

// FuzzTicket shows that whatever is read can be kept and read again.
func FuzzTicket(f *testing.F) {
	f.Add([]byte(`{"file_id":"f","upload_url":"u","headers":{"a":"b"},"parts":[{"part_number":1,"url":"p"}],"complete_url":"c","expires_at":"2026-11-20T10:00:00Z"}`))
	f.Add([]byte(`{"file":{"id":"\ud800"},"url":"é","block_size":1.5,"expires_at":17}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		body = bytes.ToValidUTF8(body, []byte("?")) // as it comes from the browser's decoder
		got, err := ParseTicket(&Request{}, &Response{}, body)
		if err != nil {
			require.NotEmpty(t, err.Code)
			return
		}
		require.NotEmpty(t, got.FileID)
		kept := got.AppendJSON(nil)
		require.True(t, json.Valid(kept))
		again, err := ParseTicket(&Request{}, &Response{}, kept)
		require.Nil(t, err)
		require.Equal(t, got, again)
	})
}

// FuzzDate holds dates against package time.
func FuzzDate(f *testing.F) {
	for _, s := range []string{"2026-11-20T10:00:00Z", "2024-02-29T23:59:59.123+05:30", "20261120T100000Z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ms, ok := ParseDate(s)
		if want, err := time.Parse(time.RFC3339Nano, s); err == nil && want.Format(time.RFC3339Nano) == s && want.Year() > 0 {
			require.True(t, ok, s)
			require.Equal(t, want.UnixMilli(), ms, s)
		}
	})
}
