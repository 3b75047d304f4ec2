package upload

import (
	"strconv"

	"github.com/seed-76f09577/turnwire/wasm/api"
)

// transfer is what is known of an upload's way into the store: where it goes, how it is cut, how far each lane came.
type transfer struct {
	ticket      *api.Ticket // is replaced, never changed
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

	commits   int  // that were sent, by earlier pages too
	able      bool // the store can do what the protocol makes use of and does not need; what that is, each says itself
	committed bool

	text   []byte // of the ticket in textOf
	textOf *api.Ticket
}

// ticketText is the ticket in the form of a record. Records are many, and one ticket may have thousands of addresses.
func (t *transfer) ticketText() []byte {
	if t.textOf != t.ticket {
		t.text, t.textOf = t.ticket.AppendJSON(nil), t.ticket
	}
	return t.text
}

// lane is a run of the data that is stored in order: a block, or several one after the other.
type lane struct {
	index    int
	from, to int64
	at       int64  // the store has the bytes before it
	sent     int64  // the bytes after it were never sent: the store can't have them
	url      string // of the lane's own upload, where the protocol makes one for each
	tag      string // the store's name for what it has, such as an ETag
	unsure   bool   // how far the store came has to be asked
	done     bool

	best  int64 // the furthest that at has been: progress is what goes beyond
	tries int   // that failed since the last progress
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
func (t *transfer) move(l *lane, at int64) {
	t.acked += at - l.at
	l.at = at
}

// home is what two tickets must have in common for what is stored under the one to count under the other.
func home(t *api.Ticket) string {
	address := t.URL
	if len(t.Parts) > 0 {
		address = t.Parts[0].URL
	}
	return place(address) + "?" + query(address, "uploadId") + query(address, "upload_id")
}

// addressed reports whether the ticket has an address for each lane, where the data was cut under another one.
func (t *transfer) addressed(p *protocol) bool {
	if t.lanes == nil {
		return true
	}
	lay, err := p.wire.layout(t)
	return err == nil && (lay.most == 0 || int64(len(t.lanes)) <= lay.most)
}

// finish marks a lane as stored whole.
func (t *transfer) finish(l *lane) {
	t.move(l, l.to)
	l.done, l.unsure = true, false
}

// reset forgets what the store was thought to have of a lane.
func (t *transfer) reset(l *lane) {
	t.move(l, l.from)
	l.best, l.sent = l.from, l.from
	l.url, l.tag, l.unsure, l.done = "", "", false, false
}

// wantedBlock is the size of a block before the protocol's bounds: the caller's, the service's or the default.
func (t *transfer) wantedBlock() int64 {
	switch {
	case t.wanted > 0:
		return t.wanted
	case t.ticket.BlockSize > 0:
		return t.ticket.BlockSize
	}
	return defaultBlock
}

// cut divides the data.
func (t *transfer) cut(lay layout) *api.Error {
	block := t.wantedBlock()
	if lay.fixed > 0 {
		block = lay.fixed
	}
	if lay.most > 0 {
		block = max(block, ceil(t.size, lay.most))
	}
	if lay.multiple > 1 {
		block = ceil(block, lay.multiple) * lay.multiple
	}
	block = max(block, lay.min, 1)
	if lay.max > 0 {
		block = min(block, lay.max)
	}
	if lay.most > 0 && ceil(t.size, block) > lay.most {
		return failure("file_too_large",
			"the storage takes at most "+strconv.FormatInt(lay.most, 10)+" blocks of "+strconv.FormatInt(block, 10)+" bytes, the data has "+strconv.FormatInt(t.size, 10))
	}
	t.block, t.span = block, block
	if lay.lanes > 0 {
		t.span = max(ceil(ceil(t.size, lay.lanes), block)*block, block)
	}
	t.lay()
	return nil
}

// lay makes the lanes of a transfer whose block and span are known. Empty data is one empty lane.
func (t *transfer) lay() {
	t.acked = 0
	t.lanes = make([]*lane, 0, max(ceil(t.size, t.span), 1))
	for from := int64(0); from < t.size || len(t.lanes) == 0; from += t.span {
		t.lanes = append(t.lanes, &lane{index: len(t.lanes), from: from, to: min(from+t.span, t.size), at: from, sent: from, best: from})
	}
}

// chunk is the end of the block that a lane is at.
func (t *transfer) chunk(l *lane) int64 { return min(l.at+t.block, l.to) }

// oneBlock reports whether the data is one block, or empty.
func (t *transfer) oneBlock() bool { return len(t.lanes) == 1 && t.size <= t.block }

func (t *transfer) blocks() int64 { return max(ceil(t.size, t.block), 1) }

func ceil(n, of int64) int64 { return (n + of - 1) / of }
