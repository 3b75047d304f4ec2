package model

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

	"github.com/seed-76f09577/turnwire/internal/builtin"
	"github.com/seed-76f09577/turnwire/internal/service"
)

// call is one tool call, as it grows.
type call struct {
	// id names the call in the turn's events, upstream to the model.
	id, upstream string
	name         string
	arguments    strings.Builder
	result       map[string]any
}

// callIDs makes identifiers that are unique within a turn: those of models need not be.
type callIDs struct {
	turn string
	n    int
}

func (i *callIDs) next() string {
	i.n++
	return "call_" + i.turn + "_" + strconv.Itoa(i.n)
}

// offered tells the model of the tools.
func offered(tools []builtin.Tool) []openai.ChatCompletionToolUnionParam {
	var out []openai.ChatCompletionToolUnionParam
	for _, t := range tools {
		out = append(out, openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name:        t.Name,
			Description: openai.String(t.Description),
			Parameters: shared.FunctionParameters{
				"type":                 "object",
				"properties":           map[string]any{t.Argument: map[string]string{"type": "string", "description": t.About}},
				"required":             []string{t.Argument},
				"additionalProperties": false,
			},
		}))
	}
	return out
}

// object gives the arguments where they are a JSON object.
func (c *call) object() (map[string]any, bool) {
	var fields map[string]any
	err := json.Unmarshal([]byte(c.arguments.String()), &fields)
	return fields, err == nil && fields != nil
}

// shown are the arguments for the turn's event: what is no object stays the text that it is.
func (c *call) shown() any {
	if _, ok := c.object(); ok {
		return json.RawMessage(c.arguments.String())
	}
	return c.arguments.String()
}

// argument finds the call's tool and its argument. The error tells the model how to do better.
func (c *call) argument(tools []builtin.Tool) (string, error) {
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
		if t.Name != c.name {
			continue
		}
		fields, _ := c.object()
		value, ok := fields[t.Argument].(string)
		if !ok {
			return "", fmt.Errorf("the arguments of %s must be a JSON object with the text %q, not: %s", t.Name, t.Argument, cut(c.arguments.String(), 200))
		}
		return value, nil
	}
	return "", fmt.Errorf("there is no tool %q; there are: %s", cut(c.name, 100), strings.Join(names, ", "))
}

// runAll runs the calls at the same time, and tells each result as it comes.
func runAll(ctx context.Context, calls []*call, tools []builtin.Tool, use builtin.Tools, to service.Sink) error {
	for _, c := range calls {
		if err := to.Emit(ctx, service.ToolCall, map[string]any{"tool_call_id": c.id, "name": c.name, "arguments": c.shown()}); err != nil {
			return err
		}
	}
	finished := make(chan *call, len(calls))
	for _, c := range calls {
		go func() {
			c.result = c.run(ctx, tools, use, to)
			finished <- c
		}()
	}
	var failed error
	// All are waited for in any case: nothing of a turn goes on after its end.
	for range calls {
		c := <-finished
		if failed == nil {
			failed = to.Emit(ctx, service.ToolResult, map[string]any{"tool_call_id": c.id, "name": c.name, "result": c.result})
		}
	}
	return failed
}

// run gives the call's result. Where the turn is over nothing is run, and nobody reads it.
func (c *call) run(ctx context.Context, tools []builtin.Tool, use builtin.Tools, to service.Sink) (result map[string]any) {
	defer func() {
		if p := recover(); p != nil {
			result = builtin.Result(nil, fmt.Errorf("the tool failed: %v", p))
		}
	}()
	argument, err := c.argument(tools)
	if err != nil {
		return builtin.Result(nil, err)
	}
	found, err := to.RunTool(ctx, c.id, c.name, func(ctx context.Context) (any, error) {
		return use.Run(ctx, c.name, argument)
	})
	got, _ := found.(map[string]any)
	return builtin.Result(got, err)
}

// sendable is what a name must be to go back upstream.
var sendable = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// messages tell the model what it called, and what came of it.
func (s *said) messages() []openai.ChatCompletionMessageParamUnion {
	mine := openai.ChatCompletionAssistantMessageParam{}
	if s.text.Len() > 0 {
		mine.Content.OfString = openai.String(s.text.String())
	}
	// Models that think between their calls want to see it again, under the name that they gave it.
	if s.thoughtIn != "" {
		mine.SetExtraFields(map[string]any{s.thoughtIn: s.thought.String()})
	}
	var results []openai.ChatCompletionMessageParamUnion
	for _, c := range s.calls {
		name, arguments := c.name, c.arguments.String()
		if !sendable.MatchString(name) {
			name = "unknown"
		}
		// Servers parse what comes back, and refuse the whole request for what the model wrote wrongly. The result says it.
		if _, ok := c.object(); !ok {
			arguments = "{}"
		}
		mine.ToolCalls = append(mine.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
				ID:       c.upstream,
				Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: name, Arguments: arguments},
			},
		})
		encoded, err := json.Marshal(c.result)
		if err != nil {
			encoded = []byte(`{"error":"the result can't be told"}`)
		}
		results = append(results, openai.ToolMessage(string(encoded), c.upstream))
	}
	return append([]openai.ChatCompletionMessageParamUnion{{OfAssistant: &mine}}, results...)
}

func cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
