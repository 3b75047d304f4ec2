package service_test

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAddressesAreOfTheScheme: on a page that came over https, an http address is blocked or taken for a redirect.
func TestAddressesAreOfTheScheme(t *testing.T) {
	for name, c := range map[string]struct {
		tls     bool
		headers []string
		want    string
	}{
		"plain":                            {false, nil, "http"},
		"TLS":                              {true, nil, "https"},
		"a proxy that ends TLS":            {false, []string{"X-Forwarded-Proto", "https"}, "https"},
		"two of them":                      {false, []string{"X-Forwarded-Proto", "HTTPS, http"}, "https"},
		"a proxy that adds TLS":            {true, []string{"X-Forwarded-Proto", "http"}, "http"},
		"one by the standard":              {false, []string{"Forwarded", `for=192.0.2.7;Proto="https";host=app.example, for=192.0.2.8;proto=http`}, "https"},
		"both":                             {false, []string{"Forwarded", "proto=https", "X-Forwarded-Proto", "http"}, "https"},
		"the standard's without a scheme":  {false, []string{"Forwarded", "for=192.0.2.7", "X-Forwarded-Proto", "https"}, "https"},
		"another scheme":                   {false, []string{"X-Forwarded-Proto", "wss"}, "http"},
		"something that is none":           {true, []string{"Forwarded", "proto=https://evil/"}, "https"},
		"a scheme of the second hop alone": {false, []string{"Forwarded", "for=192.0.2.7, proto=https"}, "http"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			r := httptest.NewRequestWithContext(t.Context(), "POST", uploads,
				strings.NewReader(body(announced())))
			r.Host = "app.example:8443"
			r.Header.Set("Authorization", "Bearer "+key)
			r.Header.Set("Content-Type", "application/json")
			for i := 0; i < len(c.headers); i += 2 {
				r.Header.Set(c.headers[i], c.headers[i+1])
			}
			if c.tls {
				r.TLS = &tls.ConnectionState{}
			}
			w := httptest.NewRecorder()
			s.svc.ServeHTTP(w, r)
			require.Equal(t, http.StatusCreated, w.Code, w.Body.String())
			var made fileRecord
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &made))
			require.True(t, strings.HasPrefix(made.UploadURL, c.want+"://app.example:8443/storage/"), made.UploadURL)
		})
	}
}
