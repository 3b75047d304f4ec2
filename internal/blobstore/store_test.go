package blobstore_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-76f09577/turnwire/internal/blobstore"
	"github.com/seed-76f09577/turnwire/internal/service"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// bed is a store behind a real connection.
type bed struct {
	t      *testing.T
	store  *blobstore.Store
	url    string
	client *http.Client
}

func open(t *testing.T, cfg blobstore.Config) *bed {
	t.Helper()
	if cfg.Now == nil {
		cfg.Now = func() time.Time { return noon }
	}
	store, err := blobstore.Open(cfg)
	require.NoError(t, err)
	server := httptest.NewServer(store)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	t.Cleanup(func() { server.Close(); require.NoError(t, store.Close()) })
	return &bed{t: t, store: store, url: server.URL, client: client}
}

// begin makes an object and returns its address.
func (b *bed) begin(id string, change ...func(*service.Grant)) string {
	b.t.Helper()
	grant := service.Grant{Expires: noon.Add(time.Hour), Service: b.url}
	for _, f := range change {
		f(&grant)
	}
	_, err := b.store.Begin(b.t.Context(), service.Object{ID: id}, grant)
	require.NoError(b.t, err)
	ticket, err := b.store.Sign(b.t.Context(), service.Object{ID: id}, grant)
	require.NoError(b.t, err)
	return ticket.UploadURL
}

func plain(g *service.Grant) { g.Plain = true }

// do sends a request; headers are name, value, name, value …
func (b *bed) do(method, address, body string, headers ...string) (*http.Response, string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, address, strings.NewReader(body))
	require.NoError(b.t, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := b.client.Do(r)
	require.NoError(b.t, err)
	defer resp.Body.Close()
	read, err := io.ReadAll(resp.Body)
	require.NoError(b.t, err)
	return resp, string(read)
}

func (b *bed) block(address, id, body string) int {
	b.t.Helper()
	resp, _ := b.do("PUT", address+"&comp=block&blockid="+url.QueryEscape(b64(id)), body)
	return resp.StatusCode
}

// commit puts a block list of "Latest a", "Committed b" …
func (b *bed) commit(address string, entries ...string) (int, string) {
	b.t.Helper()
	list := `<?xml version="1.0" encoding="utf-8"?><BlockList>`
	for _, entry := range entries {
		where, id, _ := strings.Cut(entry, " ")
		list += "<" + where + ">" + b64(id) + "</" + where + ">"
	}
	resp, _ := b.do("PUT", address+"&comp=blocklist", list+"</BlockList>", "x-ms-blob-content-type", "text/x")
	return resp.StatusCode, resp.Header.Get("x-ms-error-code")
}

func (b *bed) stored(id string) string {
	b.t.Helper()
	r, err := b.store.Read(b.t.Context(), service.Object{ID: id})
	require.NoError(b.t, err)
	defer r.Close()
	read, err := io.ReadAll(r)
	require.NoError(b.t, err)
	return string(read)
}

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func TestSignatures(t *testing.T) {
	for form, change := range map[string]func(*service.Grant){"azure": func(*service.Grant) {}, "plain": plain} {
		at := noon
		b := open(t, blobstore.Config{Now: func() time.Time { return at }})
		address := b.begin("one", change)
		b.begin("two", change)
		_, query, _ := strings.Cut(address, "?")
		shorter, err := url.ParseQuery(query)
		require.NoError(t, err)
		for _, name := range []string{"sig", "signature"} {
			if value := shorter.Get(name); value != "" {
				shorter.Set(name, value[1:])
			}
		}
		cases := map[string]struct {
			address string
			at      time.Time
			status  int
			says    string
		}{
			"good":             {address, noon, 201, ""},
			"to the last":      {address, noon.Add(time.Hour - time.Millisecond), 201, ""},
			"expired":          {address, noon.Add(time.Hour), 403, "Signature not valid in the specified time frame"},
			"of another":       {b.url + "/storage/two?" + query, noon, 403, "Signature did not match"},
			"later expiry":     {strings.Replace(address, "T13", "T14", 1), noon, 403, "Signature did not match"},
			"cut":              {b.url + "/storage/one?" + shorter.Encode(), noon, 403, "Signature did not match"},
			"without":          {b.url + "/storage/one", noon, 403, "AuthenticationFailed"},
			"outside by path":  {b.url + "/storage/..%2fkey?" + query, noon, 400, "InvalidUri"},
			"no name":          {b.url + "/storage/?" + query, noon, 400, "InvalidUri"},
			"more permissions": {strings.Replace(address, "rcw", "rcwd", 1), noon, 403, "Signature did not match"},
		}
		if form == "plain" {
			delete(cases, "more permissions")
		}
		for name, c := range cases {
			t.Run(form+" "+name, func(t *testing.T) {
				b.t, at = t, c.at
				resp, body := b.do("PUT", c.address, "bytes", "x-ms-blob-type", "BlockBlob")
				require.Equal(t, c.status, resp.StatusCode, body)
				require.Contains(t, body, c.says)
				if c.status != 201 {
					require.Equal(t, "application/xml", resp.Header.Get("Content-Type"))
					require.Contains(t, body, "<Code>"+resp.Header.Get("x-ms-error-code")+"</Code>")
				}
			})
		}
		t.Run(form+" looks", func(t *testing.T) {
			parsed, err := url.Parse(address)
			require.NoError(t, err)
			q := parsed.Query()
			require.Equal(t, form == "azure", q.Has("sig") && q.Has("sv") && q.Get("sp") == "rcw" && q.Get("sr") == "b" && q.Get("se") == "2026-11-21T13:00:00Z")
		})
	}
}

func TestPublicOrigin(t *testing.T) {
	b := open(t, blobstore.Config{Public: "https://files.example"})
	require.True(t, strings.HasPrefix(b.begin("one"), "https://files.example/storage/one?"))
}

func TestWhatASignedAddressRefuses(t *testing.T) {
	b := open(t, blobstore.Config{})
	address, whole := b.begin("one"), b.begin("two", plain)
	b.block(address, "aa", "1")
	cases := map[string]struct {
		method, address string
		headers         []string
		body            string
		status          int
		code            string
	}{
		"key":                   {"PUT", address, []string{"Authorization", "Bearer k", "x-ms-blob-type", "BlockBlob"}, "x", 400, "InvalidHeaderValue"},
		"cookie":                {"PUT", address, []string{"Cookie", "a=b", "x-ms-blob-type", "BlockBlob"}, "x", 400, "InvalidHeaderValue"},
		"no blob type":          {"PUT", address, nil, "x", 400, "MissingRequiredHeader"},
		"page blob":             {"PUT", address, []string{"x-ms-blob-type", "PageBlob"}, "x", 400, "InvalidHeaderValue"},
		"other comp":            {"PUT", address + "&comp=page", nil, "x", 400, "InvalidQueryParameterValue"},
		"no block id":           {"PUT", address + "&comp=block", nil, "x", 400, "InvalidQueryParameterValue"},
		"id not base64":         {"PUT", address + "&comp=block&blockid=%3F", nil, "x", 400, "InvalidQueryParameterValue"},
		"id too long":           {"PUT", address + "&comp=block&blockid=" + strings.Repeat("YWFh", 22), nil, "x", 400, "InvalidQueryParameterValue"},
		"id of another length":  {"PUT", address + "&comp=block&blockid=YWFh", nil, "x", 400, "InvalidBlobOrBlock"},
		"empty block":           {"PUT", address + "&comp=block&blockid=YWE%3D", nil, "", 400, "InvalidHeaderValue"},
		"list that is no XML":   {"PUT", address + "&comp=blocklist", nil, "x", 400, "InvalidXmlDocument"},
		"list of other things":  {"PUT", address + "&comp=blocklist", nil, "<BlockList><Newest>YWE=</Newest></BlockList>", 400, "InvalidXmlDocument"},
		"list of unknown":       {"PUT", address + "&comp=blocklist", nil, "<BlockList><Latest>YmI=</Latest></BlockList>", 400, "InvalidBlockList"},
		"delete":                {"DELETE", address, nil, "", 405, "UnsupportedHttpVerb"},
		"get before commit":     {"GET", address, nil, "", 404, "BlobNotFound"},
		"other list":            {"GET", address + "&comp=blocklist&blocklisttype=some", nil, "", 400, "InvalidQueryParameterValue"},
		"block at a plain":      {"PUT", whole + "&comp=block&blockid=YWE%3D", nil, "x", 405, "UnsupportedHttpVerb"},
		"block list of nothing": {"GET", b.begin("three") + "&comp=blocklist", nil, "", 404, "BlobNotFound"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b.t = t
			resp, body := b.do(c.method, c.address, c.body, c.headers...)
			require.Equal(t, c.status, resp.StatusCode, body)
			require.Equal(t, c.code, resp.Header.Get("x-ms-error-code"))
		})
	}
	t.Run("no length", func(t *testing.T) {
		r, err := http.NewRequestWithContext(t.Context(), "PUT", address+"&comp=block&blockid=YWE%3D", io.MultiReader(strings.NewReader("x")))
		require.NoError(t, err)
		resp, err := b.client.Do(r)
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, http.StatusLengthRequired, resp.StatusCode)
	})
}

func TestPreflight(t *testing.T) {
	b := open(t, blobstore.Config{})
	for name, c := range map[string]struct {
		ask    string
		status int
	}{
		"none":         {"", 200},
		"the form's":   {"content-type, X-Ms-Blob-Type,x-ms-blob-content-type", 200},
		"a key":        {"authorization", 403},
		"one too many": {"content-type,x-other", 403},
	} {
		t.Run(name, func(t *testing.T) {
			b.t = t
			resp, _ := b.do("OPTIONS", b.url+"/storage/x?comp=block", "", "Origin", "http://page", "Access-Control-Request-Method", "PUT", "Access-Control-Request-Headers", c.ask)
			require.Equal(t, c.status, resp.StatusCode)
			if c.status == 200 {
				require.Equal(t, "content-type, x-ms-blob-content-type, x-ms-blob-type", resp.Header.Get("Access-Control-Allow-Headers"))
			}
		})
	}
}

func TestReadingClosesTheObject(t *testing.T) {
	dir := t.TempDir()
	b := open(t, blobstore.Config{Dir: dir})
	address := b.begin("one")
	b.do("PUT", address, "checked", "x-ms-blob-type", "BlockBlob")
	require.Equal(t, "checked", b.stored("one"))
	for range 2 {
		resp, _ := b.do("PUT", address, "other", "x-ms-blob-type", "BlockBlob")
		require.Equal(t, 409, resp.StatusCode)
		require.Equal(t, 409, b.block(address, "a", "x"))
		status, _ := b.commit(address)
		require.Equal(t, 409, status)
		again := open(t, blobstore.Config{Dir: dir})
		address = strings.Replace(address, b.url, again.url, 1)
		b = again
	}
	require.Equal(t, "checked", b.stored("one"))
}

func TestRemove(t *testing.T) {
	dir := t.TempDir()
	b := open(t, blobstore.Config{Dir: dir})
	address := b.begin("one")
	b.block(address, "a", "x")
	for range 2 {
		require.NoError(t, b.store.Remove(t.Context(), service.Object{ID: "one"}))
	}
	require.Equal(t, 404, b.block(address, "a", "x"))
	_, err := b.store.Read(t.Context(), service.Object{ID: "one"})
	require.ErrorIs(t, err, service.ErrNoBytes)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "the key is left")
}

func TestRestart(t *testing.T) {
	dir := t.TempDir()
	before := open(t, blobstore.Config{Dir: dir})
	address := before.begin("one")
	before.block(address, "a", "old")
	before.commit(address, "Latest a")
	before.block(address, "a", "new")
	before.block(address, "b", "more")
	// What a crash leaves: a body half arrived, and a block that a commit was about to drop.
	for _, name := range []string{"incoming-1", "1-63"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "one", name), []byte("x"), 0o600))
	}
	after := open(t, blobstore.Config{Dir: dir})
	address = strings.Replace(address, before.url, after.url, 1)
	_, list := after.do("GET", address+"&comp=blocklist&blocklisttype=all", "")
	require.NotContains(t, list, b64("c"))
	status, _ := after.commit(address, "Committed a", "Latest a", "Latest b")
	require.Equal(t, 201, status)
	require.Equal(t, "oldnewmore", after.stored("one"))
}

func TestTemporaryFolderGoes(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	store, err := blobstore.Open(blobstore.Config{})
	require.NoError(t, err)
	_, err = store.Begin(t.Context(), service.Object{ID: "one"}, service.Grant{})
	require.NoError(t, err)
	require.NoError(t, store.Close())
	left, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestABrokenBodyStoresNothing(t *testing.T) {
	b := open(t, blobstore.Config{})
	address := b.begin("one")
	r, err := http.NewRequestWithContext(t.Context(), "PUT", address+"&comp=block&blockid=YQ%3D%3D",
		io.MultiReader(strings.NewReader("half"), iotest.ErrReader(errors.New("cut"))))
	require.NoError(t, err)
	r.ContentLength = 8
	_, err = b.client.Do(r)
	require.Error(t, err)
	status, code := b.commit(address, "Latest a")
	require.Equal(t, 400, status)
	require.Equal(t, "InvalidBlockList", code)
}

func TestManyAtOnce(t *testing.T) {
	b := open(t, blobstore.Config{})
	address := b.begin("one")
	var entries []string
	var want strings.Builder
	var all sync.WaitGroup
	for i := range 40 {
		id := fmt.Sprintf("%02d", i)
		body := strings.Repeat(id, 10_000)
		entries = append(entries, "Latest "+id)
		want.WriteString(body)
		for range 2 {
			all.Go(func() { require.Equal(t, 201, b.block(address, id, body)) })
		}
	}
	all.Wait()
	for range 4 {
		all.Go(func() { b.commit(address, entries...) })
	}
	all.Wait()
	require.Equal(t, want.String(), b.stored("one"))

	r, err := b.store.Read(context.Background(), service.Object{ID: "one"})
	require.NoError(t, err)
	defer r.Close()
	at := r.(io.ReaderAt)
	for _, off := range []int64{0, 1, 19_999, 20_000, 20_001, 799_990} {
		all.Go(func() {
			p := make([]byte, 10)
			_, err := at.ReadAt(p, off)
			require.NoError(t, err)
			require.Equal(t, want.String()[off:off+10], string(p))
		})
	}
	all.Wait()
	n, err := at.ReadAt(make([]byte, 20), 799_990)
	require.Equal(t, 10, n)
	require.ErrorIs(t, err, io.EOF)
}

func TestReaderKeepsTheContract(t *testing.T) {
	b := open(t, blobstore.Config{})
	address := b.begin("one")
	body := []byte("the bytes of three blocks")
	for i, id := range []string{"a", "b", "c"} {
		require.Equal(t, 201, b.block(address, id, string(body[i*8:min(len(body), i*8+8+i/2)])))
	}
	b.commit(address, "Latest a", "Latest b", "Latest c")
	r, err := b.store.Read(t.Context(), service.Object{ID: "one"})
	require.NoError(t, err)
	defer r.Close()
	at := r.(io.ReaderAt)
	require.NoError(t, iotest.TestReader(io.NewSectionReader(at, 0, int64(len(body))), body))
	read, err := io.ReadAll(iotest.OneByteReader(r))
	require.NoError(t, err)
	require.True(t, bytes.Equal(body, read))
}

func TestOriginOfAddresses(t *testing.T) {
	for name, c := range map[string]struct{ public, service, page, want string }{
		"a page elsewhere":               {"", "http://127.0.0.1:80", "http://app.example", "http://127.0.0.1:80/"},
		"a page of the service's origin": {"", "http://127.0.0.1:8080", "http://127.0.0.1:8080", "http://localhost:8080/"},
		"by the other name":              {"", "http://localhost:8080", "http://localhost:8080", "http://127.0.0.1:8080/"},
		"no loopback name":               {"", "https://demo.example", "https://demo.example", "https://demo.example/"},
		"the page's own origin":          {blobstore.PageOrigin, "http://127.0.0.1:8080", "http://127.0.0.1:8080", "http://127.0.0.1:8080/"},
		"another origin":                 {"http://proxy:1", "http://127.0.0.1:8080", "http://127.0.0.1:8080", "http://proxy:1/"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := blobstore.Open(blobstore.Config{Public: c.public})
			require.NoError(t, err)
			defer s.Close()
			ticket, err := s.Sign(t.Context(), service.Object{ID: "a"}, service.Grant{Expires: noon, Service: c.service, Page: c.page})
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(ticket.UploadURL, c.want), ticket.UploadURL)
		})
	}
}
