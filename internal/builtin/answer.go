package builtin

import (
	"fmt"
	"strings"

	"github.com/seed-76f09577/turnwire/internal/library"
	"github.com/seed-76f09577/turnwire/internal/service"
)

const helpText = `## What I can do

I am the built-in agent of the reference service. I need no model, and my tools really run.

| Write | and I |
|---|---|
| a calculation, such as ` + "`(2 + 3) * 4`" + ` | call the **calculator**, once for each expression |
| a question about the time, such as ` + "`what time is it in Tokyo?`" + ` | call the **clock**, for every city or IANA zone you name |
| both at once | call both tools at the same time |
| ` + "`count to 100`" + ` | count, one event a number, up to 100000 |
| ` + "`write 200 words`" + ` | write Markdown prose in several scripts, up to 100000 words |
| anything else | say what I understood and remember it |

- A calculation that fails, such as ` + "`1/0`" + `, shows a tool error.
- Stop me whenever you like: no tool runs after that.
`

const helpFiles = "| a question about your files, such as `what does the handbook say about holidays?` | **search** in them, and quote what I find |\n"

// help tells what the agent can do; to search is told where there is something to search in.
func help(hasFiles bool) string {
	if !hasFiles {
		return helpText
	}
	before, after, _ := strings.Cut(helpText, "| both at once |")
	return before + helpFiles + "| both at once |" + after
}

// toolAnswer says what the tools found, and what failed.
func toolAnswer(m service.Message, calls []*call) string {
	var b strings.Builder
	if len(calls) == 1 {
		b.WriteString("## Result\n\n")
	} else {
		b.WriteString("## Results\n\n")
	}
	var sums, times, searches, failed []*call
	for _, c := range calls {
		switch {
		case c.err != nil:
			failed = append(failed, c)
		case c.name == calculatorTool:
			sums = append(sums, c)
		case c.name == searchTool:
			searches = append(searches, c)
		default:
			times = append(times, c)
		}
	}
	switch {
	case len(sums) == 1 && len(times) > 0:
		fmt.Fprintf(&b, "- `%s` = **%s**\n", sums[0].argument, sums[0].result["value"])
	case len(sums) == 1:
		fmt.Fprintf(&b, "`%s` = **%s**\n\n", sums[0].argument, sums[0].result["value"])
	case len(sums) > 1:
		b.WriteString("| Expression | Value |\n|---|---:|\n")
		for _, c := range sums {
			fmt.Fprintf(&b, "| `%s` | **%s** |\n", c.argument, c.result["value"])
		}
		b.WriteString("\n")
	}
	for _, c := range times {
		fmt.Fprintf(&b, "- In %s it is **%s**, %s (UTC%s).\n", c.result["zone"], c.result["time"], c.result["weekday"], c.result["utc_offset"])
	}
	if len(times) > 0 {
		b.WriteString("\n")
	}
	for _, c := range searches {
		b.WriteString(filesAnswer(c.argument, c.result["passages"].([]library.Passage)))
	}
	for _, c := range failed {
		asked := strings.ReplaceAll(c.argument, "`", "'")
		fmt.Fprintf(&b, "> The %s could not do `%s`: %s.\n\n", c.name, asked, c.result["error"])
	}
	fmt.Fprintf(&b, "That was message %d of this chat.\n", m.Number)
	return b.String()
}

// plainAnswer is for a message that asks for nothing the agent can do.
func plainAnswer(m service.Message, hasFiles bool) string {
	var b strings.Builder
	b.WriteString("## I read your message\n\n")
	text := strings.TrimSpace(m.Text)
	if text == "" {
		b.WriteString("It holds no text.\n\n")
	} else {
		fmt.Fprintf(&b, "%s\n\nThat is %s", quote(text), plural(len(strings.Fields(text)), "word"))
		if lines := strings.Count(text, "\n") + 1; lines > 1 {
			fmt.Fprintf(&b, " on %d lines", lines)
		}
		b.WriteString(". I found no calculation and no question about the time in it.\n\n")
	}
	if len(m.OtherParts) > 0 {
		fmt.Fprintf(&b, "I left aside what I can't read: %s.\n\n", escape(strings.Join(m.OtherParts, ", ")))
	}
	fmt.Fprintf(&b, "This is message **%d** of this chat.", m.Number)
	if n := len(m.Earlier); n > 0 {
		fmt.Fprintf(&b, " Before it you wrote:\n\n%s", quote(m.Earlier[n-1].Text))
	}
	b.WriteString("\n\nYou could try:\n\n- `(2 + 3) * 4` for the calculator\n- `what time is it in Europe/Berlin?` for the clock\n")
	if hasFiles {
		b.WriteString("- `what do my files say about …?` for a search in your files\n")
	}
	b.WriteString("- `help` for everything else\n")
	return b.String()
}

const quoted = 300

// quote shows a text as a quotation in which no character acts as Markdown or HTML.
func quote(text string) string {
	text = strings.TrimSpace(text)
	if runes := []rune(text); len(runes) > quoted {
		text = string(runes[:quoted]) + "…"
	}
	return quotation(text)
}

func quotation(text string) string {
	return "> " + strings.ReplaceAll(escape(text), "\n", "\n> ")
}

var markdown = strings.NewReplacer(
	"\r\n", "\n", "\r", "\n",
	`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `{`, `\{`, `}`, `\}`, `[`, `\[`, `]`, `\]`,
	`(`, `\(`, `)`, `\)`, `#`, `\#`, `+`, `\+`, `-`, `\-`, `!`, `\!`, `|`, `\|`, `~`, `\~`, `>`, `\>`,
	`<`, `\<`, `&`, `\&`,
)

// escape takes the meaning from every character that Markdown or HTML gives one.
func escape(text string) string { return markdown.Replace(text) }
