package blobstore

import (
	"encoding/base64"
	"encoding/xml"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Azure's limits, in bytes. drainMost is what a refused request may still send.
const (
	maxBlock     = 4000 << 20
	maxBlob      = 5000 << 20
	maxBlockList = 8 << 20
	drainMost    = 256 << 20
)

// corsHeaders are the request headers that the form needs, and no others.
var corsHeaders = []string{"content-type", "x-ms-blob-content-type", "x-ms-blob-type"}

// Operation names what a request does, and the object that it is for: block, blocklist, blob,
// get-blocklist, get, preflight, and "" for anything else.
func (s *Store) Operation(r *http.Request) (id, operation string) {
	id = strings.TrimPrefix(r.URL.Path, Prefix)
	comp := r.URL.Query().Get("comp")
	switch {
	case r.Method == http.MethodOptions:
		operation = "preflight"
	case r.Method == http.MethodPut && comp == "block":
		operation = "block"
	case r.Method == http.MethodPut && comp == "blocklist":
		operation = "blocklist"
	case r.Method == http.MethodPut && comp == "":
		operation = "blob"
	case r.Method == http.MethodGet && comp == "blocklist":
		operation = "get-blocklist"
	case (r.Method == http.MethodGet || r.Method == http.MethodHead) && comp == "":
		operation = "get"
	}
	return id, operation
}

// ServeHTTP answers below Prefix. Which pages may read the answer says the service, which serves it: see service.Config.Origins.
func (s *Store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Expose-Headers", "etag, last-modified, x-ms-error-code, x-ms-request-id, x-request-id")
	h.Set("x-ms-version", signVersion)
	h.Set("x-ms-request-id", h.Get("X-Request-Id"))
	if r.Method == http.MethodOptions {
		preflight(w, r)
		return
	}
	if problem := s.serve(w, r); problem != nil {
		// A browser reads the answer only once its whole body is taken; closed before, it sees a reset.
		_, _ = io.CopyN(io.Discard, r.Body, drainMost)
		writeError(w, problem)
	}
}

func preflight(w http.ResponseWriter, r *http.Request) {
	for name := range strings.SplitSeq(r.Header.Get("Access-Control-Request-Headers"), ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		if name != "" && !slices.Contains(corsHeaders, name) {
			writeError(w, failure(http.StatusForbidden, "CorsPreflightFailure", "the header "+name+" is no part of the form"))
			return
		}
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, PUT")
	h.Set("Access-Control-Allow-Headers", strings.Join(corsHeaders, ", "))
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusOK)
}

func (s *Store) serve(w http.ResponseWriter, r *http.Request) *storageError {
	// A signed address is its own authority: whoever sends a key or a cookie along gives it away.
	for _, name := range []string{"Authorization", "Cookie"} {
		if r.Header.Get(name) != "" {
			return badHeader(name, "a signed address must get no "+name)
		}
	}
	name, operation := s.Operation(r)
	if !nameForm.MatchString(name) {
		return failure(http.StatusBadRequest, "InvalidUri", "the path must be "+Prefix+"<file id>")
	}
	q := r.URL.Query()
	allowed, problem := s.check(name, q)
	if problem != nil {
		return problem
	}
	o := s.find(name)
	if o == nil {
		return explain(errRemoved)
	}
	if allowed.plain && operation != "blob" {
		return failure(http.StatusMethodNotAllowed, "UnsupportedHttpVerb", "this address takes one PUT of the whole")
	}
	need := "w"
	if strings.HasPrefix(operation, "get") {
		need = "r"
	}
	if !strings.Contains(allowed.permissions, need) {
		return failure(http.StatusForbidden, "AuthorizationPermissionMismatch", "the address does not permit this operation")
	}
	switch operation {
	case "block":
		return putBlock(w, r, o)
	case "blocklist":
		return s.putBlockList(w, r, o)
	case "blob":
		return s.putBlob(w, r, o, allowed.plain)
	case "get-blocklist":
		return getBlockList(w, r, o)
	case "get":
		return get(w, r, o)
	}
	if r.Method == http.MethodPut {
		return badQuery("comp", "comp must be block or blocklist, or be left out")
	}
	return failure(http.StatusMethodNotAllowed, "UnsupportedHttpVerb", "The resource doesn't support the specified HTTP verb.")
}

func length(r *http.Request, most int64) *storageError {
	switch {
	case r.ContentLength < 0:
		return failure(http.StatusLengthRequired, "MissingContentLengthHeader", "the header Content-Length is missing")
	case r.ContentLength > most:
		return failure(http.StatusRequestEntityTooLarge, "RequestBodyTooLarge", "The request body is too large.")
	}
	return nil
}

func putBlock(w http.ResponseWriter, r *http.Request, o *object) *storageError {
	id, err := base64.StdEncoding.DecodeString(r.URL.Query().Get("blockid"))
	if err != nil || len(id) == 0 || len(id) > 64 {
		return badQuery("blockid", "blockid must be the base64 of 1 to 64 bytes")
	}
	if problem := length(r, maxBlock); problem != nil {
		return problem
	}
	if r.ContentLength == 0 {
		return badHeader("Content-Length", "a block must not be empty")
	}
	if err := o.stage(string(id), r.Body, r.ContentLength); err != nil {
		return explain(err)
	}
	w.WriteHeader(http.StatusCreated)
	return nil
}

func (s *Store) putBlob(w http.ResponseWriter, r *http.Request, o *object, plain bool) *storageError {
	contentType := r.Header.Get("x-ms-blob-content-type")
	if contentType == "" {
		contentType = r.Header.Get("Content-Type")
	}
	switch kind := r.Header.Get("x-ms-blob-type"); {
	case plain:
	case kind == "":
		e := failure(http.StatusBadRequest, "MissingRequiredHeader", "An HTTP header that's mandatory for this request is not specified.")
		e.Header = "x-ms-blob-type"
		return e
	case kind != "BlockBlob":
		return badHeader("x-ms-blob-type", "x-ms-blob-type must be BlockBlob")
	}
	if problem := length(r, maxBlob); problem != nil {
		return problem
	}
	m, err := o.put(r.Body, r.ContentLength, contentType, s.cfg.Now())
	if err != nil {
		return explain(err)
	}
	created(w, m)
	return nil
}

func created(w http.ResponseWriter, m *manifest) {
	w.Header().Set("ETag", m.ETag)
	w.Header().Set("Last-Modified", m.Modified.Format(http.TimeFormat))
	w.WriteHeader(http.StatusCreated)
}

func (s *Store) putBlockList(w http.ResponseWriter, r *http.Request, o *object) *storageError {
	if problem := length(r, maxBlockList); problem != nil {
		return problem
	}
	list, problem := readBlockList(r.Body)
	if problem != nil {
		return problem
	}
	m, err := o.commit(list, r.Header.Get("x-ms-blob-content-type"), s.cfg.Now())
	if err != nil {
		return explain(err)
	}
	created(w, m)
	return nil
}

func readBlockList(body io.Reader) ([]listed, *storageError) {
	invalid := failure(http.StatusBadRequest, "InvalidXmlDocument", "the body must be a BlockList of Latest, Committed and Uncommitted")
	var document struct {
		XMLName xml.Name `xml:"BlockList"`
		Entries []struct {
			XMLName xml.Name
			ID      string `xml:",chardata"`
		} `xml:",any"`
	}
	if err := xml.NewDecoder(body).Decode(&document); err != nil {
		return nil, invalid
	}
	if len(document.Entries) > maxBlocks {
		return nil, failure(http.StatusBadRequest, "BlockListTooLong", "The block list may not contain more than 50,000 blocks.")
	}
	list := make([]listed, 0, len(document.Entries))
	for _, entry := range document.Entries {
		where := entry.XMLName.Local
		id, err := base64.StdEncoding.DecodeString(strings.TrimSpace(entry.ID))
		if err != nil || !slices.Contains([]string{"Latest", "Committed", "Uncommitted"}, where) {
			return nil, invalid
		}
		list = append(list, listed{id: string(id), where: where})
	}
	return list, nil
}

// shownBlock is a block in the answer of Get Block List.
type shownBlock struct {
	Name string
	Size int64
}

type shownBlocks struct {
	Block []shownBlock
}

func getBlockList(w http.ResponseWriter, r *http.Request, o *object) *storageError {
	kind := r.URL.Query().Get("blocklisttype")
	if kind == "" {
		kind = "committed"
	}
	if !slices.Contains([]string{"committed", "uncommitted", "all"}, kind) {
		return badQuery("blocklisttype", "blocklisttype must be committed, uncommitted or all")
	}
	o.mu.Lock()
	staged := slices.SortedFunc(maps.Values(o.staged), func(a, b block) int { return strings.Compare(a.ID, b.ID) })
	m := o.committed
	o.mu.Unlock()
	if m == nil && len(staged) == 0 {
		return explain(errRemoved)
	}
	var document struct {
		XMLName           xml.Name     `xml:"BlockList"`
		CommittedBlocks   *shownBlocks `xml:",omitempty"`
		UncommittedBlocks *shownBlocks `xml:",omitempty"`
	}
	if kind != "uncommitted" {
		document.CommittedBlocks = &shownBlocks{}
		if m != nil {
			document.CommittedBlocks = show(m.Blocks)
		}
	}
	if kind != "committed" {
		document.UncommittedBlocks = show(staged)
	}
	writeXML(w, http.StatusOK, document)
	return nil
}

func show(blocks []block) *shownBlocks {
	shown := &shownBlocks{}
	for _, b := range blocks {
		if b.ID != "" {
			shown.Block = append(shown.Block, shownBlock{Name: base64.StdEncoding.EncodeToString([]byte(b.ID)), Size: b.Size})
		}
	}
	return shown
}

func get(w http.ResponseWriter, r *http.Request, o *object) *storageError {
	bytes, m, err := o.open()
	if err != nil {
		return explain(err)
	}
	defer bytes.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	if m.ContentType != "" {
		w.Header().Set("Content-Type", m.ContentType)
	}
	// What a page uploaded must not act in the service's origin.
	w.Header().Set("Content-Security-Policy", "sandbox")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("ETag", m.ETag)
	http.ServeContent(w, r, "", m.Modified, io.NewSectionReader(bytes, 0, bytes.Size()))
	return nil
}
