package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// process is a running turnwire-dev.
type process struct {
	t      *testing.T
	url    string
	out    *bufio.Reader
	log    *guarded
	client *http.Client
	stop   func() error
}

type guarded struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (g *guarded) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.b.Write(p)
}

func (g *guarded) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.b.String()
}

func noEnv(string) string { return "" }

func start(t *testing.T, args ...string) *process {
	t.Helper()
	return startWith(t, noEnv, args...)
}

func startWith(t *testing.T, env func(string) string, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	p := &process{t: t, out: bufio.NewReader(read), log: &guarded{}, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, func() {}, append([]string{"-addr", "127.0.0.1:0", "-pace", "0"}, args...), env, write, p.log)
		write.CloseWithError(err)
		ended <- err
	}()
	p.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { _ = p.stop() })
	line, err := p.out.ReadString('\n')
	require.NoError(t, err)
	require.Regexp(t, `^turnwire-dev listening on http://127\.0\.0\.1:\d+/\n$`, line)
	p.url = strings.TrimSpace(strings.TrimPrefix(line, "turnwire-dev listening on "))
	return p
}

func (p *process) do(method, path, body string, headers ...string) (*http.Response, string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, strings.TrimSuffix(p.url, "/")+path, strings.NewReader(body))
	require.NoError(p.t, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := p.client.Do(r)
	require.NoError(p.t, err)
	defer resp.Body.Close()
	read, err := io.ReadAll(resp.Body)
	require.NoError(p.t, err)
	return resp, string(read)
}

func (p *process) chat(key string) string {
	p.t.Helper()
	resp, body := p.do("POST", "/v1/workspaces/demo/chats", `{"agent_id":"assistant"}`, "Authorization", "Bearer "+key, "Content-Type", "application/json")
	require.Equal(p.t, http.StatusCreated, resp.StatusCode, body)
	var record struct {
		ChatID string `json:"chat_id"`
	}
	require.NoError(p.t, json.Unmarshal([]byte(body), &record))
	return record.ChatID
}

func (p *process) ask(key, chat, text string, headers ...string) string {
	p.t.Helper()
	headers = append([]string{"Authorization", "Bearer " + key, "Content-Type", "application/json", "Idempotency-Key", "k"}, headers...)
	resp, body := p.do("POST", "/v1/chats/"+chat+"/messages", `{"parts":[{"type":"text","text":"`+text+`"}]}`, headers...)
	require.Equal(p.t, http.StatusOK, resp.StatusCode, body)
	return body
}

func TestServesTheWholeSystem(t *testing.T) {
	p := start(t, "-key", "first-key", "-key", "second-key", "-log-format", "json", "-data", t.TempDir())
	chat := p.chat("first-key")
	require.Contains(t, p.ask("second-key", chat, "what is 6 * 7"), `"result":{"value":42}`)
	resp, _ := p.do("POST", "/v1/workspaces/demo/chats", "{}", "Authorization", "Bearer dev-key")
	require.Equal(t, http.StatusUnauthorized, resp.StatusCode)
	resp, _ = p.do("GET", "/debug/turns", "")
	require.Equal(t, http.StatusNotFound, resp.StatusCode)

	require.NoError(t, p.stop())
	rest, err := io.ReadAll(p.out)
	require.NoError(t, err)
	require.Empty(t, rest, "one line on stdout")
	for line := range strings.Lines(p.log.String()) {
		require.True(t, json.Valid([]byte(line)), line)
	}
	require.Contains(t, p.log.String(), `"msg":"turn finished"`)
	for _, key := range []string{"first-key", "second-key", "dev-key"} {
		require.NotContains(t, p.log.String(), key)
	}
}

// TestForeignPages: the keys are known to everybody, so that any site that a developer visits could use them.
func TestForeignPages(t *testing.T) {
	p := start(t, "-allow-origin", "https://App.example:443/", "-allow-origin", "null")
	make := func(origin string) (int, string) {
		resp, body := p.do("POST", "/v1/workspaces/demo/chats", `{"agent_id":"assistant"}`, "Authorization", "Bearer dev-key", "Content-Type", "application/json", "Origin", origin)
		require.NotEmpty(t, body)
		return resp.StatusCode, resp.Header.Get("Access-Control-Allow-Origin")
	}
	for _, origin := range []string{"https://app.example", "null", "http://localhost:3000", strings.TrimSuffix(p.url, "/")} {
		status, readable := make(origin)
		require.Equal(t, http.StatusCreated, status, origin)
		require.Equal(t, origin, readable)
	}
	for _, origin := range []string{"https://elsewhere.example", "http://app.example", "https://app.example:8443"} {
		status, readable := make(origin)
		require.Equal(t, http.StatusForbidden, status, origin)
		require.Empty(t, readable)
	}
}

func TestDataSurvives(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	before := start(t, "-data", dir)
	chat := before.chat("dev-key")
	answer := before.ask("dev-key", chat, "write 50 words")
	require.NoError(t, before.stop())
	after := start(t, "-data", dir)
	require.Equal(t, answer, after.ask("dev-key", chat, "write 50 words"))
}

// TestAnUploadedFileIsAnsweredFrom goes the whole way, over a restart in its middle.
func TestAnUploadedFileIsAnsweredFrom(t *testing.T) {
	const text = "The harbour opens at seven. Boats may moor for two nights."
	dir := t.TempDir()
	key := []string{"Authorization", "Bearer dev-key", "Content-Type", "application/json"}
	p := start(t, "-data", dir, "-block-size", "1048576", "-signed-for", "5m")
	resp, body := p.do("POST", "/v1/workspaces/demo/files/upload-url", fmt.Sprintf(`{"name":"harbour.txt","size":%d,"content_type":"text/plain","purpose":"rag"}`, len(text)), key...)
	require.Equal(t, http.StatusCreated, resp.StatusCode, body)
	var ticket struct {
		FileID    string `json:"file_id"`
		UploadURL string `json:"upload_url"`
		BlockSize int    `json:"block_size"`
	}
	require.NoError(t, json.Unmarshal([]byte(body), &ticket))
	require.Equal(t, 1048576, ticket.BlockSize)
	address, found := strings.CutPrefix(ticket.UploadURL, p.url)
	require.True(t, found)
	resp, body = p.do("PUT", "/"+address, text, "x-ms-blob-type", "BlockBlob")
	require.Equal(t, http.StatusCreated, resp.StatusCode, body)
	require.NoError(t, p.stop())

	p = start(t, "-data", dir)
	resp, body = p.do("PATCH", "/v1/files/"+ticket.FileID, `{"status":"uploaded"}`, key...)
	require.Equal(t, http.StatusOK, resp.StatusCode, body)
	for strings.Contains(body, `"status":"processing"`) {
		_, body = p.do("GET", "/v1/files/"+ticket.FileID, "", key...)
	}
	require.Contains(t, body, `"status":"ready"`)
	require.Contains(t, p.ask("dev-key", p.chat("dev-key"), "what do my files say about the harbour?"), "harbour.txt")
}

func TestStopCutsAStandingStream(t *testing.T) {
	p := start(t, "-faults")
	chat := p.chat("dev-key")
	ended := make(chan string)
	go func() {
		r, _ := http.NewRequest("POST", p.url+"v1/chats/"+chat+"/messages", strings.NewReader(`{"parts":[{"type":"text","text":"count to 9"}]}`))
		for name, value := range map[string]string{"Authorization": "Bearer dev-key", "Content-Type": "application/json", "Idempotency-Key": "k", "X-Fault": "pace_ms=86400000"} {
			r.Header.Set(name, value)
		}
		resp, err := p.client.Do(r)
		if err != nil {
			ended <- err.Error()
			return
		}
		defer resp.Body.Close()
		first := make([]byte, 1)
		_, _ = io.ReadFull(resp.Body, first)
		ended <- "begun"
		rest, _ := io.ReadAll(resp.Body)
		ended <- string(first) + string(rest)
	}()
	require.Equal(t, "begun", <-ended)
	stopped := make(chan error)
	go func() { stopped <- p.stop() }()
	body := <-ended
	require.Equal(t, 1, strings.Count(body, "data: "))
	require.NotContains(t, body, "turn_complete")
	require.NoError(t, <-stopped)
	require.Contains(t, p.log.String(), "status=interrupted")
}

func TestOptions(t *testing.T) {
	cases := map[string]struct {
		args []string
		port string
		addr string
		says string
	}{
		"defaults":           {addr: "127.0.0.1:8080"},
		"port of the env":    {port: "9001", addr: "127.0.0.1:9001"},
		"addr before port":   {port: "9001", args: []string{"-addr", "127.0.0.1:0"}, addr: "127.0.0.1:0"},
		"port not a number":  {port: "http", says: `PORT must be a port number, not "http"`},
		"port too large":     {port: "70000", says: "PORT must be"},
		"unknown flag":       {args: []string{"-nothing"}, says: "flag provided but not defined"},
		"argument":           {args: []string{"extra"}, says: `unexpected argument "extra"`},
		"log format":         {args: []string{"-log-format", "xml"}, says: "-log-format must be text or json"},
		"negative pace":      {args: []string{"-pace", "-1s"}, says: "must not be negative"},
		"empty key":          {args: []string{"-key", ""}, says: "must not be empty"},
		"key with a space":   {args: []string{"-key", "a "}, says: "white space"},
		"negative block":     {args: []string{"-block-size", "-1"}, says: "-block-size must not be negative"},
		"origin with a path": {args: []string{"-allow-origin", "https://app.example/page"}, says: `-allow-origin must be an origin such as https://app.example or http://192.0.2.7:8080, or null, not "https://app.example/page"`},
		"every origin":       {args: []string{"-allow-origin", "*"}, says: "-allow-origin must be an origin"},
		"model without URL":  {args: []string{"-model", "small"}, says: "-model needs -model-url"},
		"URL without model":  {args: []string{"-model-url", "http://127.0.0.1/v1"}, says: "-model must name a model"},
		"model without name": {args: []string{"-model-url", "http://127.0.0.1/v1", "-model", "small,,large"}, says: `-model must hold a name between its commas, not "small,,large"`},
		"key not set":        {args: []string{"-model-url", "http://127.0.0.1/v1", "-model", "small", "-model-key-env", "NO_SUCH"}, says: "the environment variable NO_SUCH is not set"},
		"no rounds":          {args: []string{"-model-url", "http://127.0.0.1/v1", "-model", "small", "-model-rounds", "0"}, says: "-model-rounds must be at least 1"},
		"no idle time":       {args: []string{"-model-url", "http://127.0.0.1/v1", "-model", "small", "-model-idle", "0s"}, says: "-model-time and -model-idle must be longer"},
		"signed for no time": {args: []string{"-signed-for", "0s"}, says: "-signed-for must be at least 1s"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var shown bytes.Buffer
			o, err := parseOptions(c.args, func(name string) string { return map[string]string{"PORT": c.port}[name] }, &shown)
			if c.says != "" {
				require.ErrorContains(t, err, c.says)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.addr, o.addr)
			require.Equal(t, []string{"dev-key"}, o.keys.list)
			require.Equal(t, []string{"demo"}, o.workspaces.list)
			require.Equal(t, map[string]string{"assistant": builtinModel}, o.agents())
			require.Equal(t, 25*time.Millisecond, o.pace)
			require.Equal(t, 15*time.Second, o.heartbeat)
			require.False(t, o.faults)
		})
	}
}

func TestStartFails(t *testing.T) {
	p := start(t)
	taken := strings.TrimSuffix(strings.TrimPrefix(p.url, "http://"), "/")
	cases := map[string][]string{
		"address taken":  {"-addr", taken},
		"no data folder": {"-addr", "127.0.0.1:0", "-data", "/dev/null/x"},
		"no model's URL": {"-addr", "127.0.0.1:0", "-model-url", "127.0.0.1:11434", "-model", "small"},
		"bad flag":       {"-pace", "soon"},
		"unknown store":  {"-addr", "127.0.0.1:0", "-storage", "ftp=ftp://host"},
		"no credentials": {"-addr", "127.0.0.1:0", "-storage", "s3=http://127.0.0.1/bucket"},
		"no bucket":      {"-addr", "127.0.0.1:0", "-storage", "gcs"},
	}
	for name, args := range cases {
		t.Run(name, func(t *testing.T) {
			require.Error(t, run(t.Context(), func() {}, args, noEnv, io.Discard, io.Discard))
		})
	}
}

func TestSite(t *testing.T) {
	web, dist, docs := t.TempDir(), t.TempDir(), t.TempDir()
	for name, content := range map[string]string{
		"index.html": "<p>hello", "app.js": "1", "app.mjs": "2", "style.css": "p{}", "sub/index.html": "<p>sub", "data.unknown": "x",
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(web, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(web, name), []byte(content), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dist, "turnwire.wasm"), []byte("\x00asm"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(web), "secret"), []byte("secret"), 0o600))
	require.NoError(t, os.Symlink(filepath.Join(filepath.Dir(web), "secret"), filepath.Join(web, "link")))
	require.NoError(t, os.WriteFile(filepath.Join(docs, "index.html"), []byte("<p>read"), 0o600))
	p := start(t, "-web", web, "-dist", dist, "-docs", docs)
	said, err := p.out.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "documentation at "+p.url+"docs/\n", said)
	cases := map[string]struct {
		method, path string
		status       int
		kind, body   string
	}{
		"page":              {"GET", "/", 200, "text/html; charset=utf-8", "<p>hello"},
		"head":              {"HEAD", "/", 200, "text/html; charset=utf-8", ""},
		"script":            {"GET", "/app.js", 200, "text/javascript; charset=utf-8", "1"},
		"module":            {"GET", "/app.mjs", 200, "text/javascript; charset=utf-8", "2"},
		"style":             {"GET", "/style.css", 200, "text/css; charset=utf-8", "p{}"},
		"index of a folder": {"GET", "/sub/", 200, "text/html; charset=utf-8", "<p>sub"},
		"wasm":              {"GET", "/turnwire/turnwire.wasm", 200, "application/wasm", "\x00asm"},
		"documentation":     {"GET", "/docs/", 200, "text/html; charset=utf-8", "<p>read"},
		"without its slash": {"GET", "/docs", 200, "text/html; charset=utf-8", "<p>read"},
		"unknown type":      {"GET", "/data.unknown", 200, "application/octet-stream", "x"},
		"not there":         {"GET", "/none.js", 404, "text/plain; charset=utf-8", "404: there is no such file\n"},
		"folder":            {"GET", "/sub", 404, "text/plain; charset=utf-8", "404: there is no such file\n"},
		"outside by link":   {"GET", "/link", 404, "text/plain; charset=utf-8", "404: there is no such file\n"},
		"outside by path":   {"GET", "/..%2fsecret", 404, "text/plain; charset=utf-8", "404: there is no such file\n"},
		"method":            {"POST", "/", 405, "text/plain; charset=utf-8", "this is a file: GET it\n"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			resp, body := p.do(c.method, c.path, "")
			require.Equal(t, c.status, resp.StatusCode)
			require.Equal(t, c.kind, resp.Header.Get("Content-Type"))
			require.Equal(t, c.body, body)
			want := policy
			if strings.HasPrefix(c.path, "/docs") {
				want = docsPolicy
			}
			require.Equal(t, want, resp.Header.Get("Content-Security-Policy"))
			require.Equal(t, "nosniff", resp.Header.Get("X-Content-Type-Options"))
		})
	}
	t.Run("caching", func(t *testing.T) {
		resp, _ := p.do("GET", "/app.js", "")
		require.Equal(t, "no-cache", resp.Header.Get("Cache-Control"))
		etag := resp.Header.Get("ETag")
		resp, body := p.do("GET", "/app.js", "", "If-None-Match", etag)
		require.Equal(t, http.StatusNotModified, resp.StatusCode)
		require.Empty(t, body)
		require.NoError(t, os.WriteFile(filepath.Join(web, "app.js"), []byte("changed"), 0o600))
		_, body = p.do("GET", "/app.js", "", "If-None-Match", etag)
		require.Equal(t, "changed", body)
	})
}

func TestNotBuilt(t *testing.T) {
	empty := t.TempDir()
	for name, dir := range map[string]string{"no folder": filepath.Join(empty, "none"), "no page in it": empty} {
		t.Run(name, func(t *testing.T) {
			p := start(t, "-web", dir, "-dist", dir, "-docs", dir)
			resp, body := p.do("GET", "/", "")
			require.Equal(t, http.StatusNotFound, resp.StatusCode)
			require.Contains(t, body, "<h1>Turnwire is not built</h1>")
			require.Contains(t, body, "<code>make build</code>")
			resp, body = p.do("GET", "/docs/", "")
			require.Equal(t, http.StatusNotFound, resp.StatusCode)
			require.Contains(t, body, "<h1>The documentation is not built</h1>")
			require.Contains(t, body, "<code>make docs</code>")
			resp, _ = p.do("GET", "/turnwire/turnwire.mjs", "")
			require.Equal(t, http.StatusNotFound, resp.StatusCode)
			p.chat("dev-key")
		})
	}
}
