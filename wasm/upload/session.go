package upload

import (
	"strconv"

	"github.com/seed-76f09577/turnwire/wasm/api"
)

// session is what is known of an upload's way into the store: where it goes, how it is cut, how far each lane came.
type session struct {
	ticket      *api.Ticket
	name        string
	contentType string
	size        int64
	wanted      int64 // the caller's block size; 0 for none
	concurrency int
	once        bool // the data can be read only once, in order

	block int64 // bytes; 0 until the data is cut
	span  int64 // bytes of a lane
	lanes []*lane
	acked int64 // bytes that the store said it has

	commits   int  // how often one was sent, by earlier pages too
	able      bool // the store can what not every one can: gcs, show its Range header; tus, join uploads
	committed bool
}

// lane is a run of the data that is stored in order: a block, or several one after the other.
type lane struct {
	index    int
	from, to int64
	at       int64  // the store has what lies before
	sent     int64  // what lies behind was never sent: the store can't have it
	url, tag string // of the lane's own upload; what the store calls what it has
	unsure   bool   // how far the store came has to be asked
	done     bool

	best  int64 // as far as at has ever been: progress is what lies beyond
	tries int   // in vain since the last progress
	due   int64 // not to be tried before
	role  role
}

type role int

const (
	data role = iota
	survey
	commit
)

// move sets how far the store came with a lane.
func (s *session) move(l *lane, at int64) {
	s.acked += at - l.at
	l.at = at
}

// home is what a renewed ticket must share with the one before for what is stored to count.
func home(t *api.Ticket) string {
	address := t.URL
	if len(t.Parts) > 0 {
		address = t.Parts[0].URL
	}
	return place(address) + "?" + query(address, "uploadId") + query(address, "upload_id")
}

// reachedBy reports whether another ticket has an address for each lane, where the data is cut already.
func (s *session) reachedBy(p *protocol, t *api.Ticket) bool {
	if s.lanes == nil {
		return true
	}
	old := s.ticket
	s.ticket = t
	lay, err := p.wire.layout(s)
	s.ticket = old
	return err == nil && (lay.most == 0 || int64(len(s.lanes)) <= lay.most)
}

// finish marks a lane as stored whole.
func (s *session) finish(l *lane) {
	s.move(l, l.to)
	l.done, l.unsure = true, false
}

// reset forgets what the store was thought to have of a lane.
func (s *session) reset(l *lane) {
	s.move(l, l.from)
	l.best, l.sent = l.from, l.from
	l.url, l.tag, l.unsure, l.done = "", "", false, false
}

// wantedBlock is the size of a block before the protocol's bounds: the caller's, the service's or the default.
func (s *session) wantedBlock() int64 {
	switch {
	case s.wanted > 0:
		return s.wanted
	case s.ticket.BlockSize > 0:
		return s.ticket.BlockSize
	}
	return defaultBlock
}

// cut divides the data.
func (s *session) cut(lay layout) *api.Error {
	block := s.wantedBlock()
	if lay.fixed > 0 {
		block = lay.fixed
	}
	if lay.most > 0 {
		block = max(block, ceil(s.size, lay.most))
	}
	if lay.multiple > 1 {
		block = ceil(block, lay.multiple) * lay.multiple
	}
	block = max(block, lay.min, 1)
	if lay.max > 0 {
		block = min(block, lay.max)
	}
	if lay.most > 0 && ceil(s.size, block) > lay.most {
		return failure("file_too_large",
			"the storage takes at most "+strconv.FormatInt(lay.most, 10)+" blocks of "+strconv.FormatInt(block, 10)+" bytes, the data has "+strconv.FormatInt(s.size, 10))
	}
	s.block, s.span = block, block
	if lay.lanes > 0 {
		s.span = max(ceil(ceil(s.size, lay.lanes), block)*block, block)
	}
	s.lay()
	return nil
}

// lay makes the lanes of a session whose block and span are known. Empty data is one empty lane.
func (s *session) lay() {
	s.acked = 0
	s.lanes = make([]*lane, 0, max(ceil(s.size, s.span), 1))
	for from := int64(0); from < s.size || len(s.lanes) == 0; from += s.span {
		s.lanes = append(s.lanes, &lane{index: len(s.lanes), from: from, to: min(from+s.span, s.size), at: from, sent: from, best: from})
	}
}

// chunk is the end of the block that a lane is at.
func (s *session) chunk(l *lane) int64 { return min(l.at+s.block, l.to) }

// whole reports whether the data is one block, or empty.
func (s *session) whole() bool { return len(s.lanes) == 1 && s.size <= s.block }

func (s *session) blocks() int64 { return max(ceil(s.size, s.block), 1) }

func ceil(n, of int64) int64 { return (n + of - 1) / of }
