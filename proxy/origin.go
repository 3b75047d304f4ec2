package proxy

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// checkOrigin tells whether a configured origin is written as browsers write it (HTML standard, "ASCII serialisation of
// an origin").
func checkOrigin(origin string) error {
	if origin == "null" {
		return nil
	}
	u, err := url.Parse(origin)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" ||
		*u != (url.URL{Scheme: u.Scheme, Host: u.Host}) || u.Host != strings.ToLower(u.Host) ||
		u.Scheme == "http" && u.Port() == "80" || u.Scheme == "https" && u.Port() == "443" {
		return fmt.Errorf("must hold origins as browsers write them, such as https://app.example, or null, not %q", origin)
	}
	return nil
}

// admit refuses pages of other origins before anything is done for them, and lets the others read the answer. The
// request's own host proves nothing, for a site may give its name any address: the origin at which the proxy itself lies
// has to be named too. What names no origin is no page's, or a page's reading at its own origin.
func (p *Proxy) admit(h http.Header, r *http.Request) *refusal {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
			return refuse(http.StatusForbidden, "origin_not_allowed", "pages of other origins must ask by CORS")
		}
		return nil
	}
	if len(origins) > 1 || !slices.Contains(p.cfg.Origins, origins[0]) {
		return refuse(http.StatusForbidden, "origin_not_allowed", "pages of this origin may not use this service")
	}
	h.Set("Access-Control-Allow-Origin", origins[0])
	h.Set("Access-Control-Expose-Headers", requestID+", Retry-After")
	if origins[0] != "null" {
		h.Set("Access-Control-Allow-Credentials", "true")
	}
	return nil
}

// preflight answers what a browser asks before a page's request to another origin (Fetch standard, "CORS-preflight
// request").
func (p *Proxy) preflight(w http.ResponseWriter, methods string) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", methods)
	h.Set("Access-Control-Allow-Headers", strings.Join(append([]string{"Authorization"}, p.passed...), ", "))
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}
