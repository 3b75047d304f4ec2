package turn

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// toolCallJSON is a call as the page gets it.
type toolCallJSON struct {
	ID, Name, Status, ArgumentsText string
	Arguments, Result               json.RawMessage
	MatchedBy                       string
}

// toolCalls are the calls as the loader has them, which takes over those that changed.
func (p *page) toolCalls() []toolCallJSON {
	p.Helper()
	text := p.m.AppendToolCalls(nil)
	var changed []json.RawMessage
	if err := json.Unmarshal(text, &changed); err != nil {
		p.fail("tool calls: %v: %s", err, text)
	}
	for ; len(changed) > 0; changed = changed[2:] {
		var place int
		var c toolCallJSON
		if err := errors.Join(json.Unmarshal(changed[0], &place), json.Unmarshal(changed[1], &c)); err != nil || place > len(p.calls) {
			p.fail("tool calls: %v: %s", err, text)
		}
		if place == len(p.calls) {
			p.calls = append(p.calls, c)
		}
		p.calls[place] = c
	}
	return p.calls
}

func started(data string) string { return "event: tool_call_started\ndata: " + data + "\n\n" }
func delta(data string) string   { return "event: tool_call_delta\ndata: " + data + "\n\n" }
func called(data string) string  { return "event: tool_call\ndata: " + data + "\n\n" }
func result(data string) string  { return "event: tool_result\ndata: " + data + "\n\n" }

// TestToolCalls (profile, "Tool calls") reads each call as: id name status argumentsText arguments result matchedBy.
func TestToolCalls(t *testing.T) {
	cases := []struct {
		name   string
		stream string
		want   []string
	}{
		{"a whole call", started(`{"id":"a","name":"sum"}`) + delta(`{"id":"a","delta":"{\"x\""}`) + delta(`{"id":"a","delta":":1}"}`) +
			called(`{"id":"a","arguments":{"x":1}}`) + result(`{"id":"a","result":2}`),
			[]string{`a sum finished {"x":1} {"x":1} 2 id`}},
		{"by tool_call_id", started(`{"tool_call_id":"a","name":"sum"}`) + result(`{"tool_call_id":"a","result":2}`), []string{`a sum finished   2 id`}},
		{"by call_id", started(`{"call_id":"a","name":"sum"}`) + result(`{"call_id":"a","result":2}`), []string{`a sum finished   2 id`}},
		{"by index", started(`{"index":0,"name":"sum"}`) + result(`{"index":0,"result":2}`), []string{`0 sum finished   2 id`}},
		{"by a number", started(`{"id":17,"name":"sum"}`) + result(`{"id":17,"result":2}`), []string{`17 sum finished   2 id`}},
		{"the first name counts", started(`{"id":"event-1","tool_call_id":"a"}`) + result(`{"id":"event-2","tool_call_id":"a","result":2}`), []string{`a  finished   2 id`}},
		{"an id that is empty or null", started(`{"tool_call_id":null,"call_id":"","id":"a"}`) + called(`{"id":"a"}`), []string{`a  running    id`}},
		{"an id with escapes", started(`{"id":"\"\u00e9"}`) + called(`{"id":"\"\u00e9"}`), []string{`"é  running    id`}},
		{"an id, then only the index", started(`{"id":"a","index":0}`) + delta(`{"index":0,"delta":"1"}`) + result(`{"id":"a","result":2}`), []string{`a  finished 1  2 id`}},
		{"numeric ids and indices", started(`{"id":1,"index":0}`) + started(`{"id":2,"index":1}`) + result(`{"id":1,"result":"first"}`) + result(`{"id":2,"result":"second"}`),
			[]string{`1  finished   "first" id`, `2  finished   "second" id`}},
		{"overlapping by id", started(`{"id":"a"}`) + started(`{"id":"b"}`) + delta(`{"id":"a","delta":"1"}`) + delta(`{"id":"b","delta":"2"}`) + called(`{"id":"b"}`) +
			result(`{"id":"b","result":"B"}`) + called(`{"id":"a"}`) + result(`{"id":"a","result":"A"}`),
			[]string{`a  finished 1 1 "A" id`, `b  finished 2 2 "B" id`}},

		{"by order, one after the other", started(`{"name":"x"}`) + delta(`{"delta":"1"}`) + called(`{}`) + result(`{"result":"X"}`) + started(`{"name":"y"}`) + delta(`{"delta":"2"}`) + called(`{}`),
			[]string{`call-1 x finished 1 1 "X" order`, `call-2 y running 2 2  order`}},
		{"by order, deltas of the newest open", started(`{"name":"x"}`) + started(`{"name":"y"}`) + delta(`{"delta":"2"}`) + called(`{}`) + delta(`{"delta":"1"}`) + called(`{}`),
			[]string{`call-1 x running 1 1  order`, `call-2 y running 2 2  order`}},
		{"by order, results as they began to run", started(`{"name":"x"}`) + started(`{"name":"y"}`) + called(`{}`) + called(`{}`) + result(`{"result":"Y"}`) + result(`{"result":"X"}`),
			[]string{`call-1 x finished   "X" order`, `call-2 y finished   "Y" order`}},
		{"by order, a result of none", result(`{"result":1}`), []string{`call-1  finished   1 order`}},
		{"by order, a result before its call", started(`{"name":"x"}`) + result(`{"result":1}`), []string{`call-1 x building    order`, `call-2  finished   1 order`}},
		{"by order after an id", started(`{"id":"a","name":"x"}`) + delta(`{"delta":"1"}`) + called(`{"id":"a"}`), []string{`a x running 1 1  order`}},
		{"an id like a made one", started(`{"id":"call-2"}`) + started(`{}`), []string{`call-2  building    id`, `call-2-2  building    order`}},

		{"delta without started", delta(`{"id":"a","name":"x","delta":"1"}`), []string{`a x building 1   id`}},
		{"call without started", called(`{"id":"a","tool_name":"x","arguments":{}}`), []string{`a x running {} {}  id`}},
		{"result without started", result(`{"id":"a","tool":"x","result":{}}`), []string{`a x finished   {} id`}},
		{"call without started, by order", called(`{"name":"x"}`) + result(`{"result":1}`), []string{`call-1 x finished   1 order`}},
		{"result twice", called(`{"id":"a"}`) + result(`{"id":"a","result":1}`) + result(`{"id":"a","result":2}`), []string{`a  finished   2 id`}},
		{"call after its result", result(`{"id":"a","result":1}`) + called(`{"id":"a","arguments":{"x":1}}`), []string{`a  finished {"x":1} {"x":1} 1 id`}},
		{"delta after its result", result(`{"id":"a","result":1}`) + delta(`{"id":"a","delta":"x"}`), []string{`a  finished x  1 id`}},

		{"index again", started(`{"index":0,"name":"x"}`) + result(`{"index":0,"result":1}`) + started(`{"index":0,"name":"y"}`) + result(`{"index":0,"result":2}`),
			[]string{`0 x finished   1 id`, `0-2 y finished   2 id`}},
		{"index again while the first runs", started(`{"index":0,"name":"x"}`) + called(`{"index":0}`) + started(`{"index":0,"name":"y"}`) + result(`{"index":0,"result":2}`),
			[]string{`0 x running    id`, `0-2 y finished   2 id`}},
		{"index again without started", called(`{"index":0,"name":"x"}`) + result(`{"index":0,"result":1}`) + called(`{"index":0,"name":"y"}`) + result(`{"index":0,"result":2}`),
			[]string{`0 x finished   1 id`, `0-2 y finished   2 id`}},
		{"index again, ids differ", started(`{"id":"a","index":0}`) + result(`{"id":"a","result":1}`) + started(`{"id":"b","index":0}`) + delta(`{"index":0,"delta":"2"}`),
			[]string{`a  finished   1 id`, `b  building 2   id`}},
		{"started twice", started(`{"id":"a"}`) + started(`{"id":"a","name":"x"}`), []string{`a x building    id`}},
		{"started again after its result", started(`{"id":"a"}`) + result(`{"id":"a"}`) + started(`{"id":"a"}`) + delta(`{"id":"a","delta":"2"}`),
			[]string{`a  finished    id`, `a-2  building 2   id`}},

		{"fragment by arguments_delta", delta(`{"id":"a","arguments_delta":"1"}`), []string{`a  building 1   id`}},
		{"fragment by chunk", delta(`{"id":"a","chunk":"1"}`), []string{`a  building 1   id`}},
		{"fragment by arguments", delta(`{"id":"a","arguments":"1"}`), []string{`a  building 1   id`}},
		{"fragment that is no text", delta(`{"id":"a","delta":{"x":1}}`), []string{`a  building {"x":1}   id`}},
		{"fragment that is null", delta(`{"id":"a","delta":null,"chunk":"1"}`), []string{`a  building 1   id`}},
		{"fragment cut in a character", delta(`{"id":"a","delta":"\"\ud83d"}`) + delta(`{"id":"a","delta":"\ude00\""}`) + called(`{"id":"a"}`), []string{`a  running "😀" "😀"  id`}},
		{"no fragment", delta(`{"id":"a"}`), []string{`a  building    id`}},
		{"arguments as text", called(`{"id":"a","arguments":"{\"x\":1}"}`), []string{`a  running {"x":1} {"x":1}  id`}},
		{"arguments as text that is no JSON", called(`{"id":"a","arguments":"x=1"}`), []string{`a  running x=1   id`}},
		{"arguments by args", called(`{"id":"a","args":[1]}`), []string{`a  running [1] [1]  id`}},
		{"arguments by input", called(`{"id":"a","input":{"x":1}}`), []string{`a  running {"x":1} {"x":1}  id`}},
		{"arguments that differ from the fragments", delta(`{"id":"a","delta":"{"}`) + called(`{"id":"a","arguments":{"x":1}}`), []string{`a  running { {"x":1}  id`}},
		{"arguments as other text than the fragments", delta(`{"id":"a","delta":"{"}`) + called(`{"id":"a","arguments":"{}"}`), []string{`a  running {} {}  id`}},
		{"arguments only as fragments", delta(`{"id":"a","delta":"{}"}`) + called(`{"id":"a"}`), []string{`a  running {} {}  id`}},
		{"fragments that are no JSON", delta(`{"id":"a","delta":"{"}`) + called(`{"id":"a"}`), []string{`a  running {   id`}},
		{"result by output", result(`{"id":"a","output":"text"}`), []string{`a  finished   "text" id`}},
		{"result by content", result(`{"id":"a","content":[{"type":"text"}]}`), []string{`a  finished   [{"type":"text"}] id`}},
		{"result that is null", result(`{"id":"a","result":null}`), []string{`a  finished    id`}},
		{"no result but an error", result(`{"id":"a","error":"timeout"}`), []string{`a  finished    id`}},
		{"name later", started(`{"id":"a"}`) + called(`{"id":"a","name":"x"}`), []string{`a x running    id`}},
		{"name with a quote", started(`{"id":"a","name":"\"\\"}`), []string{`a "\ building    id`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := streaming(t)
			p.feed(c.stream)
			require.False(t, p.over(), p.code())
			var got []string
			for _, k := range p.toolCalls() {
				got = append(got, k.ID+" "+k.Name+" "+k.Status+" "+k.ArgumentsText+" "+string(k.Arguments)+" "+string(k.Result)+" "+k.MatchedBy)
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestNoToolCalls(t *testing.T) {
	p := streaming(t)
	assert.Equal(t, "[]", string(p.m.AppendToolCalls(nil)))
	p.feed(hello)
	assert.Equal(t, "x[]", string(p.m.AppendToolCalls([]byte("x"))))
}

// TestToolStateAtEachEvent shows that a listener finds the calls as of its event, whatever came in the same chunk.
func TestToolStateAtEachEvent(t *testing.T) {
	for name, byBatch := range map[string]bool{"one by one": false, "by batch": true} {
		t.Run(name, func(t *testing.T) {
			p := streaming(t)
			p.byBatch = byBatch
			var got []string
			p.listener = func(e seen) {
				state := ""
				for _, c := range p.toolCalls() {
					state += " " + c.ID + ":" + c.Status
				}
				got = append(got, e.typ+state)
			}
			p.feed(hello + started(`{"id":"a"}`) + hello + hello + started(`{"id":"b"}`) + called(`{"id":"a"}`) + result(`{"id":"a"}`) + hello + complete)
			assert.Equal(t, []string{
				`"text_delta"`, `"tool_call_started" a:building`, `"text_delta" a:building`, `"text_delta" a:building`,
				`"tool_call_started" a:building b:building`, `"tool_call" a:running b:building`, `"tool_result" a:finished b:building`,
				`"text_delta" a:finished b:building`, `"turn_complete" a:finished b:building`,
			}, got)
		})
	}
}
