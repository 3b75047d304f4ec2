package upload

import (
	"strings"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/json"
)

// query returns a parameter of an address's query as it stands decoded, "" where it has none. Names compare without
// case: signers differ in it.
func query(address, name string) string {
	name = api.Lower(name)
	_, rest, _ := cut(withoutFragment(address), "?")
	for rest != "" {
		var pair string
		pair, rest, _ = cut(rest, "&")
		if key, value, _ := cut(pair, "="); api.Lower(unescape(key)) == name {
			return unescape(value)
		}
	}
	return ""
}

// withQuery adds a parameter whose value needs no encoding.
func withQuery(address, parameter string) string {
	address = withoutFragment(address)
	switch {
	case !contains(address, "?"):
		return address + "?" + parameter
	case strings.HasSuffix(address, "?"), strings.HasSuffix(address, "&"):
		return address + parameter
	}
	return address + "&" + parameter
}

func withoutFragment(address string) string {
	address, _, _ = cut(address, "#")
	return address
}

// place is an address less its query: what stays the same when it is signed anew.
func place(address string) string {
	address, _, _ = cut(withoutFragment(address), "?")
	return address
}

// unescape undoes percent-encoding and leaves what is no encoding.
func unescape(s string) string {
	if !contains(s, "%") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if high, low := hexDigit(s[i+1]), hexDigit(s[i+2]); high >= 0 && low >= 0 {
				out = append(out, byte(high<<4|low))
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// resolve makes a Location header an address: one that begins with a slash lies on base's host (RFC 9110, section
// 10.2.2; the forms that upload servers send).
func resolve(base, location string) string {
	folder := place(base)
	scheme, rest, absolute := cut(folder, "://")
	switch {
	case contains(location, "://") || !absolute:
		return location
	case strings.HasPrefix(location, "//"):
		return scheme + ":" + location
	}
	host, _, _ := cut(rest, "/")
	root := scheme + "://" + host
	if strings.HasPrefix(location, "/") {
		return root + location
	}
	if i := strings.LastIndexByte(folder, '/'); i >= len(root) {
		return folder[:i+1] + location
	}
	return root + "/" + location
}

// expiry is when a ticket's address ends, in Unix milliseconds: as the ticket says, else as its signature does (Azure
// SAS: se; AWS and Google signatures, version 4: a date and seconds). 0 where neither does.
func expiry(t *api.Ticket) int64 {
	if t.ExpiresAt > 0 {
		return t.ExpiresAt
	}
	address := t.URL
	if len(t.Parts) > 0 {
		address = t.Parts[0].URL
	}
	if query(address, "sig") != "" {
		if at, ok := api.ParseDate(query(address, "se")); ok {
			return at
		}
	}
	for _, signer := range []string{"X-Amz-", "X-Goog-"} {
		begin, ok := api.ParseDate(query(address, signer+"Date"))
		if seconds, isNumber := json.Int([]byte(query(address, signer+"Expires"))); ok && isNumber && seconds > 0 && seconds < 1e9 {
			return begin + 1000*seconds
		}
	}
	return 0
}

// with adds to the protocol's own headers those of the ticket that it does not set itself.
func with(own []api.Field, ticket []api.Field) []api.Field {
	out := own
	for _, f := range ticket {
		if _, known := api.Find(own, f.Name); !known {
			out = append(out, f)
		}
	}
	return out
}

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// base64 is the standard encoding with padding (RFC 4648, section 4). encoding/base64 brings encoding/binary and reflect.
func base64(data []byte) string {
	out := make([]byte, 0, (len(data)+2)/3*4)
	for len(data) > 0 {
		var group [3]byte
		n := copy(group[:], data)
		data = data[n:]
		v := uint(group[0])<<16 | uint(group[1])<<8 | uint(group[2])
		four := [4]byte{base64Digits[v>>18], base64Digits[v>>12&63], base64Digits[v>>6&63], base64Digits[v&63]}
		for i := n + 1; i < 4; i++ {
			four[i] = '='
		}
		out = append(out, four[:]...)
	}
	return string(out)
}

// host is where an address leads, for a message: never its query.
func host(address string) string {
	return place(resolve(address, "/"))
}
