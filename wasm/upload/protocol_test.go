package upload

import (
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// room is what the tests need of a protocol: a store that speaks it, and cases of what it makes of tickets, data and
// answers. It lives in the protocol's own test file.
type room struct {
	protocol *protocol
	// object is a place in the simulation's store, and ticket fills in the addresses of one.
	object func() object
	ticket func(s *store, t *api.Ticket, place, signed string)
	// block is the size of the blocks that the simulation gets where it asks for another; nil where it gets what it asks
	// for.
	block func(size int64) int64

	recognised []recognisedCase
	cuts       []cutCase
	answers    []answerCase
}

// recognisedCase is a ticket that is the protocol's.
type recognisedCase struct {
	name   string
	ticket api.Ticket
}

// cutCase is how data is cut, or the code of why it can't be.
type cutCase struct {
	name     string
	transfer transfer
	block    int64
	lanes    int
	code     string
}

// answerCase is what the answer to a request means, and how far a lane of 100 bytes is then.
type answerCase struct {
	name    string
	request Request
	answer  Answer
	want    outcome
	at      int64
	code    string
}

var rooms = []*room{&s3Room, &azureRoom, &gcsRoom, &tusRoom, &putRoom}

func roomOf(t testing.TB, p *protocol) *room {
	for _, r := range rooms {
		if r.protocol == p {
			return r
		}
	}
	require.Fail(t, "protocol "+p.name+" has no room: see rooms in protocol_test.go")
	return nil
}

// eachProtocol runs a test for every protocol, so that none is left out of any.
func eachProtocol(t *testing.T, test func(t *testing.T, p *protocol, r *room)) {
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) { test(t, p, roomOf(t, p)) })
	}
}

// TestRooms says what a protocol lacks.
func TestRooms(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p *protocol, r *room) {
		assert.NotNil(t, r.object, "no store that speaks it, for the simulation")
		assert.NotNil(t, r.ticket, "no tickets, for the simulation")
		assert.NotEmpty(t, r.recognised, "no case of a ticket")
		assert.NotEmpty(t, r.cuts, "no case of how data is cut")
		assert.NotEmpty(t, r.answers, "no case of an answer")
	})
	assert.Equal(t, len(protocols), len(rooms), "not as many rooms as protocols")
	assert.Len(t, Protocols(), len(protocols))
}

func TestRecognise(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p *protocol, r *room) {
		for _, c := range append(r.recognised, recognisedCase{"its name", api.Ticket{URL: "https://a/b?sv=1&sp=cw&sig=x", Protocol: p.name}}) {
			got, err := recognise(&c.ticket)
			require.Nil(t, err, c.name)
			assert.Equal(t, p.name, got.name, c.name)
		}
	})
	_, err := recognise(&api.Ticket{URL: "u", Protocol: "ftp"})
	require.NotNil(t, err)
	for _, name := range Protocols() {
		assert.Contains(t, err.Message, " "+name)
	}
}

func TestCut(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p *protocol, r *room) {
		for _, c := range r.cuts {
			t.Run(c.name, func(t *testing.T) { testCut(t, p, c) })
		}
	})
}

func testCut(t *testing.T, p *protocol, c cutCase) {
	s := c.transfer
	if s.ticket == nil {
		s.ticket = &api.Ticket{}
	}
	lay, err := p.wire.layout(&s)
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
}

// TestAnswers shows what an answer to a block means.
func TestAnswers(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p *protocol, r *room) {
		for _, c := range r.answers {
			t.Run(c.name, func(t *testing.T) { testAnswer(t, p, c) })
		}
	})
}

func testAnswer(t *testing.T, p *protocol, c answerCase) {
	s := transfer{size: 100, block: 50, span: 100, ticket: &api.Ticket{URL: "https://h/x?y", Parts: []api.Part{{Number: 1, URL: "p"}}}}
	s.lay()
	l := s.lanes[0]
	l.sent = l.to
	if c.request.carries() {
		l.sent = c.request.To
	}
	v := p.wire.answered(&s, l, &c.request, &c.answer)
	assert.Equal(t, c.want, v.outcome)
	assert.Equal(t, c.at, l.at)
	assert.Equal(t, c.at, s.acked)
	if c.code != "" {
		require.NotNil(t, v.err)
		assert.Equal(t, c.code, v.err.Code)
	}
}

// FuzzHeaders shows that no header moves a lane out of its bounds.
func FuzzHeaders(f *testing.F) {
	f.Add("bytes=0-41", "https://h/p?a=%41&b", uint16(308))
	f.Add("+7", "//x", uint16(204))
	f.Fuzz(func(t *testing.T, value, address string, status uint16) {
		for _, p := range protocols {
			for _, method := range []string{"POST", "PUT", "PATCH", "HEAD"} {
				s := transfer{size: 100, block: 50, span: 100, ticket: &api.Ticket{URL: address, Parts: []api.Part{{Number: 1, URL: address}}}}
				s.lay()
				l := s.lanes[0]
				a := Answer{Status: int(status)}
				for _, h := range []string{"range", "location", "etag", "upload-offset"} {
					a.Header = append(a.Header, api.Field{Name: h, Value: value})
				}
				v := p.wire.answered(&s, l, &Request{Method: method, To: 50}, &a)
				require.True(t, l.at >= 0 && l.at <= 100 && s.acked == l.at, p.name)
				require.True(t, v.outcome == onward || v.err != nil, p.name)
				require.True(t, !l.done || l.at == l.to, p.name)
				p.wire.next(&s, l)
			}
		}
		query(address, value)
		resolve(address, value)
		expiry(&api.Ticket{URL: address})
	})
}

// TestWhatWasNeverSent holds the stores' word against it.
func TestWhatWasNeverSent(t *testing.T) {
	gcs := `{"id":"f","url":"https://store.test/x?upload_id=1"}`
	cases := map[string]struct {
		ticket string
		id     int
		status int
		header []string
	}{
		"gcs: success in the middle": {gcs, 1, 200, nil},
		"gcs: a range beyond":        {gcs, 1, 308, []string{"Range", "bytes=0-1048576"}},
		"tus: an offset beyond":      {`{"id":"f","url":"https://store.test/x","protocol":"tus","method":"PATCH"}`, 1, 200, []string{"Upload-Offset", "5"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := begin(t, Config{Size: 10 * mib, BlockSize: mib})
			h.do(h.m.Start)
			h.answerAsk(c.ticket)
			h.answer(c.id, c.status, c.header...)
			h.answerAsk("{}")
			require.NotNil(t, h.outcome)
			assert.Equal(t, "storage_mismatch", h.outcome.Err.Code)
		})
	}
}
