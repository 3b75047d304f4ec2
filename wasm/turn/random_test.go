package turn

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode/utf16"
)

var words = []string{
	"the ", "answer ", "is ", "né ", "日本語", "😀", "👩‍👩‍👧", "𝄞 ", "\"quoted\" ", "back\\slash ", "line\n", "tab\t", "{\"a\":1} ", "data: ", "]]>", "\u2028", "", "x",
}

func phrase(rng *rand.Rand, most int) string {
	var b strings.Builder
	for range 1 + rng.IntN(most) {
		b.WriteString(words[rng.IntN(len(words))])
	}
	return b.String()
}

// tool is a call that is being scripted: what is still to be sent of it.
type tool struct {
	truth   *toolTruth
	key     string // the member that identifies it, with its comma; empty where the order does
	pending []scripted
}

// randomScript is a turn of about size events, with tools that overlap where their events carry an identifier.
func randomScript(rng *rand.Rand, size int) *script {
	s := &script{ascii: rng.IntN(3) == 0}
	style := []string{"tool_call_id", "call_id", "id", "index", ""}[rng.IntN(5)]
	say := map[string][][]uint16{}
	fragment := func(channel string) {
		s.add(scripted{typ: channel, head: `{"chunk":`, tail: `}`, units: say[channel][0]})
		say[channel] = say[channel][1:]
	}
	var open []*tool
	for len(s.events) < size || len(open) > 0 {
		switch rng.IntN(9) {
		case 0:
			if len(open) < 4 && len(s.events) < size && (style != "" || len(open) == 0) {
				open = append(open, s.tool(rng, style))
			}
		case 1, 2, 3:
			if len(open) > 0 {
				i := rng.IntN(len(open))
				next := open[i].pending[0]
				if next.typ == "tool_call_started" {
					s.calls = append(s.calls, open[i].truth)
				}
				s.add(next)
				if open[i].pending = open[i].pending[1:]; len(open[i].pending) == 0 {
					open = append(open[:i], open[i+1:]...)
				}
			}
		case 4:
			if rng.IntN(8) == 0 {
				s.add(scripted{typ: "usage", data: fmt.Sprintf(`{"tokens":%d,"nested":{"chunk":"no"}}`, rng.IntN(1000))})
			}
		default:
			channel := "text_delta"
			if rng.IntN(4) == 0 {
				channel = "reasoning_delta"
			}
			if len(say[channel]) == 0 {
				say[channel] = fragments(rng, utf16.Encode([]rune(phrase(rng, 8))), 1+rng.IntN(9))
			}
			if len(say[channel]) > 0 {
				fragment(channel)
			}
		}
	}
	// Half a character at the end would belong to no text.
	for _, channel := range []string{"text_delta", "reasoning_delta"} {
		for len(say[channel]) > 0 {
			fragment(channel)
		}
	}
	s.add(scripted{typ: "turn_complete", data: fmt.Sprintf(`{"stop":"end","n":%d}`, rng.IntN(10))})
	return s
}

func (s *script) tool(rng *rand.Rand, style string) *tool {
	s.made++
	n := s.made - 1
	quote := func(text string) string { b, _ := json.Marshal(text); return string(b) }
	arguments := fmt.Sprintf(`{"query":%s,"n":%d}`, quote(phrase(rng, 4)), rng.IntN(100))
	truth := &toolTruth{Name: []string{"search", "calc", "né"}[rng.IntN(3)], ArgumentsText: arguments, Result: quote(phrase(rng, 3))}
	k := &tool{truth: truth}
	switch style {
	case "":
		truth.ID = fmt.Sprintf("call-%d", n+1)
	case "index":
		truth.ID = fmt.Sprint(n)
		k.key = fmt.Sprintf(`"index":%d,`, n)
	default:
		truth.ID = fmt.Sprintf("tool_%d", n)
		k.key = fmt.Sprintf(`%q:%q,`, style, truth.ID)
	}

	event := func(typ, rest string) {
		k.pending = append(k.pending, scripted{typ: typ, data: "{" + k.key + rest + "}"})
	}
	event("tool_call_started", `"name":`+quote(truth.Name))
	for _, units := range fragments(rng, utf16.Encode([]rune(arguments)), 1+rng.IntN(20)) {
		k.pending = append(k.pending, scripted{typ: "tool_call_delta", head: "{" + k.key + `"delta":`, tail: "}", units: units})
	}
	switch rng.IntN(3) {
	case 0:
		event("tool_call", `"arguments":`+arguments)
	case 1:
		event("tool_call", `"arguments":`+quote(arguments))
	default:
		event("tool_call", `"ready":true`)
	}
	event("tool_result", `"result":`+truth.Result)
	return k
}

// randomForm is one of the ways to write a stream.
func randomForm(rng *rand.Rand) form {
	one := func(n int) bool { return rng.IntN(n) == 0 }
	return form{
		named: one(3), flat: one(4), ids: one(3), lines: one(6), comments: one(3), space: !one(3), done: one(4),
		oneID: one(5), eol: []string{"\n", "\n", "\r\n", "\r"}[rng.IntN(4)],
	}
}
