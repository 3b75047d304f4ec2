package turn

import "github.com/seed-76f09577/turnwire/wasm/json"

// Batch is a run of events in the form in which the page takes them.
type Batch struct {
	// JSON is an array with an item for each event: {"type", "data"} with an "id" where it had one; of a text_delta
	// that holds a chunk and nothing else only the chunk, or [chunk, id]. The page makes such an event faster than
	// it parses one.
	JSON []byte
	// Marks has the Mark of each event.
	Marks []uint32
}

const (
	batchEvents = 1024
	batchBytes  = 256 << 10
	batchBuffer = 1 << 20 // a larger one, left by one large event, is not used again
)

// BatchEvents is the most events that a batch has.
const BatchEvents = batchEvents

// Batch applies the next events and leaves them in b, none where more bytes are needed. It reports whether it should
// be called again once they are delivered: a batch ends where next with first false leaves an event for later.
func (m *Machine) Batch(b *Batch) (more bool) {
	if cap(b.JSON) > batchBuffer {
		b.JSON = nil
	}
	out, marks := append(b.JSON[:0], '['), b.Marks[:0]
	for len(marks) < batchEvents && len(out) < batchBytes {
		if out, marks = m.plainRun(out, marks); len(marks) == batchEvents {
			break
		}
		e, ok := m.next(len(marks) == 0)
		if !ok {
			b.JSON, b.Marks = append(out, ']'), marks
			return m.pending()
		}
		if len(marks) > 0 {
			out = append(out, ',')
		}
		marks = append(marks, uint32(e.Mark))
		out = e.append(out)
	}
	b.JSON, b.Marks = append(out, ']'), marks
	return true
}

// plainRun applies plain text_deltas up to the first event that is something else, which is then the one ahead. They are
// nearly all of a stream: this loop is what reading costs, so that it keeps to local variables and calls little.
func (m *Machine) plainRun(out []byte, marks []uint32) ([]byte, []uint32) {
	if m.looked || m.phase != reading || m.Over() || m.ended.known || m.config.Replay {
		return out, marks
	}
	text := m.text
	for len(marks) < batchEvents && len(out) < batchBytes {
		e, ok := m.parser.Next()
		if !ok {
			break
		}
		chunk, ascii := plain(&m.reader, e.Data)
		if chunk == nil || e.HasID {
			m.text = text
			m.take(e)
			return out, marks
		}
		m.number++
		if ascii && !json.EndsInHalf(text) {
			text = append(text, chunk[1:len(chunk)-1]...)
		} else {
			text = json.AppendString(text, chunk)
		}
		if len(marks) > 0 {
			out = append(out, ',')
		}
		out = append(out, chunk...)
		marks = append(marks, uint32(len(withoutHalf(text))))
	}
	m.text = text
	return out, marks
}

func (e *event) append(out []byte) []byte {
	if e.Chunk != nil {
		if e.ID == nil {
			return append(out, e.Chunk...)
		}
		out = append(append(append(out, '['), e.Chunk...), ',')
		return append(json.Quote(out, json.View(e.ID)), ']')
	}
	out = append(append(out, `{"type":`...), e.Type...)
	out = append(append(out, `,"data":`...), e.Data...)
	if e.ID != nil {
		out = json.Quote(append(out, `,"id":`...), json.View(e.ID))
	}
	return append(out, '}')
}
