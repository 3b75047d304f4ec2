package retry

import "slices"

// perHost is how many connections a browser has for a host over HTTP/1.1: Chromium, Firefox and WebKit agree.
const perHost = 6

// Connections knows which of a page's requests may have a connection. What a browser has none for it queues, and tells
// nobody: a limit that ran meanwhile would blame a host that was never asked. The pages of an origin share a host's
// connections, so they tell each other what they have; see neighbours.go. A host goes by its scheme, name, port and the path
// "/". A nil Connections knows of no limit.
type Connections struct {
	now    func() int64 // milliseconds of a clock that does not jump
	say    func(word int, host string)
	lines  []*line
	others []*neighbour // what other pages said last, each of each host
}

// line is what goes to one host.
type line struct {
	host  string
	slots []*Slot // under way, oldest first
	many  bool    // more were answered at once than HTTP/1.1 has connections
	moved int64   // when bytes last went over one of them
	told  int64   // when the other pages were last told so
	last  int     // number of held connections that they were told of
}

// NewConnections makes one for a page. say tells the other pages of its origin a word of this one, for their Heard; it may
// be nil.
func NewConnections(now func() int64, say func(word int, host string)) *Connections {
	return &Connections{now: now, say: say}
}

// Slot is one request's place among those to its host. A nil Slot waits for nothing.
type Slot struct {
	all   *Connections
	host  string
	since int64 // from when on a connection could be free for it; -1 while none can
	held  bool  // it has one: bytes went or came
}

// Open takes a place for a request that the browser has been given.
func (c *Connections) Open(host string) *Slot {
	if c == nil {
		return nil
	}
	s := &Slot{all: c, host: host, since: -1}
	l := c.line(host)
	l.slots = append(l.slots, s)
	c.update(l)
	return s
}

func (c *Connections) line(host string) *line {
	for _, l := range c.lines {
		if l.host == host {
			return l
		}
	}
	l := &line{host: host, told: -movedEvery}
	c.lines = append(c.lines, l)
	return l
}

// Moved tells that bytes move to a host.
func (c *Connections) Moved(host string) {
	if c == nil {
		return
	}
	l := c.line(host)
	l.moved = c.now()
	if c.say != nil && l.moved-l.told >= movedEvery {
		l.told = l.moved
		c.say(Moves, host)
	}
}

// lastMoved is when bytes last moved to a host.
func (c *Connections) lastMoved(host string) int64 {
	for _, l := range c.lines {
		if l.host == host {
			return l.moved
		}
	}
	return 0
}

// update works out anew for whom a connection could be free: one that is not known to have one comes after those that
// do and those that were there before.
func (c *Connections) update(l *line) {
	held := 0
	for _, s := range l.slots {
		if s.held {
			held++
		}
	}
	l.many = l.many || held > perHost
	before := held
	for _, o := range c.others {
		if o.host == l.host {
			before += o.held
		}
	}
	for _, s := range l.slots {
		if s.held {
			continue
		}
		switch free := l.many || before < perHost; {
		case !free:
			s.since = -1
		case s.since < 0:
			s.since = c.now()
		}
		before++
	}
	if c.say != nil && held != l.last {
		l.last = held
		c.say(held, l.host)
	}
	// What HTTP/2 showed of a host is worth keeping; all else says itself again.
	if len(l.slots) == 0 && !l.many && l.moved == 0 {
		c.lines = slices.DeleteFunc(c.lines, func(other *line) bool { return other == l })
	}
}

// Held tells that the request has its connection: bytes went, or an answer came.
func (s *Slot) Held() {
	if s == nil || s.all == nil || s.held {
		return
	}
	s.held = true
	if s.since < 0 {
		s.since = s.all.now()
	}
	s.all.update(s.all.line(s.host))
}

// Close gives the place back, once.
func (s *Slot) Close() {
	if s == nil || s.all == nil {
		return
	}
	c, l := s.all, s.all.line(s.host)
	s.all = nil
	l.slots = slices.DeleteFunc(l.slots, func(other *Slot) bool { return other == s })
	c.update(l)
}

// Waiting reports whether the browser can't have had a connection for the request yet.
func (s *Slot) Waiting() bool { return s != nil && s.since < 0 }

// Left is what remains of a limit that began when a connection could be free: the whole while none can, 0 or less when
// it is over.
func (s *Slot) Left(limit int64) int64 {
	switch {
	case s == nil || s.all == nil:
		return 0
	case s.since < 0:
		return limit
	}
	return s.since + limit - s.all.now()
}

// Lively is when the request, or before it has its connection its host, last gave a sign of life; now while it waits.
func (s *Slot) Lively() int64 {
	switch {
	case s == nil || s.all == nil:
		return 0
	case s.since < 0:
		return s.all.now()
	case s.held:
		return s.since
	}
	return max(s.since, s.all.lastMoved(s.host))
}
