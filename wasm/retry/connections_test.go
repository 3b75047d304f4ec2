package retry

import (
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const host = "https://api.test/"

// browser is a page's connections on a clock of the test's own.
type browser struct {
	*Connections
	now  int64
	said []said // to the other pages
}

type said struct {
	word int
	host string
}

// told is what the browser said since it was asked last.
func (b *browser) told() []said {
	was := b.said
	b.said = nil
	return was
}

func newBrowser() *browser {
	b := &browser{}
	b.Connections = NewConnections(func() int64 { return b.now }, func(word int, host string) { b.said = append(b.said, said{word, host}) })
	return b
}

// open opens n slots and holds the first so many of them.
func (b *browser) open(n, held int) (out []*Slot) {
	for i := range n {
		s := b.Open(host)
		if i < held {
			s.Held()
		}
		out = append(out, s)
	}
	return out
}

func TestSixHaveAConnection(t *testing.T) {
	b := newBrowser()
	slots := b.open(8, 0)
	for i, s := range slots {
		assert.Equal(t, i >= 6, s.Waiting(), "%d", i)
	}
	b.now = 1_000
	slots[2].Close()
	slots[2].Close() // once
	assert.False(t, slots[6].Waiting())
	assert.True(t, slots[7].Waiting())
	b.now = 1_400
	assert.Equal(t, int64(600), slots[6].Left(1_000), "its limit began when one was free")
	assert.Equal(t, int64(-400), slots[0].Left(1_000))
	assert.Equal(t, int64(1_000), slots[7].Left(1_000))
	assert.False(t, b.Open("https://other.test/").Waiting(), "another host")
}

func TestWhoIsAnsweredHasOne(t *testing.T) {
	b := newBrowser()
	slots := b.open(7, 0)
	slots[6].Held() // a browser goes by its own priorities
	assert.False(t, slots[6].Waiting())
	assert.True(t, slots[5].Waiting(), "that one was faster")
	slots[6].Close()
	assert.False(t, slots[5].Waiting())
}

func TestMoreThanSixAnsweredIsHTTP2(t *testing.T) {
	b := newBrowser()
	slots := b.open(9, 7)
	assert.False(t, slots[7].Waiting())
	for _, s := range slots {
		s.Close()
	}
	assert.False(t, b.open(40, 0)[39].Waiting(), "it is known from then on")
}

func TestOtherPages(t *testing.T) {
	b := newBrowser()
	b.Heard(1, 3, host)
	b.Heard(2, 2, host)
	slots := b.open(3, 0)
	assert.False(t, slots[0].Waiting())
	assert.True(t, slots[1].Waiting())
	b.now = 50
	b.Heard(1, 2, host)
	assert.False(t, slots[1].Waiting())
	assert.True(t, slots[2].Waiting())
	b.Heard(3, 2, host)
	assert.True(t, slots[0].Waiting(), "it was not known to have one")
	slots[0].Held()
	assert.Equal(t, []said{{1, host}}, b.told())
	assert.False(t, slots[0].Waiting())
	slots[0].Close()
	assert.Equal(t, []said{{0, host}}, b.told())
}

func TestAPageThatGoesHasNone(t *testing.T) {
	b := newBrowser()
	b.Heard(1, 4, host)
	b.Heard(1, 4, "https://other.test/")
	b.Heard(2, 4, host)
	waiting := func(host string) bool {
		s := b.Open(host)
		defer s.Close()
		return s.Waiting()
	}
	assert.True(t, waiting(host))
	b.Heard(1, Gone, "")
	assert.False(t, waiting(host))
	assert.True(t, b.Shared(), "the other page is there")
	b.Heard(2, 0, host)
	assert.False(t, b.Shared())
}

func TestSaidAgainAndForgotten(t *testing.T) {
	b := newBrowser()
	assert.False(t, b.Shared())
	slots := b.open(2, 2)
	assert.Equal(t, []said{{1, host}, {2, host}}, b.told())
	b.Heard(1, Hello, "")
	assert.Equal(t, []said{{2, host}}, b.told(), "to one that has just begun")
	b.Heard(1, 5, host)
	for b.now = SayAgain; b.now <= forgotten; b.now += SayAgain {
		b.Again()
		assert.Equal(t, []said{{2, host}}, b.told())
	}
	assert.True(t, b.Open(host).Waiting(), "it is not forgotten yet")
	b.Again()
	assert.False(t, b.Open(host).Waiting(), "one that says nothing more may have crashed")
	assert.True(t, b.Shared(), "this page has some itself")
	for _, s := range slots {
		s.Close()
	}
	assert.False(t, b.Shared())
}

func TestMovingBytesAreSaidNowAndThen(t *testing.T) {
	b := newBrowser()
	for b.now = 0; b.now < 2*movedEvery; b.now += 10 {
		b.Moved(host)
	}
	b.Moved("https://other.test/")
	assert.Equal(t, []said{{Moves, host}, {Moves, host}, {Moves, "https://other.test/"}}, b.told())
	b.Heard(1, Moves, host)
	assert.Empty(t, b.told(), "what another page said is not said again")
	assert.Equal(t, b.now, b.lastMoved(host))
}

func TestLively(t *testing.T) {
	b := newBrowser()
	slots := b.open(7, 1)
	b.now = 100
	assert.Equal(t, int64(0), slots[1].Lively())
	assert.Equal(t, int64(100), slots[6].Lively(), "it waits")
	b.Moved(host)
	assert.Equal(t, int64(100), slots[1].Lively(), "its host takes something")
	assert.Equal(t, int64(0), slots[0].Lively(), "which is not its own")
}

func TestNothingKnown(t *testing.T) {
	var c *Connections
	s := c.Open(host)
	s.Held()
	assert.False(t, s.Waiting())
	assert.Zero(t, s.Left(10))
	assert.Zero(t, s.Lively())
	s.Close()
}

// TestNothingIsKept opens and closes requests to many hosts.
func TestNothingIsKept(t *testing.T) {
	b := newBrowser()
	for _, host := range []string{"a", "b", "c"} {
		s := b.Open(host)
		s.Held()
		s.Close()
	}
	assert.Empty(t, b.lines)
}

func TestLimitBeginsWithAConnection(t *testing.T) {
	b := newBrowser()
	long := b.open(6, 6)
	d := newDriver(t, &Policy{Timeout: timeout, Connections: b.Connections, Host: host})
	d.x.Start()
	require.Len(t, d.log, 1)
	assert.Equal(t, "waiting for a connection", d.log[0].Message)
	for range 5 {
		b.now += timeout
		d.fire()
		require.False(t, d.x.Over(), "none was free")
	}
	long[3].Close()
	b.now += timeout / 2
	d.fire()
	assert.Equal(t, int64(timeout/2), d.timer)
	b.now += timeout / 2
	d.fire()
	assert.Equal(t, "response_timeout", d.code())
	assert.Len(t, b.line(host).slots, 5, "its place is given back")
}

func TestEachEndGivesThePlaceBack(t *testing.T) {
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			b := newBrowser()
			d := newDriver(t, &Policy{Timeout: timeout, MaxRetries: 1, RenewKey: true, Connections: b.Connections, Host: host})
			end(d)
			d.x.Cancel() // as who took the answer over does
			assert.Empty(t, b.lines)
		})
	}
	t.Run("between two tries", func(t *testing.T) {
		b := newBrowser()
		d := newDriver(t, &Policy{Timeout: timeout, MaxRetries: 1, Connections: b.Connections, Host: host})
		d.x.Start()
		d.give(answer{status: 503})
		assert.Empty(t, b.lines)
	})
}

func TestKeyThatNeverComes(t *testing.T) {
	d := newDriver(t, full)
	d.keyless = true
	d.x.Start()
	assert.Equal(t, int64(timeout), d.timer)
	d.fire()
	assert.Equal(t, "api_key_timeout", d.code())
	d.x.Sent() // too late
	assert.True(t, d.x.Over())

	d = newDriver(t, &Policy{RenewKey: true})
	d.keyless = true
	d.x.Start()
	assert.Equal(t, int64(-1), d.timer, "no limit was wanted")
	d.x.Sent()
	d.x.Headers(&api.Response{Status: 200})
	assert.True(t, d.x.Accepted())
}
