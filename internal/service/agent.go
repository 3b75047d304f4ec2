package service

import (
	"context"
	"encoding/json"
	"time"
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
	// Number counts the messages of the chat from 1, this one included. Earlier holds the newest ones
	// before this, oldest first; it may be shorter than Number-1, and long texts are cut.
	Number  int
	Earlier []Exchange
}

// Exchange is a message and what was answered, "" where no text was.
type Exchange struct {
	Text   string `json:"text"`
	Answer string `json:"answer,omitempty"`
}

// Tokens is what a turn took of a model.
type Tokens struct {
	Input, Output int64
	// Reasoning is the part of Output that the model thought to itself, 0 where it does not tell.
	Reasoning int64
}

// Failure is an agent's error that is shown as it is, in the turn's error event.
type Failure struct {
	// Code is stable; Message says what a person can do.
	Code, Message string
	// RetryAfter is when to try again; 0 where nothing is known.
	RetryAfter time.Duration
}

func (f *Failure) Error() string { return f.Code + ": " + f.Message }

// Sink is where an agent puts a turn. Several goroutines may use RunTool at a time, one all else.
type Sink interface {
	// Emit appends one event, whose data must encode to a JSON object, and waits the turn's pace.
	// An error means that the turn is over (ctx is done by then) and the agent must return it.
	Emit(ctx context.Context, kind Kind, data any) error
	// RunTool runs a tool once and records that it ran. It returns the tool's own error, and an
	// error of ctx, without running anything, once the turn is over.
	RunTool(ctx context.Context, callID, name string, run func(context.Context) (any, error)) (any, error)
	// Spend adds to the tokens that turn_complete tells.
	Spend(Tokens)
}

// Agent answers messages. Run emits every event but turn_complete and error: returning nil completes
// the turn, returning an error fails it. It must return soon after ctx is done.
type Agent interface {
	Run(ctx context.Context, m Message, to Sink) error
}
