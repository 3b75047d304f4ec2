package api

import "github.com/seed-76f09577/turnwire/wasm/json"

// Ticket says where and how a file's bytes are to be stored (profile, "Files" 2).
type Ticket struct {
	FileID      string
	URL         string // "" only where Parts and CompleteURL stand for it
	Protocol    string // "" where the service names none
	Method      string
	Header      []Field
	BlockSize   int64 // bytes; 0 where the service names none
	Parts       []Part
	CompleteURL string
	ExpiresAt   int64    // Unix milliseconds; 0 where the service names none
	Extensions  []string // of tus, that the service says its server has
}

// Part is one part's own address.
type Part struct {
	Number int // from 1
	URL    string
}

// ParseTicket reads the answer to UploadURL. What a caller's mapUploadTicket made of it is read alike: every name is
// also known in the spelling of the JavaScript API. Where an error is returned, the ticket may still have a FileID: the
// file is registered then, and its failure should be reported.
func ParseTicket(req *Request, res *Response, body []byte) (*Ticket, *Error) {
	t := &Ticket{}
	var code, want string
	switch isJSON := json.Valid(body) && json.IsObject(trim(body)); {
	case !isJSON:
		code, want = "ticket_not_json", "a JSON object"
	case !t.parse(body):
		code, want = "ticket_without_id", "an identifier (file_id or id)"
	case t.URL == "" && (len(t.Parts) == 0 || t.CompleteURL == ""):
		code, want = "ticket_without_url", "an address (upload_url, signed_url or url)"
	default:
		return t, nil
	}
	err := unexpected(req, res, body, code, want, KindProtocol)
	err.Message += "; option mapUploadTicket can make a ticket of it"
	return t, err
}

// parse reads what there is, and reports whether the ticket names its file.
func (t *Ticket) parse(object []byte) bool {
	m := (*[19][]byte)(json.Members(object, "file_id", "fileId", "id", "upload_url", "uploadUrl", "signed_url", "url",
		"complete_url", "completeURL", "block_size", "blockSize", "expires_at", "expiresAt",
		"protocol", "method", "headers", "parts", "extensions", "file"))
	ids, addresses, completions, blockSizes, ends := m[:3], m[3:7], m[7:9], m[9:11], m[11:13]
	protocol, method, headers, parts, extensions, file := m[13], m[14], m[15], m[16], m[17], m[18]
	if t.FileID = identifier(ids...); t.FileID == "" {
		t.FileID = identifier(json.Members(file, "file_id", "id")...)
	}
	t.URL, t.CompleteURL = firstString(addresses...), firstString(completions...)
	for _, v := range blockSizes {
		if n, ok := json.Int(v); ok && n > 0 && t.BlockSize == 0 {
			t.BlockSize = n
		}
	}
	for _, v := range ends {
		if t.ExpiresAt == 0 {
			t.ExpiresAt = moment(v)
		}
	}
	t.Protocol, t.Method = json.String(protocol), upper(json.String(method))
	json.Each(headers, func(key, value []byte) {
		if name := json.String(quoted(key)); name != "" && json.IsString(value) {
			t.Header = append(t.Header, Field{name, json.String(value)})
		}
	})
	json.EachItem(parts, func(item []byte) {
		p := json.Members(item, "part_number", "partNumber", "number", "url")
		numbers, url := p[:3], p[3]
		for _, v := range numbers {
			if n, ok := json.Int(v); ok && n > 0 && n <= 1<<30 {
				t.Parts = append(t.Parts, Part{int(n), json.String(url)})
				break
			}
		}
	})
	for _, item := range json.Items(extensions) {
		if name := json.String(item); name != "" {
			t.Extensions = append(t.Extensions, name)
		}
	}
	return t.FileID != ""
}

// AppendJSON appends the ticket in a form that ParseTicket reads.
func (t *Ticket) AppendJSON(dst []byte) []byte {
	w := json.WriterTo(dst)
	w.Open("", '{')
	w.String("file_id", t.FileID)
	w.Given("upload_url", t.URL)
	w.Given("protocol", t.Protocol)
	w.Given("method", t.Method)
	w.Given("complete_url", t.CompleteURL)
	w.Int("block_size", t.BlockSize)
	w.Int("expires_at", t.ExpiresAt)
	w.Open("headers", '{')
	for _, f := range t.Header {
		w.String(f.Name, f.Value)
	}
	w.Close('}')
	w.Open("parts", '[')
	for _, p := range t.Parts {
		w.Open("", '{')
		w.Int("part_number", int64(p.Number))
		w.String("url", p.URL)
		w.Close('}')
	}
	w.Close(']')
	w.Open("extensions", '[')
	for _, name := range t.Extensions {
		w.String("", name)
	}
	w.Close(']')
	w.Close('}')
	return w.Text()
}

func quoted(key []byte) []byte {
	return append(append([]byte{'"'}, key...), '"')
}

func upper(s string) string {
	out := []byte(s)
	for i, c := range out {
		if c >= 'a' && c <= 'z' {
			out[i] = c - 'a' + 'A'
		}
	}
	return string(out)
}
