package service

import (
	"net/http"
	"strings"
)

// originOf is the origin at which the page reached the service. A proxy that ends TLS says by which scheme the request
// came to it: an http address would be blocked on the page that it brought.
func originOf(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	if told := forwardedScheme(r.Header); told != "" {
		scheme = told
	}
	return scheme + "://" + r.Host
}

// forwardedScheme reads Forwarded (RFC 7239), else X-Forwarded-Proto: of several proxies the first is the page's.
func forwardedScheme(h http.Header) string {
	told, _, _ := strings.Cut(h.Get("X-Forwarded-Proto"), ",")
	first, _, _ := strings.Cut(h.Get("Forwarded"), ",")
	for pair := range strings.SplitSeq(first, ";") {
		if name, value, _ := strings.Cut(pair, "="); strings.EqualFold(strings.TrimSpace(name), "proto") {
			told = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	switch told = strings.ToLower(strings.TrimSpace(told)); told {
	case "http", "https":
		return told
	}
	return ""
}
