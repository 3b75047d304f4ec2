package proxy

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSegment bounds an identifier of the service with the seal that the proxy adds, in bytes.
const maxSegment = 1024

// kind is what an identifier names. It goes into seals, and into the store's keys.
type kind string

const (
	chats kind = "chat"
	files kind = "file"
)

// A route is one endpoint of the service's interface.
type route struct {
	name, method string
	// path has a * where an identifier stands; of names what that is, "" for a workspace.
	path []string
	of   kind
	// members are those that the body's object may have; nil for no body.
	members []string
	// makes is what a success brings into being, and hands to the caller.
	makes kind
	// streams says that a success is an event stream.
	streams bool
}

var abortRoute = route{name: "abort", method: "POST", path: []string{"v1", "chats", "*", "abort"}, of: chats}

// table is the service's interface: what is not in it does not pass.
var table = []route{
	{name: "chats", method: "POST", path: []string{"v1", "workspaces", "*", "chats"}, members: []string{"agent_id", "is_temporary"}, makes: chats},
	{name: "messages", method: "POST", path: []string{"v1", "chats", "*", "messages"}, of: chats, members: []string{"parts", "model"}, streams: true},
	abortRoute,
	{name: "upload-url", method: "POST", path: []string{"v1", "workspaces", "*", "files", "upload-url"},
		members: []string{"name", "size", "content_type", "purpose", "checksum", "file_id"}, makes: files},
	{name: "report", method: "PATCH", path: []string{"v1", "files", "*"}, of: files, members: []string{"status", "size", "checksum", "error"}},
	{name: "file", method: "GET", path: []string{"v1", "files", "*"}, of: files},
}

// find gives the endpoints of a path, and the identifier in it, decoded. The path is taken as it was written: what names
// an endpoint only once it is decoded, joined or cleaned names it only for some of those who read it.
func find(u *url.URL) (routes []route, id string, problem *refusal) {
	// Of CONNECT and OPTIONS * there is no path.
	written, ok := strings.CutPrefix(u.EscapedPath(), "/")
	if !ok {
		return nil, "", refuse(http.StatusBadRequest, "invalid_path", "the request's target must be a path")
	}
	segments := strings.Split(written, "/")
	for _, rt := range table {
		if matches(rt.path, segments) {
			routes = append(routes, rt)
		}
	}
	if len(routes) == 0 {
		return nil, "", refuse(http.StatusNotFound, "unknown_path", "there is no such endpoint")
	}
	id, err := url.PathUnescape(segments[slices.Index(routes[0].path, "*")])
	if err != nil || !isName(id) {
		return nil, "", refuse(http.StatusBadRequest, "invalid_path", "the path holds what is no identifier")
	}
	return routes, id, nil
}

func matches(path, segments []string) bool {
	return slices.EqualFunc(path, segments, func(want, got string) bool { return want == "*" || want == got })
}

// isName tells whether a text can be one segment of a path, to everybody who reads it.
func isName(id string) bool {
	return id != "" && id != "." && id != ".." && len(id) <= maxSegment && utf8.ValidString(id) &&
		!strings.ContainsAny(id, `/\%?#;`) && !strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsPrint(r) })
}

// target is the address at the service of an endpoint.
func (rt route) target(base *url.URL, id string) *url.URL {
	u := *base
	var plain, escaped strings.Builder
	for _, segment := range rt.path {
		if segment == "*" {
			segment = id
		}
		plain.WriteString("/" + segment)
		escaped.WriteString("/" + url.PathEscape(segment))
	}
	u.Path, u.RawPath = base.Path+plain.String(), base.EscapedPath()+escaped.String()
	return &u
}
