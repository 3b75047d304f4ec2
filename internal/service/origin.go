package service

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// errOrigin says what an origin must be.
var errOrigin = errors.New("an origin such as https://app.example or http://192.0.2.7:8080, or null")

// ParseOrigin gives an origin as browsers write it in the header Origin (HTML standard, "ASCII serialisation of an
// origin"): lower case, without a default port. "null" is that of sandboxed frames and of files.
func ParseOrigin(text string) (string, error) {
	if text == "null" {
		return text, nil
	}
	u, err := url.Parse(strings.TrimSuffix(text, "/"))
	if err != nil || u.Scheme == "" || u.Hostname() == "" || *u != (url.URL{Scheme: u.Scheme, Host: u.Host}) {
		return "", errOrigin
	}
	host := strings.ToLower(u.Host)
	for scheme, port := range map[string]string{"http": ":80", "https": ":443"} {
		if u.Scheme == scheme {
			host = strings.TrimSuffix(host, port)
		}
	}
	return u.Scheme + "://" + host, nil
}

// answers tells whether pages of an origin may use the service: those of this machine, and those that Config.Origins
// names. The keys of a service for development are known to everybody, so that any site that its developer visits
// could use it. The request's own host is no proof: a site may give its name the address of this machine.
func (s *Service) answers(origin string) bool {
	return isLoopback(origin) || slices.Contains(s.cfg.Origins, origin)
}

func isLoopback(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") {
		return false
	}
	host := u.Hostname()
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || net.ParseIP(host).IsLoopback()
}

// admit refuses the pages of other origins before anything is done for them, and lets the others read the answer. What
// names no origin comes from no page, or from one that can't read the answer.
func (s *Service) admit(w http.ResponseWriter, r *http.Request) bool {
	h := w.Header()
	h.Add("Vary", "Origin")
	for _, origin := range r.Header.Values("Origin") {
		if !s.answers(origin) {
			h.Del("Access-Control-Allow-Origin")
			writeError(w, failure(http.StatusForbidden, "origin_not_allowed",
				"pages of the origin "+origin+" may not use this service: it answers those of loopback origins, and those that turnwire-dev's flag -allow-origin names"))
			return false
		}
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", "x-request-id, retry-after")
	}
	return true
}
