package api

import "github.com/seed-76f09577/turnwire/wasm/json"

// ChatID finds the new chat's identifier in the answer to its creation: the first string among chat_id and id, then
// the same inside chat or data (profile, "Responses").
func ChatID(req *Request, res *Response, body []byte) (string, *Error) {
	if !json.Valid(body) || !json.IsObject(trim(body)) {
		what := "something that is not a JSON object"
		if start := Excerpt(body, 200); start != "" {
			what += ", beginning: " + start
		}
		return "", &Error{Kind: KindProtocol, Code: "chat_not_json", RequestID: res.RequestID, Status: res.Status,
			Message: req.Method + " " + req.Path + " answered with " + what + "; is baseURL the service's address?"}
	}
	top := json.Members(body, "chat_id", "id", "chat", "data")
	chat, data := json.Members(top[2], "chat_id", "id"), json.Members(top[3], "chat_id", "id")
	if id := identifier(top[0], top[1], chat[0], chat[1], data[0], data[1]); id != "" {
		return id, nil
	}
	return "", &Error{Kind: KindProtocol, Code: "chat_without_id", RequestID: res.RequestID, Status: res.Status,
		Message: req.Method + " " + req.Path + " answered without an identifier: expected chat_id or id, saw " + names(body)}
}

// identifier is firstString of what can stand in a path: half a surrogate pair can't, and is read as U+FFFD.
func identifier(values ...[]byte) string {
	id := firstString(values...)
	for _, c := range id {
		if c == '\uFFFD' {
			return ""
		}
	}
	return id
}

// firstString is the first of the values that is a string with something in it.
func firstString(values ...[]byte) string {
	for _, v := range values {
		if s := json.String(v); s != "" {
			return s
		}
	}
	return ""
}

func names(object []byte) string {
	out := ""
	json.Each(object, func(key, _ []byte) {
		if len(out) > 200 {
			return
		}
		if out != "" {
			out += ", "
		}
		out += string(key)
	})
	if out == "" {
		return "no fields"
	}
	return Excerpt([]byte(out), 200)
}

func trim(text []byte) []byte {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\t' || text[0] == '\n' || text[0] == '\r') {
		text = text[1:]
	}
	return text
}
