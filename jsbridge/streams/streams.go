// Package streams is the part of the bridge that is called for every chunk of every stream. It is a package of its own so
// that it is compiled with inlining: for the rest of the bridge that would cost more of the download than it saves in time.
package streams

import (
	"github.com/seed-76f09577/turnwire/jsbridge/contract"
	"github.com/seed-76f09577/turnwire/wasm/turn"
)

// Streams has the turns by the page's numbers of them. A slice, because a map's look-up is a good part of what feeding one
// event costs.
type Streams struct {
	turns []*turn.Machine
	batch turn.Batch
	tools []byte
}

// Add gives a turn its number.
func (s *Streams) Add(number uint32, m *turn.Machine) {
	for number >= uint32(len(s.turns)) {
		s.turns = append(s.turns, nil)
	}
	s.turns[number] = m
}

// Remove takes a turn's number back.
func (s *Streams) Remove(number uint32) {
	if number < uint32(len(s.turns)) {
		s.turns[number] = nil
	}
}

func (s *Streams) get(number uint32) *turn.Machine {
	if number < uint32(len(s.turns)) {
		return s.turns[number]
	}
	return nil
}

// Feed gives a turn a chunk, or nothing to go on with the one before, and leaves what came of it in fed.
func (s *Streams) Feed(number uint32, chunk []byte, now int64, fed *contract.Fed) (flags uint32) {
	m := s.get(number)
	if m == nil {
		*fed = contract.Fed{Batch: &turn.Batch{}}
		return 0
	}
	if len(chunk) > 0 {
		m.Feed(now, chunk)
	}
	if m.Batch(&s.batch) {
		flags |= contract.More
	}
	if m.Wants() {
		flags |= contract.WantsFlush
	}
	fed.Batch, fed.Text, fed.Reasoning = &s.batch, m.Text(), m.Reasoning()
	return flags
}

// Tools gives the tool calls of a turn that changed.
func (s *Streams) Tools(number uint32) (calls []byte, ok bool) {
	m := s.get(number)
	if m == nil {
		return nil, false
	}
	s.tools = m.AppendToolCalls(s.tools[:0])
	return s.tools, true
}
