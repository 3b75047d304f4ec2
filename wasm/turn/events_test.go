package turn

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEvents reads one stream each (profile, "The event stream"). Events are written as type, data and id, with the
// type's JSON as it stands.
func TestEvents(t *testing.T) {
	one := func(typ, data string) []seen { return []seen{{typ: typ, data: data}} }
	cases := []struct {
		name, stream string
		want         []seen
		text         string
		reasoning    string
	}{
		{name: "type in the JSON", stream: `data: {"type":"text_delta","data":{"chunk":"a"}}`, want: one(`"text_delta"`, `{"chunk":"a"}`), text: "a"},
		{name: "type in the event field", stream: "event: text_delta\n" + `data: {"chunk":"a"}`, want: one(`"text_delta"`, `{"chunk":"a"}`), text: "a"},
		{name: "the JSON's own type wins", stream: "event: error\n" + `data: {"type":"text_delta","data":{"chunk":"a"}}`, want: one(`"text_delta"`, `{"chunk":"a"}`), text: "a"},
		{name: "data before type", stream: `data: {"data":{"chunk":"a"},"type":"text_delta"}`, want: one(`"text_delta"`, `{"chunk":"a"}`), text: "a"},
		{name: "no data", stream: `data: {"type":"text_delta","chunk":"a","n":1}`, want: one(`"text_delta"`, `{"chunk":"a","n":1}`), text: "a"},
		{name: "no data, type last", stream: `data: {"chunk":"a","type":"text_delta"}`, want: one(`"text_delta"`, `{"chunk":"a"}`), text: "a"},
		{name: "nothing but the type", stream: `data: {"type":"ping"}`, want: one(`"ping"`, `{}`)},
		{name: "data is a string", stream: `data: {"type":"text_delta","data":"a"}`, want: one(`"text_delta"`, `{"data":"a"}`)},
		{name: "data is an array", stream: `data: {"type":"x","data":[1,{"chunk":"a"}]}`, want: one(`"x"`, `{"data":[1,{"chunk":"a"}]}`)},
		{name: "data is null", stream: `data: {"type":"x","data":null,"n":1}`, want: one(`"x"`, `{"data":null,"n":1}`)},
		{name: "data is empty", stream: `data: {"type":"text_delta","data":{}}`, want: one(`"text_delta"`, `{}`)},
		{name: "no type", stream: `data: {"chunk":"a"}`, want: one(`"message"`, `{"chunk":"a"}`)},
		{name: "no type but data", stream: `data: {"data":{"chunk":"a"}}`, want: one(`"message"`, `{"data":{"chunk":"a"}}`)},
		{name: "type is no string", stream: "event: text_delta\n" + `data: {"type":7,"chunk":"a"}`, want: one(`"text_delta"`, `{"type":7,"chunk":"a"}`), text: "a"},
		{name: "type is null", stream: `data: {"type":null}`, want: one(`"message"`, `{"type":null}`)},
		{name: "type is empty", stream: `data: {"type":""}`, want: one(`""`, `{}`)},
		{name: "type with escapes", stream: `data: {"type":"text\u005fdelta","data":{"chunk":"a"}}`, want: one(`"text\u005fdelta"`, `{"chunk":"a"}`), text: "a"},
		{name: "names with escapes", stream: `data: {"typ\u0065":"text_delta","d\u0061ta":{"ch\u0075nk":"a"}}`, want: one(`"text_delta"`, `{"ch\u0075nk":"a"}`), text: "a"},
		{name: "two types", stream: `data: {"type":"error","type":"text_delta","data":{"chunk":"a"}}`, want: one(`"text_delta"`, `{"chunk":"a"}`), text: "a"},
		{name: "two data", stream: `data: {"type":"text_delta","data":{"chunk":"a"},"data":{"chunk":"b"}}`, want: one(`"text_delta"`, `{"chunk":"b"}`), text: "b"},
		{name: "two data, the last without chunk", stream: `data: {"type":"text_delta","data":{"chunk":"a"},"data":{}}`, want: one(`"text_delta"`, `{}`)},
		{name: "two data, the last no object", stream: `data: {"type":"text_delta","data":{"chunk":"a"},"data":1}`, want: one(`"text_delta"`, `{"data":{"chunk":"a"},"data":1}`)},
		{name: "two chunks", stream: `data: {"type":"text_delta","data":{"chunk":"a","chunk":"b"}}`, want: one(`"text_delta"`, `{"chunk":"a","chunk":"b"}`), text: "b"},
		{name: "chunk beside data", stream: `data: {"type":"text_delta","chunk":"a","data":{"chunk":"b"}}`, want: one(`"text_delta"`, `{"chunk":"b"}`), text: "b"},
		{name: "chunk deeper", stream: `data: {"type":"text_delta","data":{"x":{"chunk":"a"}}}`, want: one(`"text_delta"`, `{"x":{"chunk":"a"}}`)},
		{name: "chunk is no string", stream: `data: {"type":"text_delta","data":{"chunk":7}}`, want: one(`"text_delta"`, `{"chunk":7}`)},
		{name: "chunk is empty", stream: `data: {"type":"text_delta","data":{"chunk":""}}`, want: one(`"text_delta"`, `{"chunk":""}`)},
		{name: "chunk with escapes", stream: `data: {"type":"text_delta","data":{"chunk":"a\n\"\u00e9"}}`, want: one(`"text_delta"`, `{"chunk":"a\n\"\u00e9"}`), text: "a\n\"é"},
		{name: "chunk that ends like the event", stream: `data: {"type":"text_delta","data":{"chunk":"\"}}"}}`, want: one(`"text_delta"`, `{"chunk":"\"}}"}`), text: `"}}`},
		{name: "chunk in UTF-8", stream: `data: {"type":"text_delta","data":{"chunk":"né😀"}}`, want: one(`"text_delta"`, `{"chunk":"né😀"}`), text: "né😀"},
		{name: "chunk not in UTF-8", stream: "data: {\"type\":\"text_delta\",\"data\":{\"chunk\":\"a\xE2\x82b\xFF\"}}", want: one(`"text_delta"`, `{"chunk":"a`+"\uFFFDb\uFFFD"+`"}`), text: "a\uFFFDb\uFFFD"},
		{name: "event field not in UTF-8", stream: "event: a\xE2\x82b\ndata: {}", want: one("\"a\uFFFDb\"", `{}`)},
		{name: "event field with a quote", stream: "event: a\"\\b\x01\ndata: {}", want: one(`"a\"\\b\u0001"`, `{}`)},
		{name: "white space", stream: "data: \t { \"type\" : \"text_delta\" , \"data\" : { \"chunk\" : \"a\" } } ", want: one(`"text_delta"`, `{ "chunk" : "a" } `), text: "a"},
		{name: "several data lines", stream: "data: {\"type\":\ndata: \"text_delta\",\ndata:\"data\":{\"chunk\":\"a\"}}", want: one(`"text_delta"`, `{"chunk":"a"}`), text: "a"},
		{name: "unknown type", stream: `data: {"type":"usage","data":{"n":1}}`, want: one(`"usage"`, `{"n":1}`)},
		{name: "reasoning", stream: `data: {"type":"reasoning_delta","data":{"chunk":"r"}}`, want: one(`"reasoning_delta"`, `{"chunk":"r"}`), reasoning: "r"},
		{name: "reasoning by delta", stream: `data: {"type":"reasoning_delta","data":{"delta":"r"}}`, want: one(`"reasoning_delta"`, `{"delta":"r"}`), reasoning: "r"},
		{name: "reasoning by text", stream: "event: reasoning_delta\n" + `data: {"text":"r","chunk":1}`, want: one(`"reasoning_delta"`, `{"text":"r","chunk":1}`), reasoning: "r"},
		{name: "reasoning by nothing", stream: `data: {"type":"reasoning_delta","data":{"n":1}}`, want: one(`"reasoning_delta"`, `{"n":1}`)},
		{name: "id", stream: "id: 7\n" + `data: {"type":"text_delta","data":{"chunk":"a"}}`, want: []seen{{typ: `"text_delta"`, data: `{"chunk":"a"}`, id: "7"}}, text: "a"},
		{name: "id is only the event's own", stream: "id: 7\ndata: {}\n\ndata: {}", want: []seen{{typ: `"message"`, data: `{}`, id: "7"}, {typ: `"message"`, data: `{}`}}},
		{name: "empty id", stream: "id\n" + `data: {}`, want: one(`"message"`, `{}`)},
		{name: "id not in UTF-8", stream: "id: \xFF\ndata: {}", want: []seen{{typ: `"message"`, data: `{}`, id: "\uFFFD"}}},
		{name: "[DONE]", stream: "data: [DONE]\n\n" + `data: {"type":"text_delta","data":{"chunk":"a"}}`, want: one(`"text_delta"`, `{"chunk":"a"}`), text: "a"},
		{name: "comments and empty events", stream: ": hi\n\nevent: x\n\nretry: 10\n\n" + `data: {"type":"x"}`, want: one(`"x"`, `{}`)},
		{name: "a byte order mark", stream: "\uFEFF" + `data: {"type":"x"}`, want: one(`"x"`, `{}`)},
	}
	for _, c := range cases {
		for name, byBatch := range map[string]bool{"": false, " by batch": true} {
			t.Run(c.name+name, func(t *testing.T) {
				p := streaming(t)
				p.byBatch = byBatch
				p.feed(c.stream + "\n\n")
				require.False(t, p.over(), p.code())
				got := append([]seen(nil), p.got...)
				for i := range got {
					got[i].mark = 0
				}
				want := slices.Clone(c.want)
				for i := range want {
					if byBatch {
						// What follows a value is no part of it, and JSON readers drop it.
						want[i].data = strings.TrimSpace(want[i].data)
					}
				}
				assert.Equal(t, want, got)
				assert.Equal(t, c.text, string(p.m.Text()))
				assert.Equal(t, c.reasoning, string(p.m.Reasoning()))
			})
		}
	}
}

func TestNotAnEvent(t *testing.T) {
	for name, data := range map[string]string{
		"text":            "hello",
		"html":            "<html>",
		"cut":             `{"type":"text_delta","data":{"chunk":"a"}`,
		"more after it":   `{"type":"x"} {}`,
		"string":          `"text"`,
		"number":          "7",
		"null":            "null",
		"array":           `[{"type":"x"}]`,
		"empty":           "",
		"[DONE] and more": "[DONE] ",
		"[done]":          "[done]",
		"single quotes":   `{'type':'x'}`,
		"trailing comma":  `{"type":"x",}`,
		"comment":         `{"type":"x"/**/}`,
		"control":         "{\"type\":\"text_delta\",\"data\":{\"chunk\":\"a\tb\"}}",
		"bad escape":      `{"type":"text_delta","data":{"chunk":"\x"}}`,
		"ends in escape":  `{"type":"text_delta","data":{"chunk":"\"}}`,
		"NaN":             `{"type":"x","data":{"n":NaN}}`,
		"deep":            `{"type":"x","data":` + strings.Repeat("[", 100_000) + "}",
	} {
		for suffix, byBatch := range map[string]bool{"": false, " by batch": true} {
			t.Run(name+suffix, func(t *testing.T) {
				p := streaming(t)
				p.byBatch = byBatch
				p.feed(hello + "data: " + data + "\n\n" + hello + complete)
				require.True(t, p.over())
				assert.Equal(t, Interrupted, p.outcome.Status)
				assert.Equal(t, "event_not_json", p.code())
				assert.Contains(t, p.outcome.Err.Message, "event 2 ")
				assert.Equal(t, []string{"text_delta"}, p.types())
			})
		}
	}
}

// TestHalfCharacters sends a surrogate pair in two fragments: the text never has half of it.
func TestHalfCharacters(t *testing.T) {
	delta := func(typ, chunk string) string {
		return `data: {"type":"` + typ + `","data":{"chunk":"` + chunk + "\"}}\n\n"
	}
	cases := []struct {
		name   string
		chunks []string
		texts  []string // after each
	}{
		{"joined", []string{`a\ud83d`, `\ude00b`}, []string{"a", "a😀b"}},
		{"alone in their fragments", []string{`\ud83d`, `\ude00`}, []string{"", "😀"}},
		{"an empty fragment between", []string{`\ud83d`, ``, `\ude00`}, []string{"", "", "😀"}},
		{"upper case", []string{`\uD83D`, `\uDE00`}, []string{"", "😀"}},
		{"no second half", []string{`a\ud83d`, `b`}, []string{"a", "a\uFFFDb"}},
		{"no second half, escape", []string{`a\ud83d`, `\n`}, []string{"a", "a\uFFFD\n"}},
		{"no second half, in UTF-8", []string{`a\ud83d`, `é`}, []string{"a", "a\uFFFDé"}},
		{"two first halves", []string{`\ud83d`, `\ud83d`, `\ude00`}, []string{"", "\uFFFD", "\uFFFD😀"}},
		{"no first half", []string{`a`, `\ude00b`}, []string{"a", "a\uFFFDb"}},
		{"wrong way round", []string{`\ude00`, `\ud83d`, `x`}, []string{"\uFFFD", "\uFFFD", "\uFFFD\uFFFDx"}},
	}
	for _, c := range cases {
		for name, byBatch := range map[string]bool{"": false, " by batch": true} {
			t.Run(c.name+name, func(t *testing.T) {
				p := streaming(t)
				p.byBatch = byBatch
				all := ""
				for i, chunk := range c.chunks {
					p.feed(delta("text_delta", chunk) + delta("reasoning_delta", chunk))
					assert.Equal(t, c.texts[i], string(p.m.Text()))
					assert.Equal(t, c.texts[i], string(p.m.Reasoning()))
					assert.Equal(t, len(c.texts[i]), p.got[2*i].mark)
					assert.Equal(t, len(c.texts[i]), p.got[2*i+1].mark)
					all += delta("text_delta", chunk)
				}

				q := streaming(t)
				q.byBatch = byBatch
				q.feed(all)
				for i, text := range c.texts {
					assert.Equal(t, len(text), q.got[i].mark, "mark %d of one batch", i)
				}
			})
		}
	}
}
