package contract

import (
	"encoding/json"
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRead(t *testing.T) {
	const head = `"status":200,"contentType":"a/b","requestId":"r"`
	tests := map[string]struct {
		text  string
		wrong string // what the panic says
	}{
		"whole":                           {`{` + head + `,"retryAfter":""}`, ""},
		"another order":                   {`{"retryAfter":"",` + head + `}`, ""},
		"a member more":                   {`{` + head + `,"retryAfter":"","new":[1]}`, ""},
		"a member missing":                {`{` + head + `}`, "contract: Head.retryAfter is missing"},
		"another name":                    {`{` + head + `,"retryafter":""}`, "contract: Head.retryAfter is missing"},
		"a number for a text":             {`{` + head + `,"retryAfter":7}`, "contract: Head.retryAfter is no string"},
		"a text for a number":             {`{"status":"200","contentType":"","requestId":"","retryAfter":""}`, "contract: Head.status is no whole number"},
		"null for a text":                 {`{` + head + `,"retryAfter":null}`, "contract: Head.retryAfter is no string"},
		"no record":                       {`[]`, "contract: Head.status is missing"},
		"a number past 10^18":             {`{"status":1000000000000000000,"contentType":"","requestId":"","retryAfter":""}`, "contract: Head.status is no whole number"},
		"a number with a fraction is cut": {`{"status":200.9,"contentType":"a/b","requestId":"r","retryAfter":""}`, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.wrong != "" {
				assert.PanicsWithValue(t, test.wrong, func() { ReadHead(test.text) })
				return
			}
			assert.Equal(t, &Head{Status: 200, ContentType: "a/b", RequestID: "r"}, ReadHead(test.text))
		})
	}
}

func TestReadNested(t *testing.T) {
	const limits = `"headers":[["X-A","1"],["b","\ud83d\ude00"]],"maxRetries":2,"timeout":9007199254740991`
	got := ReadChatParams(`{` + limits + `,"workspaceId":"w","agentId":"a","isTemporary":false}`)
	no := false
	assert.Equal(t, &ChatParams{Limits{[]Header{{"X-A", "1"}, {"b", "😀"}}, 2, 1<<53 - 1}, "w", "a", &no}, got)
	assert.Nil(t, ReadChatParams(`{`+limits+`,"workspaceId":"w","agentId":"a"}`).IsTemporary)
	assert.PanicsWithValue(t, "contract: ChatParams.headers is no list of headers", func() {
		ReadChatParams(`{"headers":[["a"]],"maxRetries":2,"timeout":0,"workspaceId":"w","agentId":"a"}`)
	})
	assert.PanicsWithValue(t, "contract: ChatParams.isTemporary is no boolean", func() {
		ReadChatParams(`{` + limits + `,"workspaceId":"w","agentId":"a","isTemporary":"no"}`)
	})
}

// TestLarge takes sizes and counts that an int of 32 bits does not hold to both sides.
func TestLarge(t *testing.T) {
	for _, size := range []int64{1<<31 - 1, 1 << 31, 1 << 32, 5<<40 + 1, 1<<53 - 1} {
		text := strconv.FormatInt(size, 10)
		got := ReadUploadParams(`{"headers":[],"maxRetries":` + text + `,"timeout":1,"workspaceId":"","name":"","contentType":"","purpose":"","size":` + text +
			`,"once":false,"blockSize":` + text + `,"concurrency":` + text + `,"blockTries":` + text + `,"blockTimeout":1,"dataTimeout":1,"reportTimeout":1,` +
			`"checksum":0,"knownSum":"","base64":false,"maps":false,"resumable":true,"fingerprint":"","record":""}`)
		assert.Equal(t, []int64{size, size}, []int64{got.Size, got.BlockSize})
		assert.Equal(t, []int{math.MaxInt32, math.MaxInt32, math.MaxInt32}, []int{got.Limits.MaxRetries, got.Concurrency, got.BlockTries})
		assert.Equal(t, size, ReadHashState(`{"at":`+text+`,"state":"","sum":""}`).At)

		progress := Progress{LoadedBytes: size, TotalBytes: size, BlocksDone: size, BlocksTotal: size}
		assert.Contains(t, progress.JSON(), `"loadedBytes":`+text+`,"totalBytes":`+text+`,"blocksDone":`+text+`,"blocksTotal":`+text)
		hash := HashRange{From: size - 1, To: size}
		assert.Contains(t, hash.JSON(), `"to":`+text)
		block := StoreRequest{From: size - 1, To: size}
		assert.Contains(t, block.JSON(), `"to":`+text)
		end := UploadEnd{Error: &Error{Block: &size, File: &File{Size: &size}}}
		assert.Contains(t, end.JSON(), `"block":`+text)
		assert.Contains(t, end.JSON(), `"size":`+text)
	}
}

// TestWrite reads back, with another reader, what is written.
func TestWrite(t *testing.T) {
	block, retry, size := int64(0), int64(1500), int64(1)<<53-1
	end := UploadEnd{
		Stage: "failed",
		Error: &Error{
			Kind: "upload", Code: "c", Message: "m \" \u2028", Status: 503, RetryAfter: &retry, Body: JSON(`{"a":[1]}`), Block: &block, Stored: true,
			File: &File{ID: "f", Status: "s", Size: &size, Raw: JSON(`{}`)},
		},
	}
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(end.JSON()), &got))
	assert.Equal(t, map[string]any{
		"stage": "failed",
		"error": map[string]any{
			"kind": "upload", "code": "c", "message": "m \" \u2028", "retryable": false, "status": 503.0, "retryAfter": 1500.0,
			"body": map[string]any{"a": []any{1.0}}, "block": 0.0, "stored": true,
			"file": map[string]any{"id": "f", "status": "s", "size": float64(size), "raw": map[string]any{}},
		},
	}, got)

	body := ""
	request := FetchParams{URL: "u", Method: "POST", Headers: []Header{{"a", "1"}}, Body: &body}
	assert.JSONEq(t, `{"url":"u","method":"POST","headers":[["a","1"]],"body":"","keepalive":false}`, request.JSON())
	request.Body, request.Headers = nil, nil
	assert.JSONEq(t, `{"url":"u","method":"POST","headers":[],"keepalive":false}`, request.JSON())
}
