package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestModelAnswers goes the whole way, from the flags to what a page and the model's server see.
func TestModelAnswers(t *testing.T) {
	const canary = "sk-canary-0123456789"
	var asked struct{ Model string }
	var key string
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewDecoder(r.Body).Decode(&asked)
		key = r.Header.Get("Authorization")
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":"Hello from afar"},"finish_reason":"stop"}]}`, "\n\n",
			`data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}`, "\n\ndata: [DONE]\n\n")
	}))
	defer upstream.Close()
	web := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(web, "index.html"), []byte(`<!doctype html><html lang="en"><p>page`), 0o600))

	env := func(name string) string { return map[string]string{"THE_KEY": canary}[name] }
	p := startWith(t, env, "-model-url", upstream.URL+"/v1", "-model", `small, "large"`, "-model", "third", "-model-key-env", "THE_KEY", "-web", web)
	answer := p.ask("dev-key", p.chat("dev-key"), "hello")
	require.Contains(t, answer, `{"chunk":"Hello from afar"}`)
	require.Contains(t, answer, `"input_tokens":7,"output_tokens":3`)
	require.Equal(t, "small", asked.Model)
	require.Equal(t, "Bearer "+canary, key)
	resp, page := p.do("GET", "/", "")
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Equal(t, `<!doctype html><html data-models="small, &#34;large&#34;, third" lang="en"><p>page`, page)
	require.Empty(t, resp.Header.Get("ETag"), "the names may change while the file does not")
	require.NoError(t, p.stop())
	require.NotContains(t, p.log.String()+answer, canary)
}
