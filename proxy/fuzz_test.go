package proxy

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// FuzzPath looks for a target that passes, and is at the service another one than was checked.
func FuzzPath(f *testing.F) {
	for _, target := range []string{"/v1/files/a.b", "/v1/files/%2e%2e", "/v1/chats/a%2Fb/abort", "/v1/workspaces/x/files/upload-url", "//v1/files/a", "/v1/files/ä%20b", "*", "http://x/v1/files/a"} {
		f.Add(target)
	}
	base, err := url.Parse("https://service.example/base")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil {
			return
		}
		routes, id, problem := find(u)
		if problem != nil {
			require.Contains(t, []int{http.StatusBadRequest, http.StatusNotFound}, problem.status)
			return
		}
		for _, rt := range routes {
			sent, err := url.Parse(rt.target(base, id).String())
			require.NoError(t, err)
			require.Equal(t, "service.example", sent.Host)
			require.Empty(t, sent.RawQuery+sent.Fragment)
			want := strings.Split("/base/"+strings.ReplaceAll(strings.Join(rt.path, "/"), "*", "\x00"), "/")
			got := strings.Split(sent.EscapedPath(), "/")
			require.Len(t, got, len(want), "segments")
			for i := range want {
				decoded, err := url.PathUnescape(got[i])
				require.NoError(t, err)
				if want[i] == "\x00" {
					want[i] = id
				}
				require.Equal(t, want[i], decoded)
				require.NotContains(t, []string{".", ".."}, decoded)
			}
		}
	})
}

// FuzzTokens looks for a token or a seal that is taken and was not given.
func FuzzTokens(f *testing.F) {
	secret := secrets{[]byte(strings.Repeat("s", leastSecret))}
	now := time.Unix(1_800_000_000, 0)
	clock := func() time.Time { return now }
	tokens := &Tokens{secrets: secret, keep: time.Hour, now: clock}
	seals := sealed{secrets: secret, keep: time.Hour, now: clock}
	good := tokens.Issue("alice")
	shown, err := seals.give(f.Context(), chats, "alice", "chat_1")
	require.NoError(f, err)
	for _, text := range []string{good, shown, good + "=", good + "\n", shown[:20], "a.b.c", ".", "..", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header["Authorization"] = []string{"Bearer " + text}
		if caller, err := tokens.Authorize(r); err == nil {
			require.Equal(t, good, text)
			require.Equal(t, "alice", caller)
		}
		if id, err := seals.take(t.Context(), chats, "alice", text); err == nil {
			require.Equal(t, shown, text)
			require.Equal(t, "chat_1", id)
		}
		for _, other := range []struct {
			of     kind
			caller string
		}{{files, "alice"}, {chats, "bob"}, {chats, ""}} {
			_, err := seals.take(t.Context(), other.of, other.caller, text)
			require.Error(t, err)
		}
	})
}
