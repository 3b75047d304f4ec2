package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const canary, secret = "sk-canary-9Zx1", "a secret of this test with 32 bytes and more"

func env(name string) string {
	return map[string]string{keyVariable: canary, secretsVariable: secret}[name]
}

type sink struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func TestBadSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.json")
	good := []string{"-service", "https://s.example", "-workspace", "demo=assistant"}
	for name, test := range map[string]struct {
		file string
		args []string
		env  func(string) string
		want string
	}{
		"no service":           {args: []string{"-workspace", "demo=assistant"}, want: "Service must be an absolute address"},
		"no workspace":         {args: good[:2], want: "Workspaces must name"},
		"a workspace alone":    {args: []string{"-workspace", "demo"}, want: "NAME=AGENT,AGENT"},
		"no key":               {args: good, env: func(name string) string { return strings.TrimPrefix(env(name), canary) }, want: "Key must be an access key"},
		"no secret":            {args: good, env: func(string) string { return "" }, want: secretsVariable},
		"a short secret":       {args: good, env: func(string) string { return "short" }, want: "at least 32 bytes"},
		"an odd caller":        {args: append(good, "-caller", "anybody"), want: "caller must be token or header:NAME"},
		"half of TLS":          {args: append(good, "-tls-cert", "x"), want: "tls_cert and tls_key"},
		"an odd format":        {args: append(good, "-log-format", "xml"), want: "log_format must be"},
		"an argument":          {args: append(good, "x"), want: `unexpected argument "x"`},
		"an unknown member":    {file: `{"keyy":"x"}`, want: `unknown field "keyy"`},
		"a time as a number":   {file: `{"grace": 5}`, want: "grace"},
		"a text for a number":  {file: `{"burst": "many"}`, want: "burst"},
		"no JSON":              {file: `{`, want: "config.json"},
		"an origin with slash": {args: append(good, "-origin", "https://a.example/"), want: "Origins must hold origins"},
		"no Redis address":     {args: append(good, "-redis", "x"), want: "redis must be an address"},
		"no key file":          {args: append(good, "-key-file", "/does/not/exist"), want: "key_file"},
	} {
		t.Run(name, func(t *testing.T) {
			args := test.args
			if test.file != "" {
				require.NoError(t, os.WriteFile(file, []byte(test.file), 0o600))
				args = []string{"-config", file}
			}
			if test.env == nil {
				test.env = env
			}
			err := run(t.Context(), func() {}, args, test.env, io.Discard, io.Discard)
			require.ErrorContains(t, err, test.want)
			assert.NotContains(t, err.Error(), canary)
			assert.NotContains(t, err.Error(), secret)
		})
	}
}

// TestServes runs the command over HTTPS, with all that it can show, and stops it while an answer is under way.
func TestServes(t *testing.T) {
	more := make(chan struct{})
	svc := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "Bearer "+canary, r.Header.Get("Authorization"))
		assert.NotEmpty(t, r.Header.Get("Traceparent"))
		if !strings.HasSuffix(r.URL.Path, "/messages") {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"chat_id":"c"}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: 1\n")
		_ = http.NewResponseController(w).Flush()
		<-more
		_, _ = io.WriteString(w, "data: 2\n\n")
	}))
	t.Cleanup(svc.Close)
	spans := &sink{}
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(spans, r.Body) }))
	t.Cleanup(collector.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")

	folder := t.TempDir()
	pool := certificate(t, folder)
	config := filepath.Join(folder, "config.json")
	text, err := json.Marshal(map[string]any{
		"listen": "127.0.0.1:0", "service": "http://to-be-replaced.invalid", "workspaces": map[string]any{"demo": []string{"assistant"}},
		"origins": []string{"https://app.example"}, "metrics": "127.0.0.1:0", "traces": true, "rate": 1000, "grace": "1m",
		"tls_cert": filepath.Join(folder, "cert.pem"), "tls_key": filepath.Join(folder, "key.pem"),
	})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(config, text, 0o600))

	var issued bytes.Buffer
	require.NoError(t, run(t.Context(), func() {}, []string{"-issue", "alice"}, env, &issued, io.Discard))
	log := &sink{}
	said, saying := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, func() {}, []string{"-config", config, "-service", svc.URL}, env, saying, log)
	}()
	line, err := bufio.NewReader(said).ReadString('\n')
	require.NoError(t, err)
	origin := strings.TrimSpace(strings.TrimPrefix(line, "turnwire-proxy listening on "))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport}
	do := func(method, address, body string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(issued.String()))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", "k")
		res, err := client.Do(r)
		require.NoError(t, err)
		return res
	}
	read := func(res *http.Response) string {
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return string(body)
	}
	ready := do("GET", origin+"/readyz", "")
	assert.Equal(t, 204, ready.StatusCode)
	assert.Equal(t, 2, ready.ProtoMajor, "HTTP/2")
	read(ready)
	var made map[string]string
	require.NoError(t, json.Unmarshal([]byte(read(do("POST", origin+"/v1/workspaces/demo/chats", `{"agent_id":"assistant"}`))), &made))
	assert.Equal(t, 404, do("GET", origin+"/debug/requests", "").StatusCode)
	stream := do("POST", origin+"/v1/chats/"+made["chat_id"]+"/messages", `{"parts":[{"type":"text","text":"a text that is nobody's"}]}`)
	require.Equal(t, 200, stream.StatusCode)
	lines := bufio.NewReader(stream.Body)
	first, err := lines.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "data: 1\n", first)

	_, address, ok := strings.Cut(log.String(), `"address":"`)
	require.True(t, ok, log.String())
	address, _, _ = strings.Cut(address, `"`)
	counted := read(do("GET", address+"/metrics", ""))
	assert.Contains(t, counted, "turnwire_proxy_streams_open 1")
	assert.Contains(t, counted, `turnwire_proxy_requests_total{route="chats",status="200"} 1`)

	stop()
	require.Eventually(t, func() bool { return strings.Contains(log.String(), "stopping") }, time.Minute, time.Millisecond)
	close(more)
	rest, err := io.ReadAll(lines)
	require.NoError(t, err, "an answer under way is not cut")
	assert.Equal(t, "data: 2\n\n", string(rest))
	require.NoError(t, stream.Body.Close())
	require.NoError(t, <-ended)
	assert.Contains(t, spans.String(), "turnwire-proxy")
	for what, text := range map[string]string{"the log": log.String(), "the metrics": counted, "the traces": spans.String()} {
		for _, hidden := range []string{canary, secret, strings.TrimSpace(issued.String()), "nobody's"} {
			assert.NotContains(t, text, hidden, what)
		}
	}
}

// certificate writes one for this machine, and gives what trusts it.
func certificate(t *testing.T, folder string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	require.NoError(t, os.WriteFile(filepath.Join(folder, "cert.pem"), cert, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	return pool
}
