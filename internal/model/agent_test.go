package model_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-76f09577/turnwire/internal/library"
	"github.com/seed-76f09577/turnwire/internal/model"
	"github.com/seed-76f09577/turnwire/internal/service"
)

func TestStreams(t *testing.T) {
	split := []byte("data: " + text("café") + "\n\n")
	within := bytes.Index(split, []byte("é")) + 1
	cases := map[string]struct {
		script        answer
		text, thought string
	}{
		"text":                       {says(delta(`"role":"assistant","content":""`), text("Forty"), text("-two"), finish("stop"), done), "Forty-two", ""},
		"reasoning_content":          {says(delta(`"reasoning_content":"Hm","content":null`), delta(`"reasoning_content":"m."`), text("Yes"), finish("stop"), done), "Yes", "Hmm."},
		"reasoning":                  {says(delta(`"reasoning":"Hm"`), text("Yes"), finish("stop"), done), "Yes", "Hm"},
		"both at once":               {says(delta(`"reasoning":"Hm","reasoning_content":"Hm"`), text("Yes"), finish("stop"), done), "Yes", "Hm"},
		"Ollama's, with empty text":  {says(delta(`"role":"assistant","content":"","reasoning":"Hm"`), text("Yes"), finish("stop"), done), "Yes", "Hm"},
		"a list of parts":            {says(delta(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm"}]}]`), delta(`"content":[{"type":"text","text":"Yes"}]`), finish("stop"), done), "Yes", "Hm"},
		"empty deltas":               {says(delta(``), delta(`"content":""`), delta(`"content":null,"reasoning":null,"tool_calls":[]`), `{"choices":[]}`, text("Yes"), finish("stop"), done), "Yes", ""},
		"a refusal":                  {says(delta(`"refusal":"I won't."`), finish("stop"), done), "I won't.", ""},
		"another choice":             {says(text("Yes"), `{"choices":[{"index":1,"delta":{"content":"No"}}]}`, finish("stop"), done), "Yes", ""},
		"no [DONE]":                  {says(text("Yes"), finish("stop")), "Yes", ""},
		"comments and CRLF":          {then(raw(": PROCESSING\r\n\r\ndata: "+text("Yes")+"\r\n\r\n"), says(finish("stop"))), "Yes", ""},
		"a character in two packets": {then(raw(string(split[:within])), raw(string(split[within:])), says(finish("stop"), done)), "café", ""},
		"cut behind its end":         {then(says(text("Yes"), finish("stop")), cutOff), "Yes", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			u := scripted(t, c.script)
			h := open(t, u)
			got := h.ask(h.chat(), "hello")
			require.Equal(t, "turn_complete", got.last, got.raw)
			require.Equal(t, c.text, got.text)
			require.Equal(t, c.thought, got.thought)
			asked := u.requests()
			require.Len(t, asked, 1)
			require.Equal(t, "small", asked[0].Model)
			require.True(t, asked[0].Stream)
			require.True(t, asked[0].StreamOptions["include_usage"])
			require.Equal(t, "Bearer "+canary, u.keys[0])
		})
	}
}

func TestTools(t *testing.T) {
	const sum, zone = `{"expression":"6*7"}`, `{"zone":"Asia/Tokyo"}`
	cases := map[string]struct {
		calls   []string
		shown   map[string]any
		results map[string]string // a part of each
		sent    []string          // arguments that go back upstream
	}{
		"parallel, in fragments": {
			calls: []string{
				fragment(0, "a", "calculator", ""), fragment(1, "b", "clock", `{"zo`), fragment(0, "", "", `{"expression"`),
				fragment(1, "", "", `ne":"Asia/Tokyo"}`), fragment(0, "", "", `:"6*7"}`), finish("tool_calls"),
			},
			shown:   map[string]any{"1": map[string]any{"expression": "6*7"}, "2": map[string]any{"zone": "Asia/Tokyo"}},
			results: map[string]string{"1": `map[value:42]`, "2": `2026-07-01T21:00:00+09:00`},
			sent:    []string{sum, zone},
		},
		"whole, under one index, finished as stop": {
			calls:   []string{fragment(0, "a", "calculator", sum), fragment(0, "b", "clock", zone), finish("stop")},
			shown:   map[string]any{"1": map[string]any{"expression": "6*7"}, "2": map[string]any{"zone": "Asia/Tokyo"}},
			results: map[string]string{"1": `map[value:42]`, "2": `2026-07-01T21:00:00+09:00`},
			sent:    []string{sum, zone},
		},
		"without identifiers": {
			calls:   []string{fragment(0, "", "calculator", sum), finish("tool_calls")},
			shown:   map[string]any{"1": map[string]any{"expression": "6*7"}},
			results: map[string]string{"1": `map[value:42]`},
			sent:    []string{sum},
		},
		"arguments before the name": {
			calls:   []string{fragment(0, "a", "", `{"expression"`), fragment(0, "", "calculator", `:"6*7"}`), finish("tool_calls")},
			shown:   map[string]any{"1": map[string]any{"expression": "6*7"}},
			results: map[string]string{"1": `map[value:42]`},
			sent:    []string{sum},
		},
		"arguments that are no JSON": {
			calls:   []string{fragment(0, "a", "calculator", `6 times 7`), finish("tool_calls")},
			shown:   map[string]any{"1": "6 times 7"},
			results: map[string]string{"1": `must be a JSON object with the text "expression", not: 6 times 7`},
			sent:    []string{"{}"},
		},
		"another type of argument": {
			calls:   []string{fragment(0, "a", "clock", `{"zone":9}`), finish("tool_calls")},
			shown:   map[string]any{"1": map[string]any{"zone": 9.0}},
			results: map[string]string{"1": `must be a JSON object with the text "zone"`},
			sent:    []string{`{"zone":9}`},
		},
		"an unknown tool": {
			calls:   []string{fragment(0, "a", "rm -rf", `{}`), finish("tool_calls")},
			shown:   map[string]any{"1": map[string]any{}},
			results: map[string]string{"1": `there is no tool "rm -rf"; there are: calculator, clock`},
			sent:    []string{"{}"},
		},
		"a tool that fails": {
			calls:   []string{fragment(0, "a", "calculator", `{"expression":"1/0"}`), finish("tool_calls")},
			shown:   map[string]any{"1": map[string]any{"expression": "1/0"}},
			results: map[string]string{"1": `map[error:division by zero]`},
			sent:    []string{`{"expression":"1/0"}`},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			u := scripted(t, says(append([]string{delta(`"reasoning_content":"Tools."`)}, append(c.calls, usage(10, 5, 3), done)...)...),
				says(text("There."), finish("stop"), usage(20, 4, 0), done))
			h := open(t, u)
			got := h.ask(h.chat(), "6*7, and the time in Tokyo")
			require.Equal(t, "turn_complete", got.last, got.raw)
			require.Equal(t, "There.", got.text)
			require.Equal(t, c.shown, got.calls)
			require.Len(t, got.results, len(c.results))
			for id, part := range c.results {
				require.Contains(t, fmt.Sprint(got.results[id]), part)
				step := func(kind string) int { return indexOf(got.steps, kind+" "+id) }
				require.Less(t, step("call_started"), step("call_delta"))
				require.Less(t, step("call_delta"), step("call"))
				require.Less(t, step("call"), step("result"))
				require.GreaterOrEqual(t, step("call_started"), 0)
			}
			took := got.end["usage"].(map[string]any)
			require.Equal(t, []any{30.0, 9.0, 3.0}, []any{took["input_tokens"], took["output_tokens"], took["reasoning_tokens"]})

			back := u.requests()[1].Messages
			require.Equal(t, "assistant", back[2].Role)
			require.Equal(t, "Tools.", back[2].Reasoning)
			require.Len(t, back, 3+len(c.sent))
			for i, arguments := range c.sent {
				call := back[2].ToolCalls[i]
				require.Equal(t, arguments, call.Function.Arguments)
				require.Regexp(t, `^[a-zA-Z0-9_-]+$`, call.Function.Name)
				require.NotEmpty(t, call.ID)
				require.Equal(t, "tool", back[3+i].Role)
				require.Equal(t, call.ID, back[3+i].ToolCallID)
				require.NotEmpty(t, back[3+i].Content)
			}
		})
	}
}

func indexOf(list []string, s string) int {
	for i, e := range list {
		if e == s {
			return i
		}
	}
	return -1
}

func TestFailures(t *testing.T) {
	const soon, later = "Retry-After-Ms", "Retry-After"
	again := func(n int, a answer) []answer {
		var all []answer
		for range n {
			all = append(all, a)
		}
		return all
	}
	tools := says(fragment(0, "a", "clock", `{"zone":"UTC"}`), finish("tool_calls"), done)
	cases := map[string]struct {
		script  []answer
		code    string
		says    string
		text    string
		asked   int
		wait    any
		changed func(*model.Config, *service.Config)
	}{
		"key refused":         {script: []answer{fails(401, `{"error":{"message":"Incorrect API key provided: `+canary+`","code":"invalid_api_key"}}`)}, code: "model_key_refused", says: "THE_KEY", asked: 1},
		"key wanted":          {script: []answer{fails(401, `{}`)}, code: "model_key_refused", says: "-model-key-env", asked: 1, changed: func(c *model.Config, _ *service.Config) { c.Key = "" }},
		"forbidden":           {script: []answer{fails(403, `<html>`)}, code: "model_key_refused", asked: 1},
		"no such model":       {script: []answer{fails(404, `{"error":{"message":"model \"small\" not found","code":null}}`)}, code: "model_not_found", says: `has no model "small"`, asked: 1},
		"refused":             {script: []answer{fails(400, `{"error":{"message":"small does not support tools","code":400}}`)}, code: "model_refused", says: "It says: small does not support tools", asked: 1},
		"echoes the key":      {script: []answer{fails(400, `{"detail":"header Bearer `+canary+` is odd"}`)}, code: "model_refused", says: "header Bearer [key] is odd", asked: 1},
		"too long for OpenAI": {script: []answer{fails(400, `{"error":{"message":"too long","code":"context_length_exceeded"}}`)}, code: "context_too_long", says: "start a new chat", asked: 1},
		"too long, llama.cpp": {script: []answer{fails(400, `{"error":{"code":400,"message":"the request exceeds it","type":"exceed_context_size_error"}}`)}, code: "context_too_long", asked: 1},
		"too long for vLLM":   {script: []answer{fails(400, `{"error":{"message":"This model's maximum context length is 4096 tokens.","code":400}}`)}, code: "context_too_long", asked: 1},
		"quota":               {script: again(3, fails(429, `{"error":{"message":"You exceeded it","type":"insufficient_quota"}}`, soon, "1")), code: "model_quota_used_up", asked: 3},
		"often":               {script: again(3, fails(429, `{"error":{"message":"slow down"}}`, soon, "1")), code: "model_rate_limited", says: "slow down", asked: 3},
		"often, for long":     {script: []answer{fails(429, `{}`, later, "3600")}, code: "model_rate_limited", says: "again in 1h0m0s", wait: 3600.0, asked: 1},
		"down":                {script: again(3, fails(503, `<html>busy</html>`, soon, "1")), code: "model_unavailable", says: "(503)", asked: 3},
		"down once":           {script: []answer{fails(500, ``, soon, "1"), fails(429, ``, later, "0"), replies("Yes")}, text: "Yes", asked: 3},
		"unreachable":         {script: again(3, cutOff), code: "model_unreachable", says: "is it running", asked: 3},
		"no stream":           {script: []answer{fails(200, `<html>`, "Content-Type", "text/html")}, code: "model_no_stream", says: `"text/html"`, asked: 1},
		"cut":                 {script: []answer{then(says(text("Ye")), cutOff)}, code: "model_broke_off", text: "Ye", asked: 1},
		"closed":              {script: []answer{says(text("Ye"))}, code: "model_broke_off", text: "Ye", asked: 1},
		"done without an end": {script: []answer{says(text("Ye"), done)}, code: "model_broke_off", text: "Ye", asked: 1},
		"cut in a character":  {script: []answer{then(says(text("caf")), raw("data: {\"choices\":[{\"delta\":{\"content\":\"\xc3"), cutOff)}, code: "model_broke_off", text: "caf", asked: 1},
		"broken JSON":         {script: []answer{says(text("Ye"), `{"choices":`)}, code: "model_broke_off", text: "Ye", asked: 1},
		"error in the stream": {script: []answer{says(text("Ye"), `{"error":{"message":"out of memory","code":500}}`)}, code: "model_unavailable", says: "out of memory", text: "Ye", asked: 1},
		"error of no kind":    {script: []answer{says(`{"error":"odd"}`)}, code: "model_failed", says: "odd", asked: 1},
		"cut in a call":       {script: []answer{then(says(fragment(0, "a", "clock", `{"zone":"U`)), cutOff)}, code: "model_broke_off", asked: 1},
		"limit of tokens":     {script: []answer{says(text("Ye"), finish("length"), done)}, code: "answer_cut_off", says: "ask it to go on", text: "Ye", asked: 1},
		"limit in a call":     {script: []answer{says(fragment(0, "a", "clock", `{"zone":"U`), finish("length"), done)}, code: "answer_cut_off", asked: 1},
		"filtered":            {script: []answer{says(finish("content_filter"), done)}, code: "answer_filtered", asked: 1},
		"tools for ever":      {script: again(9, tools), code: "too_many_rounds", says: "in 8 rounds", asked: 8},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			u := scripted(t, c.script...)
			if c.changed == nil {
				c.changed = func(*model.Config, *service.Config) {}
			}
			h := open(t, u, c.changed)
			got := h.ask(h.chat(), "hello")
			require.Equal(t, c.text, got.text)
			require.Len(t, u.requests(), c.asked)
			if c.code == "" {
				require.Equal(t, "turn_complete", got.last)
			} else {
				require.Equal(t, "error", got.last)
				require.Equal(t, c.code, got.end["code"], got.end)
				require.Contains(t, got.end["message"], c.says)
				require.Equal(t, c.wait, got.end["retry_after"])
			}
			h.stop()
			require.NotContains(t, got.raw+h.log.String(), canary)
			if c.code != "" {
				require.Contains(t, h.log.String(), `"code":"`+c.code+`"`)
			}
		})
	}
}

func TestLimitsOfTime(t *testing.T) {
	cases := map[string]struct {
		begins  answer
		code    string
		changed func(*model.Config, *service.Config)
	}{
		"no answer":   {nil, "model_silent", func(c *model.Config, _ *service.Config) { c.Idle = 50 * time.Millisecond }},
		"no event":    {raw(": begun\n\n"), "model_silent", func(c *model.Config, _ *service.Config) { c.Idle = 50 * time.Millisecond }},
		"in the text": {says(text("Ye")), "model_silent", func(c *model.Config, _ *service.Config) { c.Idle = 50 * time.Millisecond }},
		"whole turn":  {says(text("Ye")), "turn_too_long", func(c *model.Config, _ *service.Config) { c.Time = 50 * time.Millisecond }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			u := scripted(t)
			script := []answer{u.hang}
			if c.begins != nil {
				script = []answer{then(c.begins, u.hang)}
			}
			u.script = script
			h := open(t, u, c.changed)
			got := h.ask(h.chat(), "hello")
			require.Equal(t, c.code, got.end["code"], got.raw)
			<-u.left
			require.Len(t, u.requests(), 1, "silence is not tried again: nobody knows how far the server is")
		})
	}
}

// TestAbortAnywhere lets the model's server stand still after every piece of a turn with tools, and stops the turn there.
func TestAbortAnywhere(t *testing.T) {
	first := []string{
		delta(`"role":"assistant","content":""`), delta(`"reasoning":"Hm"`), fragment(0, "a", "calculator", ""),
		fragment(1, "b", "clock", `{"zone":"UTC"}`), fragment(0, "", "", `{"expression":"1"}`),
	}
	second := []string{text("For"), text("ty"), finish("stop")}
	for stop := -1; stop <= len(first)+len(second); stop++ {
		t.Run(fmt.Sprintf("after %d pieces", stop), func(t *testing.T) {
			u := scripted(t)
			switch after := stop - len(first); {
			case stop < 0:
				u.script = []answer{u.hang}
			case after < 0:
				u.script = []answer{then(says(first[:stop]...), u.hang)}
			default:
				u.script = []answer{says(append(first, finish("tool_calls"), done)...), then(says(second[:after]...), u.hang)}
			}
			aborted(t, u)
		})
	}
	t.Run("between two tries", func(t *testing.T) {
		u := scripted(t)
		u.script = []answer{func(w http.ResponseWriter, r *http.Request) {
			fails(503, "", "Retry-After", "15")(w, r)
			u.hanging <- struct{}{}
			u.left <- struct{}{}
		}}
		aborted(t, u)
	})
}

func aborted(t *testing.T, u *upstream) {
	h := open(t, u)
	chat := h.chat()
	response := h.send(chat, "hello", "k")
	<-u.hanging
	require.Equal(t, http.StatusNoContent, h.post("/v1/chats/"+chat+"/abort", "", "").StatusCode)
	<-u.left
	got := read(t, response)
	require.NotContains(t, []string{"turn_complete", "error"}, got.last)
	h.stop()
	require.Contains(t, h.log.String(), `"status":"cancelled"`)
	require.NotContains(t, h.log.String(), "model failed")
}

func TestConversation(t *testing.T) {
	u := scripted(t, replies("One."), fails(400, `{}`), says(text("Thr"), finish("length"), done), replies("Four."))
	h := open(t, u, func(c *model.Config, _ *service.Config) { c.Prompt = "Be brief." })
	chat := h.chat()
	for _, message := range []string{"first", "second", "third", "fourth"} {
		h.ask(chat, message)
	}
	var seen []string
	for _, m := range u.requests()[3].Messages {
		seen = append(seen, m.Role+": "+m.Content)
	}
	require.Equal(t, []string{"system: Be brief.", "user: first", "assistant: One.", "user: second\n\nthird", "assistant: Thr", "user: fourth"}, seen)
}

func TestConversationIsBounded(t *testing.T) {
	var script []answer
	for range 6 {
		script = append(script, replies(strings.Repeat("a", 20_000)))
	}
	u := scripted(t, script...)
	h := open(t, u)
	chat := h.chat()
	for i := range 6 {
		h.ask(chat, fmt.Sprint(i))
	}
	asked := u.requests()[5].Messages
	require.Len(t, asked, 6, "the prompt, two messages with their answers, this one")
	require.Equal(t, "3", asked[1].Content)
	require.Len(t, []rune(asked[2].Content), 8001)
	require.Equal(t, model.DefaultPrompt, asked[0].Content)
}

func TestReplayAsksNobody(t *testing.T) {
	dir := t.TempDir()
	keep := func(_ *model.Config, s *service.Config) { s.Dir = dir }
	u := scripted(t, replies("Once."))
	h := open(t, u, keep)
	chat := h.chat()
	before := read(t, h.send(chat, "hello", "k"))
	require.Equal(t, before.raw, read(t, h.send(chat, "hello", "k")).raw)
	h.stop()
	// The model that answered then is not offered any more.
	h = open(t, u, keep, func(_ *model.Config, s *service.Config) { s.Models = []string{"other"} })
	require.Equal(t, before.raw, read(t, h.send(chat, "hello", "k")).raw)
	require.Len(t, u.requests(), 1)
}

func TestChoiceOfModel(t *testing.T) {
	u := scripted(t, replies("Large."))
	h := open(t, u)
	chat := h.chat()
	send := func(name string) *http.Response {
		return h.post("/v1/chats/"+chat+"/messages", `{"parts":[{"type":"text","text":"x"}],"model":"`+name+`"}`, name)
	}
	response := send("huge")
	require.Equal(t, http.StatusUnprocessableEntity, response.StatusCode)
	body := new(bytes.Buffer)
	_, err := body.ReadFrom(response.Body)
	require.NoError(t, err)
	require.Contains(t, body.String(), `"code":"unknown_model"`)
	require.Contains(t, body.String(), `"param":"model"`)
	require.Contains(t, body.String(), "one of small, large")
	require.Empty(t, u.requests())
	require.Equal(t, "large", read(t, send("large")).end["model"])
	require.Equal(t, "large", u.requests()[0].Model)
}

func TestSearchInFiles(t *testing.T) {
	texts, err := library.Open("")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, texts.Close()) })
	content := "The harbour opens at seven."
	require.NoError(t, texts.Add(t.Context(), library.File{WorkspaceID: "demo", ID: "file_1", Name: "harbour.txt",
		ContentType: "text/plain", Content: strings.NewReader(content), Size: int64(len(content))}))
	u := scripted(t, says(fragment(0, "a", "search_files", `{"query":"harbour"}`), finish("tool_calls"), done), replies("At seven."))
	h := open(t, u, func(c *model.Config, _ *service.Config) { c.Files = texts })
	got := h.ask(h.chat(), "when does the harbour open?")
	require.Equal(t, "At seven.", got.text)
	require.Contains(t, fmt.Sprint(got.results["1"]), content)
	require.Contains(t, u.requests()[1].Messages[3].Content, content)
	require.Len(t, u.requests()[0].Tools, 3)

	u = scripted(t, replies("No."))
	h = open(t, u, func(c *model.Config, _ *service.Config) { c.NoTools = true })
	h.ask(h.chat(), "hello")
	require.Empty(t, u.requests()[0].Tools)
}

func TestConfig(t *testing.T) {
	for name, url := range map[string]string{
		"none": "", "no scheme": "127.0.0.1:8080/v1", "another scheme": "ftp://host/v1", "a user": "http://me:secret@host/v1", "a query": "http://host/v1?key=secret",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := model.New(model.Config{URL: url})
			require.ErrorContains(t, err, "URL must")
			require.NotContains(t, err.Error(), "secret")
		})
	}
}

// TestEnvironmentIsLeftAlone: the library would take a key meant for another server from there.
func TestEnvironmentIsLeftAlone(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-of-another-server")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
	t.Setenv("OPENAI_ORG_ID", "org")
	u := scripted(t, replies("Yes"))
	h := open(t, u, func(c *model.Config, _ *service.Config) { c.Key = "" })
	require.Equal(t, "Yes", h.ask(h.chat(), "hello").text)
	require.Equal(t, []string{""}, u.keys)
}
