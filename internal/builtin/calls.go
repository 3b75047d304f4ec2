package builtin

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/seed-76f09577/turnwire/internal/service"
)

// call is one tool call of a turn.
type call struct {
	id, name      string
	key, argument string
	result        map[string]any
	err           error
}

// plan settles the calls of a request, in the order in which they are started.
func plan(turnID string, r request) []*call {
	var calls []*call
	add := func(name, key, value string) {
		id := "call_" + strings.TrimPrefix(turnID, "turn_") + "_" + strconv.Itoa(len(calls)+1)
		calls = append(calls, &call{id: id, name: name, key: key, argument: value})
	}
	for _, expression := range r.expressions {
		add(calculatorTool, "expression", expression)
	}
	for _, zone := range r.zones {
		add(clockTool, "zone", zone)
	}
	if r.query != "" {
		add(searchTool, "query", r.query)
	}
	return calls
}

// overlapping tells whether the calls go on at the same time: where several tools are asked for. Several
// calls of one tool go one after another, so that both orders can be seen.
func overlapping(calls []*call) bool {
	for _, c := range calls {
		if c.name != calls[0].name {
			return true
		}
	}
	return false
}

func (w writer) runCalls(calls []*call, use Tools) error {
	if !overlapping(calls) {
		for _, c := range calls {
			if err := w.runTogether([]*call{c}, use); err != nil {
				return err
			}
		}
		return nil
	}
	return w.runTogether(calls, use)
}

// runTogether starts all the calls, sends their arguments in turns, and then runs them. A reading of the
// clock is there before a calculation is, and that before what a search finds, so the results come in that order.
func (w writer) runTogether(calls []*call, use Tools) error {
	fragments := make([][]string, len(calls))
	left := 0
	for i, c := range calls {
		encoded, err := json.Marshal(map[string]string{c.key: c.argument})
		if err != nil {
			return err
		}
		fragments[i] = cut(string(encoded), 6)
		left += len(fragments[i])
		if err := w.emit(service.ToolCallStarted, map[string]any{"tool_call_id": c.id, "name": c.name}); err != nil {
			return err
		}
	}
	for ; left > 0; left-- {
		for i, c := range calls {
			if len(fragments[i]) == 0 {
				continue
			}
			if err := w.emit(service.ToolCallDelta, map[string]any{"tool_call_id": c.id, "delta": fragments[i][0]}); err != nil {
				return err
			}
			fragments[i] = fragments[i][1:]
		}
	}
	for _, c := range calls {
		if err := w.emit(service.ToolCall, map[string]any{"tool_call_id": c.id, "name": c.name, "arguments": map[string]string{c.key: c.argument}}); err != nil {
			return err
		}
	}
	for _, name := range []string{clockTool, calculatorTool, searchTool} {
		for _, c := range calls {
			if c.name != name {
				continue
			}
			if err := w.run(c, use); err != nil {
				return err
			}
		}
	}
	return nil
}

// run runs one call and sends its result. An error of the tool is a result; an error of the turn ends it.
func (w writer) run(c *call, use Tools) error {
	found, err := w.to.RunTool(w.ctx, c.id, c.name, func(ctx context.Context) (any, error) {
		return use.Run(ctx, c.name, c.argument)
	})
	if w.ctx.Err() != nil {
		return w.ctx.Err()
	}
	result, _ := found.(map[string]any)
	c.result, c.err = Result(result, err), err
	return w.emit(service.ToolResult, map[string]any{"tool_call_id": c.id, "name": c.name, "result": c.result})
}
