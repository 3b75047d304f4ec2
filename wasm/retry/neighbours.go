package retry

// The words that the pages of an origin tell each other. One that is not negative is how many connections a page has to a
// host.
const (
	Moves = -1 // bytes move to a host
	Hello = -2 // of a page that has just begun: who has connections shall say so
	Gone  = -3 // the page has none any more, to whichever host
)

const (
	movedEvery = 250     // between two words about a host's bytes
	SayAgain   = 30_000  // after which what a page has is said again
	forgotten  = 120_000 // after which what a page said counts no longer: it may have crashed
)

// neighbour is another page of the origin, with what it said of a host.
type neighbour struct {
	page uint32
	host string
	held int
	at   int64
}

// Heard takes a word of another page, which goes by a number that it chose at random.
func (c *Connections) Heard(page uint32, word int, host string) {
	switch word {
	case Hello:
		c.sayAll()
	case Moves:
		c.line(host).moved = c.now()
	default:
		c.forget(func(o *neighbour) bool { return o.page == page && (word == Gone || o.host == host) })
		if word > 0 {
			c.others = append(c.others, &neighbour{page, host, word, c.now()})
			c.update(c.line(host))
		}
	}
}

// Shared reports whether there is something to say again or to forget: then Again is to be called after SayAgain
// milliseconds.
func (c *Connections) Shared() bool {
	for _, l := range c.lines {
		if l.last > 0 {
			return true
		}
	}
	return len(c.others) > 0
}

// Again says once more what this page has, and forgets what others do not say any more.
func (c *Connections) Again() {
	c.sayAll()
	c.forget(func(o *neighbour) bool { return c.now()-o.at > forgotten })
}

func (c *Connections) sayAll() {
	for _, l := range c.lines {
		if l.last > 0 {
			c.say(l.last, l.host)
		}
	}
}

// forget takes back what some have said.
func (c *Connections) forget(which func(*neighbour) bool) {
	kept := c.others[:0]
	for _, o := range c.others {
		if !which(o) {
			kept = append(kept, o)
		}
	}
	c.others = kept
	for i := len(c.lines) - 1; i >= 0; i-- { // one may go with it
		c.update(c.lines[i])
	}
}
