package upload

import (
	b64 "encoding/base64"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRecognise(t *testing.T) {
	parts := []api.Part{{Number: 1, URL: "p"}}
	cases := []struct {
		name   string
		ticket api.Ticket
		want   string
	}{
		{"SAS", api.Ticket{URL: "https://a/b?sv=1&sp=cw&sig=x"}, "azure-block"},
		{"SAS of a stored policy", api.Ticket{URL: "https://a/b?sv=1&si=p&sig=x%3D"}, "azure-block"},
		{"half a SAS", api.Ticket{URL: "https://a/b?sv=1&sig=x"}, "put"},
		{"parts", api.Ticket{Parts: parts, CompleteURL: "c"}, "s3-multipart"},
		{"parts without an end", api.Ticket{URL: "u", Parts: parts}, "put"},
		{"one signed PUT of S3", api.Ticket{URL: "https://s/k?X-Amz-Signature=x"}, "put"},
		{"a session of Google's", api.Ticket{URL: "https://g/o?upload_id=1"}, "gcs-resumable"},
		{"its start, by header", api.Ticket{URL: "https://g/o?X-Goog-Signature=1", Header: []api.Field{{Name: "X-Goog-Resumable", Value: "start"}}}, "gcs-resumable"},
		{"its start, by what is signed", api.Ticket{URL: "https://g/o?X-Goog-Signature=1&X-Goog-SignedHeaders=host%3Bx-goog-resumable"}, "gcs-resumable"},
		{"a signed PUT of Google's", api.Ticket{URL: "https://g/o?X-Goog-Signature=1&X-Goog-SignedHeaders=host", Method: "PUT"}, "put"},
		{"the ticket's word", api.Ticket{URL: "https://a/b?sv=1&sp=cw&sig=x", Protocol: "tus"}, "tus"},
		{"nothing known", api.Ticket{URL: "/upload/1"}, "put"},
		{"an unknown word", api.Ticket{URL: "u", Protocol: "ftp"}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := recognise(&c.ticket)
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.want == "", err != nil)
		})
	}
}

func TestCut(t *testing.T) {
	s3 := &api.Ticket{Parts: make([]api.Part, 3), CompleteURL: "c"}
	for i := range s3.Parts {
		s3.Parts[i] = api.Part{Number: i + 1, URL: "p"}
	}
	s3big := &api.Ticket{Parts: s3.Parts, CompleteURL: "c", BlockSize: 20 * mib}
	cases := []struct {
		name, protocol string
		session        session
		block          int64
		lanes          int
		code           string
	}{
		{"default", "azure-block", session{size: 20 * mib}, 8 * mib, 3, ""},
		{"the caller's, grown until the count fits", "azure-block", session{size: 20 * mib, wanted: 5}, 420, 49_933, ""},
		{"the service's", "azure-block", session{size: 20 * mib, ticket: &api.Ticket{BlockSize: 4 * mib}}, 4 * mib, 5, ""},
		{"the caller's before the service's", "azure-block", session{size: 20 * mib, wanted: mib, ticket: &api.Ticket{BlockSize: 4 * mib}}, mib, 20, ""},
		{"grows with the data", "azure-block", session{size: 50_001 * 8 * mib}, 8388776, 50_000, ""},
		{"empty", "azure-block", session{}, 8 * mib, 1, ""},
		{"too large for azure", "azure-block", session{size: 200_000_001 * mib}, 0, 0, "file_too_large"},
		{"parts", "s3-multipart", session{size: 20 * mib, ticket: s3}, 8 * mib, 3, ""},
		{"parts are few", "s3-multipart", session{size: 60 * mib, ticket: s3}, 20 * mib, 3, ""},
		{"parts are not small", "s3-multipart", session{size: 12 * mib, wanted: 1, ticket: s3}, 5 * mib, 3, ""},
		{"parts are the service's", "s3-multipart", session{size: 60 * mib, wanted: 30 * mib, ticket: s3big}, 20 * mib, 3, ""},
		{"no parts", "s3-multipart", session{size: 1}, 0, 0, "ticket_without_parts"},
		{"units", "gcs-resumable", session{size: 20 * mib, wanted: 300 * kib}, 512 * kib, 1, ""},
		{"tus in order", "tus", session{size: 20 * mib}, 8 * mib, 1, ""},
		{"tus side by side", "tus", session{size: 80 * mib, concurrency: 4, concat: true}, 8 * mib, 4, ""},
		{"tus side by side, little", "tus", session{size: 10 * mib, concurrency: 4, concat: true}, 8 * mib, 2, ""},
		{"put", "put", session{size: 20 * mib}, 20 * mib, 1, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := c.session
			if s.ticket == nil {
				s.ticket = &api.Ticket{}
			}
			lay, err := protocolNamed(c.protocol).layout(&s)
			if err == nil {
				err = s.cut(lay)
			}
			if c.code != "" {
				require.NotNil(t, err)
				assert.Equal(t, c.code, err.Code)
				return
			}
			require.Nil(t, err)
			assert.Equal(t, c.block, s.block)
			assert.Len(t, s.lanes, c.lanes)
			at := int64(0)
			for _, l := range s.lanes {
				assert.Equal(t, at, l.from)
				at = l.to
			}
			assert.Equal(t, s.size, at)
		})
	}
}

// TestAnswers shows what an answer to a block means.
func TestAnswers(t *testing.T) {
	h := func(name, value string) []api.Field { return []api.Field{{Name: name, Value: value}} }
	xml := func(s string) []byte { return []byte(s) }
	cases := []struct {
		name, protocol string
		request        Request
		answer         Answer
		want           outcome
		at             int64
		code           string
	}{
		{"put stored", "put", Request{Method: "PUT", To: 100}, Answer{Status: 204}, onward, 100, ""},
		{"put busy", "put", Request{Method: "PUT", To: 100}, Answer{Status: 503}, again, 0, "storage_unavailable"},
		{"put refused", "put", Request{Method: "PUT", To: 100}, Answer{Status: 400, Body: xml("<Error><Code>Bad</Code></Error>")}, failed, 0, "storage_refused"},
		{"put expired", "put", Request{Method: "PUT", To: 100}, Answer{Status: 403}, expired, 0, "address_refused"},
		{"azure stored", "azure-block", Request{Method: "PUT", To: 100}, Answer{Status: 201}, onward, 100, ""},
		{"part stored", "s3-multipart", Request{Method: "PUT", To: 100}, Answer{Status: 200, Header: h("ETag", `"x"`)}, onward, 100, ""},
		{"ETag hidden", "s3-multipart", Request{Method: "PUT", To: 100}, Answer{Status: 200}, failed, 0, "header_hidden"},
		{"session begun", "gcs-resumable", Request{Method: "POST"}, Answer{Status: 201, Header: h("Location", "/s")}, onward, 0, ""},
		{"Location hidden", "gcs-resumable", Request{Method: "POST"}, Answer{Status: 201}, failed, 0, "header_hidden"},
		{"half stored", "gcs-resumable", Request{Method: "PUT", To: 50}, Answer{Status: 308, Header: h("Range", "bytes=0-29")}, onward, 30, ""},
		{"Range hidden", "gcs-resumable", Request{Method: "PUT", To: 50}, Answer{Status: 308}, onward, 50, ""},
		{"Range hidden from a question", "gcs-resumable", Request{Method: "PUT"}, Answer{Status: 308}, onward, 0, ""},
		{"all, and not complete", "gcs-resumable", Request{Method: "PUT", To: 100}, Answer{Status: 308, Header: h("Range", "bytes=0-99")}, again, 100, "storage_unavailable"},
		{"more than there is", "gcs-resumable", Request{Method: "PUT", To: 50}, Answer{Status: 308, Header: h("Range", "bytes=0-100")}, failed, 0, "storage_mismatch"},
		{"no range", "gcs-resumable", Request{Method: "PUT", To: 50}, Answer{Status: 308, Header: h("Range", "x")}, failed, 0, "storage_mismatch"},
		{"complete", "gcs-resumable", Request{Method: "PUT", To: 100}, Answer{Status: 200}, onward, 100, ""},
		{"complete in the middle", "gcs-resumable", Request{Method: "PUT", To: 50}, Answer{Status: 200}, failed, 0, "storage_mismatch"},
		{"more than was sent", "gcs-resumable", Request{Method: "PUT", To: 50}, Answer{Status: 308, Header: h("Range", "bytes=0-50")}, failed, 0, "storage_mismatch"},
		{"offset beyond what was sent", "tus", Request{Method: "PATCH", To: 60}, Answer{Status: 204, Header: h("Upload-Offset", "61")}, failed, 0, "storage_mismatch"},
		{"session gone", "gcs-resumable", Request{Method: "PUT", To: 50}, Answer{Status: 410}, gone, 0, "storage_refused"},
		{"made", "tus", Request{Method: "POST"}, Answer{Status: 201, Header: h("Location", "u/1")}, onward, 0, ""},
		{"offset", "tus", Request{Method: "HEAD"}, Answer{Status: 200, Header: h("Upload-Offset", "70")}, onward, 70, ""},
		{"offset hidden", "tus", Request{Method: "HEAD"}, Answer{Status: 200}, failed, 0, "header_hidden"},
		{"offset hidden after a block", "tus", Request{Method: "PATCH", To: 60}, Answer{Status: 204}, onward, 60, ""},
		{"offset wrong", "tus", Request{Method: "HEAD"}, Answer{Status: 200, Header: h("Upload-Offset", "101")}, failed, 0, "storage_mismatch"},
		{"another offset", "tus", Request{Method: "PATCH", To: 60}, Answer{Status: 409}, again, 0, "storage_unavailable"},
		{"locked", "tus", Request{Method: "HEAD"}, Answer{Status: 423}, again, 0, "storage_unavailable"},
		{"upload gone", "tus", Request{Method: "HEAD"}, Answer{Status: 404}, gone, 0, "storage_refused"},
		{"nowhere to make one", "tus", Request{Method: "POST"}, Answer{Status: 404}, failed, 0, "storage_refused"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := session{size: 100, block: 50, span: 100, ticket: &api.Ticket{URL: "https://h/x?y", Parts: []api.Part{{Number: 1, URL: "p"}}}}
			s.lay()
			l := s.lanes[0]
			l.sent = l.to
			if c.request.carries() {
				l.sent = c.request.To
			}
			v := protocolNamed(c.protocol).answered(&s, l, &c.request, &c.answer)
			assert.Equal(t, c.want, v.outcome)
			assert.Equal(t, c.at, l.at)
			assert.Equal(t, c.at, s.acked)
			if c.code != "" {
				require.NotNil(t, v.err)
				assert.Equal(t, c.code, v.err.Code)
			}
		})
	}
}

func TestCompletion(t *testing.T) {
	cases := []struct {
		name string
		a    Answer
		want outcome
	}{
		{"done", Answer{Status: 200, Body: []byte("<CompleteMultipartUploadResult><Location>x</Location></CompleteMultipartUploadResult>")}, onward},
		{"an error behind a 200", Answer{Status: 200, Body: []byte("<?xml version='1.0'?>\n\n<Error><Code>EntityTooSmall</Code></Error>")}, failed},
		{"a passing error behind a 200", Answer{Status: 200, Body: []byte("<Error><Code>InternalError</Code></Error>")}, again},
		{"refused", Answer{Status: 400}, failed},
		{"expired", Answer{Status: 403}, expired},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, (&s3Multipart{}).committed(nil, &c.a).outcome) })
	}
	assert.Equal(t, gone, (&azureBlock{}).committed(nil, &Answer{Status: 400, Body: []byte("<Error><Code>InvalidBlockList</Code></Error>")}).outcome)
}

// TestSurveyOfTus shows when the server is asked whether it joins uploads.
func TestSurveyOfTus(t *testing.T) {
	cases := []struct {
		name        string
		extensions  []string
		answer      string
		asks, joins bool
	}{
		{"it says so", nil, "creation, Concatenation,expiration", true, true},
		{"it says something else", nil, "creation,concatenation-unfinished", true, false},
		{"its header is hidden", nil, "", true, false},
		{"the ticket says so", []string{"creation", " concatenation"}, "", false, true},
		{"the ticket says something else", []string{"creation"}, "", false, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := session{size: 20 * mib, concurrency: 2, ticket: &api.Ticket{URL: "u", Extensions: c.extensions}}
			_, asks := (&tus{}).survey(&s, false)
			assert.Equal(t, c.asks, asks)
			if asks {
				(&tus{}).surveyed(&s, &Answer{Status: 204, Header: []api.Field{{Name: "Tus-Extension", Value: c.answer}}})
			}
			assert.Equal(t, c.joins, s.concat)
		})
	}
}

func TestAddresses(t *testing.T) {
	assert.Equal(t, "a b", query("https://h/p?x=1&Name=a%20b#f", "name"))
	assert.Equal(t, "", query("https://h/p#?name=1", "name"))
	assert.Equal(t, "50%", query("?a=50%", "a"))
	assert.Equal(t, "u?a=1&b", withQuery("u?a=1#x", "b"))
	assert.Equal(t, "u?b", withQuery("u", "b"))
	assert.Equal(t, "u?b", withQuery("u?", "b"))
	for _, c := range []struct{ base, location, want string }{
		{"https://h/a/b?q", "https://o/x", "https://o/x"},
		{"https://h/a/b?q", "/x", "https://h/x"},
		{"https://h/a/b?q", "x", "https://h/a/x"},
		{"https://h", "x", "https://h/x"},
		{"https://h?q", "/x", "https://h/x"},
		{"https://h/a", "//o/x", "https://o/x"},
		{"https://h/p#/q", "x", "https://h/x"},
		{"/a/b", "/x", "/x"},
		{"/a?u=https://o/p", "/x", "/x"},
	} {
		assert.Equal(t, c.want, resolve(c.base, c.location))
	}
	at := int64(1795168800000) // 2026-11-20T10:00:00Z
	for name, ticket := range map[string]api.Ticket{
		"the ticket's": {URL: "u?sig=1&se=2020-01-01", ExpiresAt: at},
		"SAS":          {URL: "u?sig=1&se=2026-11-20T10%3A00%3A00Z"},
		"S3":           {Parts: []api.Part{{Number: 1, URL: "u?X-Amz-Date=20261120T094500Z&X-Amz-Expires=900"}}},
		"Google":       {URL: "u?X-Goog-Date=20261120T090000Z&X-Goog-Expires=3600"},
	} {
		assert.Equal(t, at, expiry(&ticket), name)
	}
	assert.Zero(t, expiry(&api.Ticket{URL: "u?se=2026-11-20T10:00:00Z"}), "no signature, no expiry")
	for _, data := range []string{"", "a", "ab", "abc", "\xff\x00\xfe?"} {
		assert.Equal(t, b64.StdEncoding.EncodeToString([]byte(data)), base64([]byte(data)))
	}
	assert.Len(t, blockID(49_999), len(blockID(0)))
}

// FuzzText holds what takes the place of package strings against it.
func FuzzText(f *testing.F) {
	f.Add("a=b=c", "=")
	f.Add(" \t&amp;lt; <&>\" ", "")
	f.Fuzz(func(t *testing.T, s, sep string) {
		before, after, found := strings.Cut(s, sep)
		gotBefore, gotAfter, gotFound := cut(s, sep)
		require.Equal(t, before, gotBefore)
		require.Equal(t, after, gotAfter)
		require.Equal(t, found, gotFound)
		require.Equal(t, strings.Trim(s, " \t"), trim(s))
		for _, pairs := range [][]string{xmlEntities, xmlEscape} {
			require.Equal(t, strings.NewReplacer(pairs...).Replace(s), replace(s, pairs))
		}
	})
}

func FuzzXML(f *testing.F) {
	f.Add("<Error><Code>a&amp;b</Code><Message>m</Message></Error>", "Code")
	f.Add("<Codes/><Code >x</Code>", "Code")
	f.Fuzz(func(t *testing.T, body, name string) {
		if name == "" {
			return
		}
		_, rest := xmlElement(body, name)
		require.LessOrEqual(t, len(rest), len(body))
		(&azureBlock{}).surveyed(&session{}, &Answer{Status: 200, Body: []byte("<BlockList>" + body + "</BlockList>")})
		(&s3Multipart{}).committed(nil, &Answer{Status: 200, Body: []byte(body)})
		// What is escaped comes back.
		var out struct {
			Text string `xml:",chardata"`
		}
		if xml.Unmarshal([]byte("<a>"+replace(name, xmlEscape)+"</a>"), &out) == nil {
			require.Equal(t, out.Text, xmlText([]byte("<a>"+replace(out.Text, xmlEscape)+"</a>"), "a"))
		}
	})
}

// FuzzHeaders shows that no header moves a lane out of its bounds.
func FuzzHeaders(f *testing.F) {
	f.Add("bytes=0-41", "https://h/p?a=%41&b", uint16(308))
	f.Add("+7", "//x", uint16(204))
	f.Fuzz(func(t *testing.T, value, address string, status uint16) {
		for _, name := range []string{"azure-block", "s3-multipart", "gcs-resumable", "tus", "put"} {
			p := protocolNamed(name)
			for _, method := range []string{"POST", "PUT", "PATCH", "HEAD"} {
				s := session{size: 100, block: 50, span: 100, ticket: &api.Ticket{URL: address, Parts: []api.Part{{Number: 1, URL: address}}}}
				s.lay()
				l := s.lanes[0]
				a := Answer{Status: int(status)}
				for _, h := range []string{"range", "location", "etag", "upload-offset"} {
					a.Header = append(a.Header, api.Field{Name: h, Value: value})
				}
				v := p.answered(&s, l, &Request{Method: method, To: 50}, &a)
				require.True(t, l.at >= 0 && l.at <= 100 && s.acked == l.at, name)
				require.True(t, v.outcome == onward || v.err != nil, name)
				require.True(t, !l.done || l.at == l.to, name)
				p.next(&s, l)
			}
		}
		query(address, value)
		resolve(address, value)
		expiry(&api.Ticket{URL: address})
	})
}

// FuzzRecord shows that no record that was kept can stop an upload.
func FuzzRecord(f *testing.F) {
	m := New(Config{Name: "n", Size: 100, BlockSize: 10})
	m.session.ticket = &api.Ticket{FileID: "f", URL: "u?sv=1&sp=1&sig=1"}
	m.session.block, m.session.span = 10, 10
	m.session.lay()
	m.session.finish(m.session.lanes[3])
	f.Add(m.Record())
	f.Add([]byte(`{"abandoned":["a"]}`))
	f.Fuzz(func(t *testing.T, record []byte) {
		m := New(Config{Name: "n", Size: 100, BlockSize: 10, Resumable: true})
		m.Restored(0, record)
		require.True(t, m.Wants())
		m.Abort(1)
		require.NotPanics(t, func() { m.Record() })
	})
}
