package model

import (
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/respjson"

	"github.com/seed-76f09577/turnwire/internal/service"
)

// said is what the model said in one round.
type said struct {
	text, thought strings.Builder
	// thoughtIn is the field that thoughts came in.
	thoughtIn string
	calls     []*call
	// open finds the newest call of an index.
	open   map[int64]*call
	finish string
	usage  openai.CompletionUsage
}

// ask sends a request and streams the answer. The connection is closed when it returns, unless the answer was read to
// its end.
func (a *Agent) ask(ctx context.Context, request openai.ChatCompletionNewParams, ids *callIDs, to service.Sink) (*said, error) {
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := newWatch(a.cfg.Idle, func() { cancel(errIdle) })
	defer watch.stop()
	stream := a.chat.NewStreaming(within, request, option.WithMiddleware(watch.attempt))
	defer stream.Close()

	s := &said{open: map[int64]*call{}}
	for stream.Next() {
		chunk := stream.Current()
		// Some tell the sum so far with every chunk: the last one holds.
		if chunk.Usage.TotalTokens > 0 {
			s.usage = chunk.Usage
		}
		for _, choice := range chunk.Choices {
			if choice.Index != 0 {
				continue
			}
			if err := s.take(ctx, choice, ids, to); err != nil {
				return nil, err
			}
		}
	}
	if s.usage.TotalTokens > 0 {
		to.Spend(service.Tokens{Input: s.usage.PromptTokens, Output: s.usage.CompletionTokens,
			Reasoning: s.usage.CompletionTokensDetails.ReasoningTokens})
	}
	err := stream.Err()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case s.finish != "":
		// What breaks behind the answer's end takes nothing from it.
		return s, s.ended()
	case context.Cause(within) == errIdle:
		return nil, errIdle
	case err != nil && watch.begun():
		return nil, &broken{err}
	case err != nil:
		return nil, &refused{err, watch.last}
	case watch.last != nil && !isStream(watch.last):
		return nil, &refused{errNoStream, watch.last}
	}
	return nil, &broken{io.ErrUnexpectedEOF}
}

// take tells one chunk's part of the answer.
func (s *said) take(ctx context.Context, choice openai.ChatCompletionChunkChoice, ids *callIDs, to service.Sink) error {
	if choice.FinishReason != "" {
		s.finish = choice.FinishReason
	}
	delta := choice.Delta
	text := delta.Content
	thought, field := reasoning(delta.JSON.ExtraFields)
	if raw := delta.JSON.Content.Raw(); strings.HasPrefix(raw, "[") {
		text, thought = parts(raw)
	}
	if thought != "" {
		s.thought.WriteString(thought)
		s.thoughtIn = field
		if err := to.Emit(ctx, service.ReasoningDelta, chunk(thought)); err != nil {
			return err
		}
	}
	if text += delta.Refusal; text != "" {
		s.text.WriteString(text)
		if err := to.Emit(ctx, service.TextDelta, chunk(text)); err != nil {
			return err
		}
	}
	for _, piece := range delta.ToolCalls {
		if err := s.grow(ctx, piece, ids, to); err != nil {
			return err
		}
	}
	return nil
}

// grow takes a fragment of a call. A call is told of as soon as it has a name.
func (s *said) grow(ctx context.Context, piece openai.ChatCompletionChunkChoiceDeltaToolCall, ids *callIDs, to service.Sink) error {
	c := s.open[piece.Index]
	// Some give every call the index 0, and its own id.
	if c == nil || piece.ID != "" && c.upstream != "" && piece.ID != c.upstream {
		c = &call{id: ids.next()}
		s.open[piece.Index] = c
		s.calls = append(s.calls, c)
	}
	if c.upstream == "" {
		c.upstream = piece.ID
	}
	fragment := piece.Function.Arguments
	if c.name == "" && piece.Function.Name != "" {
		c.name = piece.Function.Name
		if err := to.Emit(ctx, service.ToolCallStarted, map[string]any{"tool_call_id": c.id, "name": c.name}); err != nil {
			return err
		}
		// What came before the name is told now.
		fragment = c.arguments.String() + fragment
		c.arguments.Reset()
	}
	c.arguments.WriteString(fragment)
	if c.name == "" || fragment == "" {
		return nil
	}
	return to.Emit(ctx, service.ToolCallDelta, map[string]any{"tool_call_id": c.id, "delta": fragment})
}

// ended looks at how the answer ended.
func (s *said) ended() error {
	switch s.finish {
	case "length":
		return errLength
	case "content_filter":
		return errFilter
	}
	// The reason is not asked whether there are calls: some say "stop" behind them.
	for _, c := range s.calls {
		if c.upstream == "" {
			c.upstream = c.id
		}
	}
	return nil
}

func chunk(text string) map[string]string { return map[string]string{"chunk": text} }

// reasoning finds what the model thinks to itself, for which the interface has no name: reasoning_content (DeepSeek,
// llama.cpp, SGLang, vLLM before 0.12), reasoning (vLLM, Ollama, OpenRouter, Groq). Some send the same under both.
func reasoning(extra map[string]respjson.Field) (text, field string) {
	for _, field := range []string{"reasoning_content", "reasoning"} {
		var text string
		if json.Unmarshal([]byte(extra[field].Raw()), &text) == nil && text != "" {
			return text, field
		}
	}
	return "", ""
}

// parts reads content that is a list, as Mistral's models send it while they think.
func parts(raw string) (text, thought string) {
	var list []struct {
		Text     string
		Thinking []struct{ Text string }
	}
	if json.Unmarshal([]byte(raw), &list) != nil {
		return "", ""
	}
	for _, part := range list {
		text += part.Text
		for _, t := range part.Thinking {
			thought += t.Text
		}
	}
	return text, thought
}

// watch ends a request whose server says nothing for too long, and knows the last attempt's answer.
type watch struct {
	idle  time.Duration
	timer *time.Timer
	last  *http.Response
}

func newWatch(idle time.Duration, end func()) *watch {
	w := &watch{idle: idle, timer: time.AfterFunc(idle, end)}
	w.timer.Stop()
	return w
}

func (w *watch) stop() { w.timer.Stop() }

// begun tells whether an answer's stream began.
func (w *watch) begun() bool { return w.last != nil && w.last.StatusCode < 300 && isStream(w.last) }

// attempt performs one of a request's tries; the wait between two is not the server's silence.
func (w *watch) attempt(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	w.timer.Reset(w.idle)
	defer w.timer.Stop()
	response, err := next(r)
	w.last = response
	if err == nil && response.StatusCode < 300 {
		response.Body = &watched{response.Body, w}
	}
	return response, err
}

// watched times the waits for bytes, not what is done with them in between.
type watched struct {
	io.ReadCloser
	watch *watch
}

func (b *watched) Read(p []byte) (int, error) {
	b.watch.timer.Reset(b.watch.idle)
	defer b.watch.timer.Stop()
	return b.ReadCloser.Read(p)
}

func isStream(r *http.Response) bool {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return media == "text/event-stream"
}
