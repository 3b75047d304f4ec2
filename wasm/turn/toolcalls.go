package turn

import (
	"strconv"

	"github.com/seed-76f09577/turnwire/wasm/json"
)

// call is one tool call, collected from its events.
type call struct {
	id            string
	name          string
	status        string // building, running, finished
	byOrder       bool   // any of its events came without an identifier
	place         int    // among all calls
	changed       bool   // since AppendToolCalls
	argumentsText []byte // UTF-8
	fragments     []byte // of the arguments, as they came; a replay is compared with them
	arguments     []byte // JSON; nil until tool_call, and where the text is not JSON
	result        []byte // JSON; nil until there is one
}

// tools ties the events of tool calls together (profile, "Tool calls"). An event costs the same however many calls there
// are: a service that sends thousands must not hold up the page.
type tools struct {
	calls   []*call
	changed []*call
	// open has the calls that may be building, the newest last; running those that may be running, the oldest first.
	open, running []*call
	ids           map[string]bool
	suffixes      map[string]int // the last that was given to a call of that identifier
	// byID and byIndex find a call by the text of any identifier that its events carried. They are two, because an
	// index may look like another call's id. One used again belongs to the newer call.
	byID, byIndex map[string]*call
}

// keyNames are the members that may identify a call, the first present counts. The last is the index.
var keyNames = []string{"tool_call_id", "call_id", "id", "index"}

const indexKey = 3

func (t *tools) apply(k kind, data []byte) *call {
	keys := json.Members(data, keyNames...)
	c := t.find(k, keys)
	for i, key := range keys {
		if isKey(key) {
			t.remember(i, key, c)
		}
	}
	if name := first(json.Members(data, "name", "tool_name", "tool"), json.IsString); name != nil {
		c.name = json.String(name)
	}
	switch k {
	case toolCallDelta:
		fragment := argumentFragment(data)
		if json.IsString(fragment) {
			c.fragments = json.AppendString(c.fragments, fragment)
		} else {
			c.fragments = append(c.fragments, fragment...)
		}
		c.argumentsText = c.fragments
	case toolCall:
		c.complete(first(json.Members(data, "arguments", "args", "input"), present))
		if c.status == "building" {
			c.status = "running"
			t.running = append(t.running, c)
		}
	case toolResult:
		if result := first(json.Members(data, "result", "output", "content"), present); result != nil {
			c.result = clone(result)
		}
		c.status = "finished"
	}
	if !c.changed {
		c.changed = true
		t.changed = append(t.changed, c)
	}
	return c
}

func argumentFragment(data []byte) []byte {
	return first(json.Members(data, "delta", "arguments_delta", "chunk", "arguments"), present)
}

// complete takes the final arguments: JSON as it is, or the text of it.
func (c *call) complete(final []byte) {
	switch {
	case json.IsString(final):
		c.argumentsText = json.AppendString(nil, final)
	case final != nil:
		c.arguments = clone(final)
		if len(c.argumentsText) == 0 {
			c.argumentsText = clone(final)
		}
		return
	}
	if json.Valid(c.argumentsText) {
		c.arguments = clone(c.argumentsText)
	}
}

// find returns the call that an event belongs to, a new one where there is none: an event that the service sent is
// shown, even where those before it were lost.
func (t *tools) find(k kind, keys [][]byte) *call {
	for i, key := range keys {
		if !isKey(key) {
			continue
		}
		if c := t.known(i, key); c != nil && !c.followed(k, i == indexKey) {
			return c
		}
		return t.begin(keyText(key), false)
	}
	found := t.inOrder(k)
	if found == nil {
		return t.begin("call-"+strconv.Itoa(len(t.calls)+1), true)
	}
	found.byOrder = true
	return found
}

// inOrder is the call that an event without an identifier belongs to, nil where there is none.
func (t *tools) inOrder(k kind) *call {
	switch k {
	case toolCallDelta, toolCall:
		for n := len(t.open); n > 0; n-- {
			if c := t.open[n-1]; c.status == "building" {
				return c
			}
			t.open = t.open[:n-1]
		}
	case toolResult:
		for len(t.running) > 0 {
			if c := t.running[0]; c.status == "running" {
				return c
			}
			t.running = t.running[1:]
		}
	}
	return nil
}

// followed reports whether an event with c's identifier is of a call after c: services count from 0 again.
func (c *call) followed(k kind, byIndex bool) bool {
	return k == toolCallStarted && c.status != "building" || byIndex && k != toolResult && c.status == "finished"
}

// begin makes a call. Its id is no other's, so that a page can tell its calls apart by it.
func (t *tools) begin(id string, byOrder bool) *call {
	if t.ids == nil {
		t.ids, t.byID, t.byIndex, t.suffixes = map[string]bool{}, map[string]*call{}, map[string]*call{}, map[string]int{}
	}
	unique := id
	for n := max(t.suffixes[id], 1) + 1; t.ids[unique]; n++ {
		unique = id + "-" + strconv.Itoa(n)
		t.suffixes[id] = n
	}
	t.ids[unique] = true
	c := &call{id: unique, status: "building", byOrder: byOrder, place: len(t.calls)}
	t.calls = append(t.calls, c)
	t.open = append(t.open, c)
	return c
}

func (t *tools) known(i int, key []byte) *call {
	if i == indexKey {
		return t.byIndex[json.View(key)]
	}
	return t.byID[json.View(key)]
}

func (t *tools) remember(i int, key []byte, c *call) {
	if t.known(i, key) == c {
		return
	}
	if i == indexKey {
		t.byIndex[string(key)] = c
	} else {
		t.byID[string(key)] = c
	}
}

// appendChanged appends what AppendToolCalls says.
func (t *tools) appendChanged(dst []byte) []byte {
	w := json.WriterTo(dst)
	w.Open("", '[')
	for _, c := range t.changed {
		c.changed = false
		w.Int("", int64(c.place))
		w.Open("", '{')
		w.String("id", c.id)
		w.String("name", c.name)
		w.String("status", c.status)
		w.String("argumentsText", json.View(withoutHalf(c.argumentsText)))
		if c.arguments != nil {
			w.Raw("arguments", c.arguments)
		}
		if c.result != nil {
			w.Raw("result", c.result)
		}
		by := "id"
		if c.byOrder {
			by = "order"
		}
		w.String("matchedBy", by)
		w.Close('}')
	}
	w.Close(']')
	t.changed = nil
	return w.Text()
}

// isKey takes strings with something in them and numbers.
func isKey(value []byte) bool {
	return len(value) > 0 && (value[0] == '"' && len(value) > 2 || value[0] == '-' || value[0] >= '0' && value[0] <= '9')
}

func keyText(key []byte) string {
	if json.IsString(key) {
		return json.String(key)
	}
	return string(key)
}

func present(value []byte) bool { return value != nil && json.View(value) != "null" }

func first(values [][]byte, ok func([]byte) bool) []byte {
	for _, v := range values {
		if ok(v) {
			return v
		}
	}
	return nil
}
