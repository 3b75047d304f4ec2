package service

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// framer turns the events of one stream into its bytes.
type framer struct {
	f *faults
	// n is the id of the newest event framed.
	n      int
	replay bool
	// carry is text that resplit holds back, of kind carried.
	carry   string
	carried Kind
	altered bool
}

// reshape gives the events to send for one of the log: itself, unless a fault changes a replay.
func (m *framer) reshape(e Event) []Event {
	if !m.replay || !(m.f.has(faultResplit) || m.f.has(faultDiffer)) {
		return []Event{e}
	}
	var data struct {
		Chunk string `json:"chunk"`
	}
	if (e.Kind != TextDelta && e.Kind != ReasoningDelta) || json.Unmarshal(e.Data, &data) != nil {
		return append(m.rest(), e)
	}
	if m.f.has(faultDiffer) && e.Kind == TextDelta && !m.altered {
		m.altered = true
		data.Chunk = "Otherwise: " + data.Chunk
	}
	if !m.f.has(faultResplit) {
		return []Event{chunkEvent(e.Kind, data.Chunk)}
	}
	var out []Event
	if m.carried != e.Kind {
		out = m.rest()
	}
	runes := []rune(data.Chunk)
	half := len(runes) / 2
	if first := m.carry + string(runes[:half]); first != "" {
		out = append(out, chunkEvent(e.Kind, first))
	}
	m.carry, m.carried = string(runes[half:]), e.Kind
	return out
}

// rest returns what resplit still holds back.
func (m *framer) rest() []Event {
	if m.carry == "" {
		return nil
	}
	e := chunkEvent(m.carried, m.carry)
	m.carry = ""
	return []Event{e}
}

func chunkEvent(kind Kind, chunk string) Event {
	e, err := encodeEvent(kind, map[string]string{"chunk": chunk})
	if err != nil {
		panic(err) // a string always encodes
	}
	return e
}

// append adds the frame of the next event.
func (m *framer) append(to []byte, e Event) []byte {
	m.n++
	if !m.f.has(faultNoIDs) {
		to = append(to, "id: "...)
		to = strconv.AppendInt(to, int64(m.n), 10)
		to = append(to, '\n')
	}
	data := []byte(e.Data)
	if m.f.values[faultEncoding] == "event" {
		to = append(to, "event: "...)
		to = append(to, e.Kind...)
		to = append(to, "\ndata: "...)
	} else {
		to = append(to, "data: {\"type\":\""...)
		to = append(to, e.Kind...)
		to = append(to, "\",\"data\":"...)
		data = append(data[:len(data):len(data)], '}')
	}
	if m.f.number(faultBrokenJSON) == m.n {
		// The closing braces are missing: a prefix of an object is never JSON.
		data = bytes.TrimRight(data, "}")
	}
	to = append(to, data...)
	to = append(to, "\n\n"...)
	if e.Kind != TurnComplete {
		return to
	}
	if m.f.has(faultDoneMarker) {
		to = append(to, "data: [DONE]\n\n"...)
	}
	if m.f.has(faultNoLastBlank) {
		to = to[:len(to)-1]
	}
	return to
}
