package upload

import (
	b64 "encoding/base64"
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/stretchr/testify/assert"
)

func TestAddresses(t *testing.T) {
	assert.Equal(t, "a b", query("https://h/p?x=1&Name=a%20b#f", "name"))
	assert.Equal(t, "", query("https://h/p#?name=1", "name"))
	assert.Equal(t, "50%", query("?a=50%", "a"))
	assert.Equal(t, "u?a=1&b", withQuery("u?a=1#x", "b"))
	assert.Equal(t, "u?b", withQuery("u", "b"))
	assert.Equal(t, "u?b", withQuery("u?", "b"))
	for _, c := range []struct{ base, location, want string }{
		{"https://h/a/b?q", "https://o/x", "https://o/x"},
		{"https://h/a/b?q", "/x", "https://h/x"},
		{"https://h/a/b?q", "x", "https://h/a/x"},
		{"https://h", "x", "https://h/x"},
		{"https://h?q", "/x", "https://h/x"},
		{"https://h/a", "//o/x", "https://o/x"},
		{"https://h/p#/q", "x", "https://h/x"},
		{"/a/b", "/x", "/x"},
		{"/a?u=https://o/p", "/x", "/x"},
	} {
		assert.Equal(t, c.want, resolve(c.base, c.location))
	}
	at := int64(1795168800000) // 2026-11-20T10:00:00Z
	for name, ticket := range map[string]api.Ticket{
		"the ticket's": {URL: "u?sig=1&se=2020-01-01", ExpiresAt: at},
		"SAS":          {URL: "u?sig=1&se=2026-11-20T10%3A00%3A00Z"},
		"S3":           {Parts: []api.Part{{Number: 1, URL: "u?X-Amz-Date=20261120T094500Z&X-Amz-Expires=900"}}},
		"Google":       {URL: "u?X-Goog-Date=20261120T090000Z&X-Goog-Expires=3600"},
	} {
		assert.Equal(t, at, expiry(&ticket), name)
	}
	assert.Zero(t, expiry(&api.Ticket{URL: "u?se=2026-11-20T10:00:00Z"}), "no signature, no expiry")
	for _, data := range []string{"", "a", "ab", "abc", "\xff\x00\xfe?"} {
		assert.Equal(t, b64.StdEncoding.EncodeToString([]byte(data)), base64([]byte(data)))
	}
}
