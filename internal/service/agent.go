package service

import (
	"context"
	"encoding/json"
)

// Kind is an event's type, one of the eight of the spec's section "Events".
type Kind string

// The kinds of event, as the spec's section "Events" names them.
const (
	TextDelta       Kind = "text_delta"
	ReasoningDelta  Kind = "reasoning_delta"
	ToolCallStarted Kind = "tool_call_started"
	ToolCallDelta   Kind = "tool_call_delta"
	ToolCall        Kind = "tool_call"
	ToolResult      Kind = "tool_result"
	TurnComplete    Kind = "turn_complete"
	ErrorEvent      Kind = "error"
)

// Event is one event of a turn: its kind and the JSON object of its payload.
type Event struct {
	Kind Kind            `json:"type"`
	Data json.RawMessage `json:"data"`
}

// Message is what an agent is asked to answer.
type Message struct {
	TurnID      string
	ChatID      string
	WorkspaceID string
	// Model is the model of this turn; Overridden says that the request chose it.
	Model      string
	Overridden bool
	// Text is the text parts, joined by a blank line. OtherParts holds the types of all other parts.
	Text       string
	OtherParts []string
	// Number counts the messages of the chat from 1, this one included. Earlier holds the texts of
	// the newest ones before this, oldest first; it may be shorter than Number-1.
	Number  int
	Earlier []string
}

// Sink is where an agent puts a turn. It is used by one goroutine at a time.
type Sink interface {
	// Emit appends one event, whose data must encode to a JSON object, and waits the turn's pace.
	// An error means that the turn is over (ctx is done by then) and the agent must return it.
	Emit(ctx context.Context, kind Kind, data any) error
	// RunTool runs a tool once and records that it ran. It returns the tool's own error, and an
	// error of ctx, without running anything, once the turn is over.
	RunTool(ctx context.Context, callID, name string, run func(context.Context) (any, error)) (any, error)
}

// Agent answers messages. Run emits every event but turn_complete and error: returning nil completes
// the turn, returning an error fails it. It must return soon after ctx is done.
type Agent interface {
	Run(ctx context.Context, m Message, to Sink) error
}
