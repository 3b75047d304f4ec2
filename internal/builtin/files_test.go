package builtin

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-76f09577/turnwire/internal/library"
	"github.com/seed-76f09577/turnwire/internal/service"
)

// shelf is a library that holds files of the workspace demo, by their names.
func shelf(t *testing.T, files map[string]string) *library.Library {
	t.Helper()
	l, err := library.Open("")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	for name, content := range files {
		require.NoError(t, l.Add(t.Context(), library.File{
			WorkspaceID: "demo", ID: name, Name: name, Content: strings.NewReader(content), Size: int64(len(content)),
		}))
	}
	return l
}

func office(t *testing.T) *library.Library {
	return shelf(t, map[string]string{
		"hand*book.md": "# Holidays\n\nEmployees have 30 days of *holiday* a year.\n\n# Author\n\nWritten by Ada.",
		"travel.txt":   "A holiday begins at the station. Take <b>trains</b>.",
		"lunch.txt":    "Soup on Mondays.",
	})
}

func ask(t *testing.T, files Files, text string) *tape {
	t.Helper()
	p := &tape{}
	m := service.Message{TurnID: "turn_ab", WorkspaceID: "demo", Number: 1, Text: text}
	require.NoError(t, (&Agent{Now: func() time.Time { return noon }, Files: files}).Run(t.Context(), m, p))
	return p
}

func TestFileQuery(t *testing.T) {
	cases := map[string]struct{ text, want string }{
		"a document asked":       {"What does the handbook say about holidays?", "What does the handbook say about holidays"},
		"a search":               {"Search my files for “second class” please.", "“second class” please"},
		"a search, short":        {"search for trains!", "trains"},
		"a look":                 {"look for trains in the\nnotes", "trains in the notes"},
		"a find":                 {"Find the travel rules in our documents.", "the travel rules"},
		"an author":              {"Who wrote the handbook?", "Who wrote the handbook"},
		"any question":           {"How many days do employees have?", "How many days do employees have"},
		"a question, no mark":    {"which train goes", "which train goes"},
		"in another language":    {"Wann beginnt der Urlaub?", "Wann beginnt der Urlaub"},
		"a question with a sum":  {"What does the manual say about 2 + 2?", "What does the manual say about 2 + 2"},
		"an order":               {"Summarize the contract", "Summarize the contract"},
		"a sum":                  {"What is 2 + 2?", ""},
		"the time":               {"What time is it in Tokyo?", ""},
		"a statement":            {"hello there", ""},
		"count":                  {"count to 3", ""},
		"words":                  {"write 3 words", ""},
		"help":                   {"what can you do?", ""},
		"nothing":                {"", ""},
		"a mark alone":           {"?", ""},
		"a question of an essay": {strings.Repeat("ü", 1000) + "?", strings.Repeat("ü", maxQuery)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, understand(c.text, true).query)
			require.Empty(t, understand(c.text, false).query)
		})
	}
}

func TestSearchCall(t *testing.T) {
	p := ask(t, office(t), "Search my files for holidays")
	require.Equal(t, []string{"search_files"}, p.tools)
	require.Equal(t, []string{"call_started_1", "call_delta_1", "call_1", "result_1"}, p.steps())
	var arguments strings.Builder
	var result map[string]any
	for _, e := range p.events {
		switch e.kind {
		case service.ToolCallStarted:
			require.Equal(t, map[string]any{"tool_call_id": "call_ab_1", "name": "search_files"}, e.data)
		case service.ToolCallDelta:
			arguments.WriteString(e.data["delta"].(string))
		case service.ToolCall:
			require.Equal(t, map[string]any{"query": "holidays"}, e.data["arguments"])
		case service.ToolResult:
			result = e.data["result"].(map[string]any)
		}
	}
	require.JSONEq(t, `{"query":"holidays"}`, arguments.String())
	require.Equal(t, "holidays", result["query"])
	passages := result["passages"].([]any)
	require.Len(t, passages, 2)
	first := passages[0].(map[string]any)
	require.Positive(t, first["score"])
	delete(first, "score")
	require.Equal(t, map[string]any{
		"file_id": "hand*book.md", "file": "hand*book.md", "passage": 1.0, "text": "Holidays\nEmployees have 30 days of holiday a year.",
	}, first)
	require.Contains(t, p.text(service.ReasoningDelta), `so I look for "holidays" in them.`)
}

func TestQuoting(t *testing.T) {
	cases := map[string]struct {
		text string
		has  []string
	}{
		"the best first": {"holiday?", []string{
			"## Result\n\nI looked for **holiday** in your files:\n\n**hand\\*book.md**:\n\n> Holidays\n> Employees have 30 days of holiday a year.\n\n**travel.txt**:\n\n> A holiday begins",
		}},
		"no HTML of a file acts": {"and the trains?", []string{`> A holiday begins at the station. Take \<b\>trains\</b\>.`}},
		"nor of the question":    {"search for *quantum* <i>", []string{`say nothing about **\*quantum\* \<i\>**: I looked for its words in their texts and their names.`}},
		"with another tool":      {"What do my files say about trains, and what is 2+2?", []string{"## Results\n\n`2+2` = **4**\n\nI looked for", "**travel.txt**:\n\n> A holiday"}},
	}
	files := office(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			answer := ask(t, files, c.text).text(service.TextDelta)
			for _, part := range c.has {
				require.Contains(t, answer, part)
			}
		})
	}
	t.Run("the page", func(t *testing.T) {
		found := stub{{File: "a.pdf", Page: 7, Text: "seven", Score: 2}, {File: "b.txt", Text: "two", Score: 1}, {File: "c.txt", Text: "far behind", Score: 0.1}}
		answer := ask(t, found, "seven?").text(service.TextDelta)
		require.Contains(t, answer, "**a.pdf**, page 7:\n\n> seven\n\n**b.txt**:\n\n> two\n\nThat was message")
	})
	t.Run("three at most", func(t *testing.T) {
		p := library.Passage{File: "a", Text: "quoted", Score: 1}
		require.Equal(t, 3, strings.Count(ask(t, stub{p, p, p, p, p}, "it?").text(service.TextDelta), "quoted"))
	})
}

func TestSearchOverlaps(t *testing.T) {
	p := ask(t, office(t), "What do my files say about 2+2, and what time is it?")
	require.Equal(t, []string{"clock", "calculator", "search_files"}, p.tools)
	steps := p.steps()
	require.Equal(t, []string{"call_started_1", "call_started_2", "call_started_3"}, steps[:3])
	require.Equal(t, []string{"result_2", "result_1", "result_3"}, steps[len(steps)-3:])
}

func TestWithoutFiles(t *testing.T) {
	empty := shelf(t, nil)
	for _, text := range []string{"Search my files for holidays", "what is it?", "help", "hello", "2+2"} {
		require.Equal(t, ask(t, nil, text).events, ask(t, empty, text).events, text)
	}
	full := office(t)
	require.Contains(t, ask(t, full, "help").text(service.TextDelta), "**search** in them, and quote what I find |\n| both at once |")
	require.Contains(t, ask(t, full, "hello").text(service.TextDelta), "`what do my files say about …?` for a search in your files")
}

// stub is a search with given results, for what files of text can't show.
type stub []library.Passage

func (s stub) HasFiles(context.Context, string) (bool, error) { return true, nil }
func (s stub) Search(context.Context, string, string, int) ([]library.Passage, error) {
	return s, nil
}

// locked is a search that fails.
type locked struct{ has error }

func (l locked) HasFiles(context.Context, string) (bool, error) { return true, l.has }
func (l locked) Search(context.Context, string, string, int) ([]library.Passage, error) {
	return nil, errors.New("the index is locked")
}

func TestSearchFails(t *testing.T) {
	p := ask(t, locked{}, "who wrote `it`?")
	require.Equal(t, map[string]any{"error": "the index is locked"}, p.events[len(p.events)-len(words(p.text(service.TextDelta)))-1].data["result"])
	require.Contains(t, p.text(service.TextDelta), "> The search_files could not do `who wrote 'it'`: the index is locked.")

	err := (&Agent{Files: locked{errors.New("the index is gone")}}).Run(t.Context(), service.Message{Text: "hello"}, &tape{})
	require.EqualError(t, err, "look for files: the index is gone")
}

func TestSearchStopsAnywhere(t *testing.T) {
	files := office(t)
	m := service.Message{TurnID: "turn_ab", WorkspaceID: "demo", Number: 1, Text: "What do my files say about 2+2?"}
	whole := len(ask(t, files, m.Text).events)
	for n := 1; n < whole; n++ {
		ctx, cancel := context.WithCancel(t.Context())
		p := &tape{stop: n, cancel: cancel}
		require.ErrorIs(t, (&Agent{Files: files}).Run(ctx, m, p), context.Canceled)
		require.Len(t, p.events, n)
		cancel()
	}
}
