package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-76f09577/turnwire/internal/service"
)

// tape is a Sink that records, and ends the turn after so many events.
type tape struct {
	events []event
	tools  []string
	stop   int
	cancel context.CancelFunc
}

type event struct {
	kind service.Kind
	data map[string]any
}

func (p *tape) Emit(ctx context.Context, kind service.Kind, data any) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e := event{kind: kind}
	if chunk, ok := data.(map[string]string); ok {
		e.data = map[string]any{"chunk": chunk["chunk"]}
	} else {
		encoded, err := json.Marshal(data)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(encoded, &e.data); err != nil {
			return err
		}
	}
	p.events = append(p.events, e)
	if len(p.events) == p.stop {
		p.cancel()
	}
	return nil
}

func (p *tape) RunTool(ctx context.Context, callID, name string, run func(context.Context) (any, error)) (any, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	p.tools = append(p.tools, name)
	return run(ctx)
}

func (p *tape) Spend(service.Tokens) {}

func (p *tape) text(kind service.Kind) string {
	var b strings.Builder
	for _, e := range p.events {
		if e.kind == kind {
			b.WriteString(e.data["chunk"].(string))
		}
	}
	return b.String()
}

// steps shows the tool events as "kind number-of-call".
func (p *tape) steps() []string {
	var out []string
	for _, e := range p.events {
		if id, ok := e.data["tool_call_id"].(string); ok {
			step := strings.TrimPrefix(string(e.kind), "tool_") + id[strings.LastIndex(id, "_"):]
			if len(out) == 0 || out[len(out)-1] != step {
				out = append(out, step)
			}
		}
	}
	return out
}

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func play(t *testing.T, m service.Message) *tape {
	t.Helper()
	p := &tape{}
	if m.TurnID == "" {
		m.TurnID = "turn_ab"
	}
	if m.Number == 0 {
		m.Number = 1
	}
	require.NoError(t, (&Agent{Now: func() time.Time { return noon }}).Run(t.Context(), m, p))
	return p
}

func TestCallsInSequence(t *testing.T) {
	p := play(t, service.Message{Text: "2+2 and 1/0"})
	require.Equal(t, []string{"calculator", "calculator"}, p.tools)
	require.Equal(t, []string{
		"call_started_1", "call_delta_1", "call_1", "result_1",
		"call_started_2", "call_delta_2", "call_2", "result_2",
	}, p.steps())
	var arguments strings.Builder
	for _, e := range p.events {
		if e.kind == service.ToolCallDelta && e.data["tool_call_id"] == "call_ab_1" {
			arguments.WriteString(e.data["delta"].(string))
		}
	}
	require.JSONEq(t, `{"expression":"2+2"}`, arguments.String())
	last := p.events[len(p.events)-1]
	require.Equal(t, service.TextDelta, last.kind)
	var results []any
	for _, e := range p.events {
		if e.kind == service.ToolResult {
			results = append(results, e.data["result"])
		}
	}
	require.Equal(t, []any{map[string]any{"value": 4.0}, map[string]any{"error": "division by zero"}}, results)
	answer := p.text(service.TextDelta)
	require.Contains(t, answer, "`2+2` = **4**")
	require.Contains(t, answer, "The calculator could not do `1/0`: division by zero.")
}

func TestCallsThatOverlap(t *testing.T) {
	p := play(t, service.Message{Text: "What is 2+2 and what time is it in Europe/Berlin?"})
	require.Equal(t, []string{
		"call_started_1", "call_started_2",
		"call_delta_1", "call_delta_2", "call_delta_1", "call_delta_2", "call_delta_1", "call_delta_2", "call_delta_1", "call_delta_2",
		"call_1", "call_2", "result_2", "result_1",
	}, p.steps())
	require.Contains(t, p.text(service.ReasoningDelta), "at the same time")
	require.Contains(t, p.text(service.TextDelta), "In Europe/Berlin it is **2026-07-01T14:00:00+02:00**, Wednesday (UTC+02:00).")
}

func TestClock(t *testing.T) {
	cases := map[string]struct{ zone, time, weekday, err string }{
		"UTC":               {"UTC", "2026-07-01T12:00:00Z", "Wednesday", ""},
		"another day":       {"Pacific/Kiritimati", "2026-07-02T02:00:00+14:00", "Thursday", ""},
		"half an hour":      {"Asia/Kolkata", "2026-07-01T17:30:00+05:30", "Wednesday", ""},
		"unknown":           {"Mars/Olympus", "", "", `unknown time zone "Mars/Olympus"`},
		"the machine's own": {"Local", "", "", `unknown time zone "Local"`},
		"a path":            {"../etc/passwd", "", "", `unknown time zone "../etc/passwd"`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			at, err := readClock(noon, c.zone)
			if c.err != "" {
				require.EqualError(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.time, at.Time)
			require.Equal(t, c.weekday, at.Weekday)
		})
	}
	answer := play(t, service.Message{Text: "what time is it in Mars/Olympus?"}).text(service.TextDelta)
	require.Contains(t, answer, "The clock could not do `Mars/Olympus`")
}

func TestDirectives(t *testing.T) {
	t.Run("count", func(t *testing.T) {
		p := play(t, service.Message{Text: "count to 12"})
		require.Equal(t, "1 2 3 4 5 6 7 8 9 10 11 12", p.text(service.TextDelta))
		n := 0
		for _, e := range p.events {
			if e.kind == service.TextDelta {
				n++
			}
		}
		require.Equal(t, 12, n)
	})
	t.Run("count to the most", func(t *testing.T) {
		answer := play(t, service.Message{Text: "count to 100000"}).text(service.TextDelta)
		require.True(t, strings.HasSuffix(answer, " 99999 100000"))
	})
	t.Run("count too far", func(t *testing.T) {
		require.Contains(t, play(t, service.Message{Text: "count to 100001"}).text(service.TextDelta), "at most")
	})
	t.Run("too many words", func(t *testing.T) {
		require.Contains(t, play(t, service.Message{Text: "write 100001 words"}).text(service.TextDelta), "at most")
	})
	for _, n := range []int{0, 1, 2, 66, 67, 500} {
		t.Run(fmt.Sprintf("write %d words", n), func(t *testing.T) {
			prose := play(t, service.Message{Text: fmt.Sprintf("write %d words", n)}).text(service.TextDelta)
			require.Len(t, strings.Fields(prose), n)
			if n == 500 {
				for _, part := range []string{"ö", "東京", "🚀", "👩‍🚀", "**", "`", "\n\n"} {
					require.Contains(t, prose, part)
				}
			}
		})
	}
	t.Run("help", func(t *testing.T) {
		require.Equal(t, helpText, play(t, service.Message{Text: "help"}).text(service.TextDelta))
	})
}

func TestPlainAnswer(t *testing.T) {
	cases := map[string]struct {
		message service.Message
		has     []string
	}{
		"words":        {service.Message{Text: "hello there", Number: 1}, []string{"> hello there", "That is 2 words.", "message **1** of this chat."}},
		"HTML":         {service.Message{Text: "<img src=x onerror=y> & [a](b)"}, []string{`> \<img src=x onerror=y\> \& \[a\]\(b\)`}},
		"lines":        {service.Message{Text: "one\r\n# two\n> three"}, []string{"> one\n> \\# two\n> \\> three", "on 3 lines"}},
		"no text":      {service.Message{}, []string{"It holds no text."}},
		"other parts":  {service.Message{Text: "x", OtherParts: []string{"image_url"}}, []string{`what I can't read: image\_url.`}},
		"a later one":  {service.Message{Text: "x", Number: 3, Earlier: []service.Exchange{{Text: "first"}, {Text: "sec*nd"}}}, []string{"message **3**", "Before it you wrote:\n\n> sec\\*nd"}},
		"a long one":   {service.Message{Text: strings.Repeat("ü", 400)}, []string{strings.Repeat("ü", 300) + "…\n"}},
		"one word, so": {service.Message{Text: "hello"}, []string{"That is one word."}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			answer := play(t, c.message).text(service.TextDelta)
			for _, part := range c.has {
				require.Contains(t, answer, part)
			}
		})
	}
}

func TestReasoning(t *testing.T) {
	p := play(t, service.Message{Text: "1+1", Model: "big", Overridden: true, OtherParts: []string{"image"}, Number: 4})
	thought := p.text(service.ReasoningDelta)
	for _, part := range []string{"message 4", `"big"`, "image", "one calculation", "1+1", "one tool call"} {
		require.Contains(t, thought, part)
	}
	require.Equal(t, service.ReasoningDelta, p.events[0].kind)
}

// TestStopsAnywhere ends the turn after every number of events.
func TestStopsAnywhere(t *testing.T) {
	m := service.Message{TurnID: "turn_ab", Number: 1, Text: "2+2, 3*3 and the time in Asia/Tokyo"}
	whole := len(play(t, m).events)
	require.Greater(t, whole, 30)
	for n := 1; n < whole; n++ {
		ctx, cancel := context.WithCancel(t.Context())
		p := &tape{stop: n, cancel: cancel}
		require.ErrorIs(t, (&Agent{}).Run(ctx, m, p), context.Canceled)
		require.Len(t, p.events, n)
		cancel()
	}
}

func TestCallIDs(t *testing.T) {
	seen := map[any]bool{}
	for _, e := range play(t, service.Message{Text: "1+1, 2+2, 3+3, time in UTC"}).events {
		if e.kind == service.ToolCallStarted {
			require.Regexp(t, regexp.MustCompile(`^call_ab_\d$`), e.data["tool_call_id"])
			require.False(t, seen[e.data["tool_call_id"]])
			seen[e.data["tool_call_id"]] = true
		}
	}
	require.Len(t, seen, 4)
}
