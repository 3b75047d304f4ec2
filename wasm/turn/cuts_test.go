package turn

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var forms = map[string]form{
	"type in the JSON":      {eol: "\n", space: true},
	"type in the event":     {named: true, eol: "\n", space: true, ids: true},
	"flat":                  {flat: true, eol: "\n", comments: true},
	"CRLF":                  {eol: "\r\n", ids: true, comments: true, done: true},
	"CR":                    {named: true, eol: "\r"},
	"several lines":         {lines: true, eol: "\n", space: true},
	"several lines by CRLF": {named: true, lines: true, eol: "\r\n", done: true},
}

// recorded is a turn of more than 200 events, with tools that overlap, text of many bytes a character, and characters
// cut in two.
func recorded(t testing.TB) *script {
	s := randomScript(rand.New(rand.NewPCG(7, 0)), 130)
	require.Greater(t, len(s.events), 200)
	require.Greater(t, len(s.calls), 5)
	require.Greater(t, len(wholeText(s.text)), len(s.text)+20)
	return s
}

// excerpt is a short turn of the same kind.
func excerpt() *script { return randomScript(rand.New(rand.NewPCG(7, 5)), 15) }

// follows checks that the page has the first n events of the script and the state as of the last of them.
func (p *page) follows(s *script, n int) {
	p.Helper()
	if len(p.got) != n {
		p.fail("%d events, not %d", len(p.got), n)
	}
	for i, e := range s.events[:n] {
		if want := e.seen(); p.got[i] != want {
			p.fail("event %d is %+v, not %+v", i, p.got[i], want)
		}
	}
	text, reasoning := s.state(n)
	if string(p.m.Text()) != text || string(p.m.Reasoning()) != reasoning {
		p.fail("text %q, reasoning %q after %d events, not %q, %q", p.m.Text(), p.m.Reasoning(), n, text, reasoning)
	}
}

// toolsAre compares the calls of a completed turn.
func (p *page) toolsAre(s *script) {
	p.Helper()
	got := p.toolCalls()
	if len(got) != len(s.calls) {
		p.fail("%d tool calls, not %d", len(got), len(s.calls))
	}
	for i, want := range s.calls {
		g := got[i]
		same := toolTruth{g.ID, g.Name, g.ArgumentsText, string(g.Result)} == *want
		if !same || string(g.Arguments) != g.ArgumentsText || g.Status != "finished" || (g.MatchedBy == "order") != (g.ID[:1] == "c") {
			p.fail("tool call %+v, not %+v", g, *want)
		}
	}
}

// slow says that the machine takes ten times as long as where it is fastest.
var slow = raced || runtime.GOOS == "js" || runtime.Compiler == "tinygo"

// TestCutAtEveryByte ends a turn after every byte, in each way. The long one takes its square in time: it is read where
// that is seconds, the short one in every form everywhere.
func TestCutAtEveryByte(t *testing.T) {
	if !slow {
		cutAtEveryByte(t, "recorded", recorded(t), forms["type in the JSON"])
	}
	for name, f := range forms {
		cutAtEveryByte(t, name, excerpt(), f)
	}
}

func cutAtEveryByte(t *testing.T, name string, s *script, f form) {
	stream := s.encode(f)
	for _, way := range []string{"closed", "broken", "stalled"} {
		t.Run(name+"/"+way, func(t *testing.T) {
			for cut := 0; cut <= len(stream); cut++ {
				m := New(config())
				m.Start()
				m.Sent()
				m.Headers(0, eventStream)
				m.Feed(0, stream[:cut])
				n := take(t, m, s, 0)
				switch {
				case m.Over():
				case way == "stalled":
					m.TimerFired(idleTimeout)
				default:
					m.StreamEnded(way == "closed", "")
					n = take(t, m, s, n)
				}
				if want := s.arrived(cut, way == "closed"); n != want {
					t.Fatalf("%d events, not %d, of %d bytes", n, want, cut)
				}
				text, reasoning := s.state(n)
				if string(m.Text()) != text || string(m.Reasoning()) != reasoning {
					t.Fatalf("text %q, reasoning %q of %d bytes", m.Text(), m.Reasoning(), cut)
				}
				if completed := m.status == Completed; completed != (n == len(s.events)) || !completed && m.status != Interrupted {
					t.Fatalf("%s after %d of %d events, of %d bytes", m.status, n, len(s.events), cut)
				}
			}
		})
	}
}

// take takes all events that m has and compares them with the script's from n on; it returns how many there were.
func take(t *testing.T, m *Machine, s *script, n int) int {
	for ; ; n++ {
		e, ok := m.next(true)
		if !ok {
			return n
		}
		want := &s.events[n]
		if string(e.Type[1:len(e.Type)-1]) != want.typ || string(e.Data) != want.wire || string(e.ID) != want.id {
			t.Fatalf("event %d is %s %s, not %s %s", n, e.Type, e.Data, want.typ, want.wire)
		}
	}
}

// TestEveryChunking feeds the recorded turn in chunks of each size and of random ones.
func TestEveryChunking(t *testing.T) {
	sizes := []int{1, 2, 3, 4, 5, 7, 11, 16, 31, 50, 64, 100, 257, 1000, 4096, 1 << 20}
	for name, f := range forms {
		for byWhat, byBatch := range map[string]bool{"one by one": false, "by batch": true} {
			t.Run(name+"/"+byWhat, func(t *testing.T) {
				s := recorded(t)
				if slow {
					s = excerpt()
				}
				stream := s.encode(f)
				check := func(chunks [][]byte) {
					p := streaming(t)
					p.byBatch = byBatch
					for _, chunk := range chunks {
						p.feedBytes(chunk)
					}
					p.follows(s, len(s.events))
					p.toolsAre(s)
					assert.Equal(t, Completed, p.outcome.Status)
				}
				for _, size := range sizes {
					check(slices.Collect(slices.Chunk(stream, size)))
				}
				rng := rand.New(rand.NewPCG(1, uint64(len(name))))
				for range 20 {
					check(randomChunks(rng, stream))
				}
			})
		}
	}
}

// randomChunks cuts a stream anywhere, into chunks of nothing too.
func randomChunks(rng *rand.Rand, stream []byte) (chunks [][]byte) {
	mean := 1 << rng.IntN(12)
	for len(stream) > 0 {
		n := min(len(stream), rng.IntN(2*mean))
		chunks = append(chunks, stream[:n])
		stream = stream[n:]
	}
	return chunks
}
