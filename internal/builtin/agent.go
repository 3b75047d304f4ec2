package builtin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/seed-76f09577/turnwire/internal/service"
)

// maxCount and maxWords bound "count to N" and "write N words".
const (
	maxCount = 100_000
	maxWords = 100_000
)

// Agent is the built-in agent. Its zero value is ready.
type Agent struct {
	// Now is the clock tool's clock; nil is time.Now.
	Now func() time.Time
	// Files is what the search tool searches in; with nil the agent has no such tool.
	Files Files
}

// Run answers one message.
func (a *Agent) Run(ctx context.Context, m service.Message, to service.Sink) error {
	use := Tools{Now: a.Now, Files: a.Files, WorkspaceID: m.WorkspaceID}
	hasFiles, err := use.HasFiles(ctx)
	if err != nil {
		return err
	}
	w := writer{ctx: ctx, to: to}
	r := understand(m.Text, hasFiles)
	calls := plan(m.TurnID, r)
	if err := w.think(reasoning(m, r, calls)); err != nil {
		return err
	}
	switch {
	case r.count > maxCount:
		return w.say(fmt.Sprintf("I count to **%d** at most; %d is too far.\n", maxCount, r.count))
	case r.count >= 0:
		return w.count(r.count)
	case r.words > maxWords:
		return w.say(fmt.Sprintf("I write **%d** words at most; %d are too many.\n", maxWords, r.words))
	case r.words >= 0:
		return w.prose(r.words)
	case r.help:
		return w.say(help(hasFiles))
	case len(calls) > 0:
		if err := w.runCalls(calls, use); err != nil {
			return err
		}
		return w.say(toolAnswer(m, calls))
	default:
		return w.say(plainAnswer(m, hasFiles))
	}
}

// reasoning is the plan, aloud.
func reasoning(m service.Message, r request, calls []*call) string {
	var b strings.Builder
	fmt.Fprintf(&b, "This is message %d of the chat. ", m.Number)
	if m.Overridden {
		fmt.Fprintf(&b, "The request asks for the model %q instead of the configured one; I need no model, but I note it. ", m.Model)
	}
	if len(m.OtherParts) > 0 {
		fmt.Fprintf(&b, "I can't read parts of the type %s, so I leave them aside. ", strings.Join(m.OtherParts, ", "))
	}
	switch {
	case r.count >= 0:
		fmt.Fprintf(&b, "It asks me to count to %d.", r.count)
	case r.words >= 0:
		fmt.Fprintf(&b, "It asks me to write %d words.", r.words)
	case r.help:
		b.WriteString("It asks what I can do.")
	case len(calls) == 0:
		b.WriteString("I find no calculation and no question about the time in it, so I need no tool.")
	default:
		if n := len(r.expressions); n > 0 {
			fmt.Fprintf(&b, "I find %s in it: %s. ", plural(n, "calculation"), strings.Join(r.expressions, "; "))
		}
		if len(r.zones) > 0 {
			fmt.Fprintf(&b, "It asks for the time in %s. ", strings.Join(r.zones, " and "))
		}
		if r.query != "" {
			fmt.Fprintf(&b, "It may be answered by the files, so I look for %q in them. ", r.query)
		}
		if overlapping(calls) {
			b.WriteString("The tools do not depend on each other, so I call them at the same time.")
		} else {
			fmt.Fprintf(&b, "That takes %s.", plural(len(calls), "tool call"))
		}
	}
	return b.String()
}

func plural(n int, what string) string {
	if n == 1 {
		return "one " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
