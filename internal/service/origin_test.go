package service_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-76f09577/turnwire/internal/service"
)

func TestParseOrigin(t *testing.T) {
	for text, want := range map[string]string{
		"null":                    "null",
		"https://app.example":     "https://app.example",
		"HTTPS://App.Example:443": "https://app.example",
		"http://192.0.2.7:80/":    "http://192.0.2.7",
		"http://192.0.2.7:8080":   "http://192.0.2.7:8080",
		"https://app.example:80":  "https://app.example:80",
		"http://[2001:db8::1]:80": "http://[2001:db8::1]",
		"chrome-extension://abcd": "chrome-extension://abcd",
		"":                        "",
		"*":                       "",
		"app.example":             "",
		"app.example:8080":        "",
		"https://":                "",
		"https://:443":            "",
		"https://app.example/a":   "",
		"https://app.example?a":   "",
		"https://app.example#a":   "",
		"https://a:b@app.example": "",
		"https://app example":     "",
	} {
		t.Run(text, func(t *testing.T) {
			got, err := service.ParseOrigin(text)
			require.Equal(t, want, got)
			require.Equal(t, want == "", err != nil)
		})
	}
}

// origins are those of pages, and whether a service that was told of https://app.example answers them.
var origins = map[string]bool{
	"http://127.0.0.1:8080":        true,
	"http://127.1.2.3":             true,
	"https://localhost":            true,
	"http://localhost:5173":        true,
	"http://demo.localhost:5173":   true,
	"http://[::1]:5173":            true,
	"https://app.example":          true,
	"null":                         false,
	"https://elsewhere.example":    false,
	"http://app.example":           false,
	"https://app.example:8443":     false,
	"https://sub.app.example":      false,
	"https://app.example.evil":     false,
	"http://localhost.evil":        false,
	"http://127.0.0.1.evil":        false,
	"http://192.0.2.7:8080":        false,
	"http://[::2]":                 false,
	"chrome-extension://localhost": false,
	"file://":                      false,
}

func TestPagesOfOtherOriginsAreRefused(t *testing.T) {
	for origin, allowed := range origins {
		t.Run(origin, func(t *testing.T) {
			s := serve(t, func(cfg *service.Config) { cfg.Origins = []string{"https://app.example"} })
			readable := ""
			if allowed {
				readable = origin
			}
			judged := func(resp *http.Response, body string) {
				t.Helper()
				require.Equal(t, readable, resp.Header.Get("Access-Control-Allow-Origin"))
				require.Equal(t, "Origin", resp.Header.Get("Vary"), "a cache must not give one page's answer to another")
				if allowed {
					require.Less(t, resp.StatusCode, 300, body)
					return
				}
				require.Equal(t, http.StatusForbidden, resp.StatusCode, body)
				require.Equal(t, "origin_not_allowed", errorCode(t, resp, body))
				require.Contains(t, body, origin)
				require.Contains(t, body, "-allow-origin")
				for name := range resp.Header {
					require.False(t, strings.HasPrefix(name, "Access-Control-"), name)
				}
			}
			resp, text := s.call("OPTIONS", "/v1/workspaces/demo/chats", "", "Authorization", "", "Origin", origin, "Access-Control-Request-Method", "POST")
			if !allowed {
				judged(resp, text)
			} else {
				require.Equal(t, http.StatusNoContent, resp.StatusCode)
			}
			judged(s.call("POST", "/v1/workspaces/demo/chats", `{"agent_id":"assistant"}`, "Origin", origin))
			judged(s.call("GET", "/debug/requests", "", "Origin", origin))

			made := s.register(nil)
			judged(s.call("PUT", strings.TrimPrefix(made.UploadURL, s.url), content, "Authorization", "", "x-ms-blob-type", "BlockBlob", "Origin", origin))
			require.Equal(t, allowed, len(s.storage(made.FileID)) == 1, "the storage must not even be asked")

			// Nothing was done for it, and nothing was counted.
			_, text = s.call("GET", "/debug/requests", "")
			require.Equal(t, allowed, strings.Contains(text, "/chats\""), text)
		})
	}
}

func TestRequestsOfNoPageAreAnswered(t *testing.T) {
	s := serve(t)
	resp, _ := s.call("POST", "/v1/workspaces/demo/chats", `{"agent_id":"assistant"}`)
	require.Equal(t, http.StatusCreated, resp.StatusCode)
	require.Empty(t, resp.Header.Get("Access-Control-Allow-Origin"))
}
