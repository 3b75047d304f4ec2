package upload

import "strings"

// Of package strings, only what looks at single bytes and at ends is used here: its search, folding and Replacer, with
// the tables of Unicode, made the module 20 KB larger (brotli).

// cut divides s at the first sep, as strings.Cut does.
func cut(s, sep string) (before, after string, found bool) {
	for i := 0; i+len(sep) <= len(s); i++ {
		if s[i:i+len(sep)] == sep {
			return s[:i], s[i+len(sep):], true
		}
	}
	return s, "", false
}

func contains(s, part string) bool {
	_, _, found := cut(s, part)
	return found
}

func trim(s string) string {
	for s != "" && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for s != "" && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}

// xmlText is the text of the first element of that name, its entities resolved; "" where there is none. Stores' answers
// are flat enough to be read so.
func xmlText(body []byte, name string) string {
	text, _ := xmlElement(string(body), name)
	return text
}

// xmlElement returns the text of the first element called name and what follows it.
func xmlElement(s, name string) (text, rest string) {
	for {
		_, after, found := cut(s, "<"+name)
		if !found || after == "" {
			return "", ""
		}
		s = after
		if s[0] != '>' && s[0] != ' ' {
			continue
		}
		_, body, _ := cut(s, ">")
		text, rest, closed := cut(body, "</"+name+">")
		if !closed {
			return "", ""
		}
		return replace(text, xmlEntities), rest
	}
}

// replace puts the second of each pair in place of the first.
func replace(s string, pairs []string) string {
	var out []byte
next:
	for s != "" {
		for i := 0; i < len(pairs); i += 2 {
			if strings.HasPrefix(s, pairs[i]) {
				out = append(out, pairs[i+1]...)
				s = s[len(pairs[i]):]
				continue next
			}
		}
		out = append(out, s[0])
		s = s[1:]
	}
	return string(out)
}

var (
	xmlEntities = []string{"&lt;", "<", "&gt;", ">", "&quot;", `"`, "&apos;", "'", "&#34;", `"`, "&#39;", "'", "&amp;", "&"}
	xmlEscape   = []string{"<", "&lt;", ">", "&gt;", `"`, "&quot;", "&", "&amp;"}
)
