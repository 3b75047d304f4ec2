package model

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/seed-76f09577/turnwire/internal/builtin"
	"github.com/seed-76f09577/turnwire/internal/service"
)

// What a Config's zeroes mean, and what is tried again: a completion acts on nothing, and no tool runs before it is whole.
const (
	DefaultRounds = 8
	DefaultTime   = 10 * time.Minute
	DefaultIdle   = 2 * time.Minute

	retries       = 2
	maxRetryAfter = 20 * time.Second
)

// Config says which server answers, and within which limits. URL is needed.
type Config struct {
	// URL is the interface's base, under which chat/completions lies: most often it ends in /v1.
	URL string
	// Key goes out as bearer key; "" sends none. KeyEnv is where it came from, for what a person is told.
	Key, KeyEnv string
	// Prompt is the system prompt; "" is DefaultPrompt.
	Prompt string
	// NoTools offers the model none, for those that know of none.
	NoTools bool
	// Files is what the search tool searches in; with nil there is no such tool.
	Files builtin.Files
	// Rounds bounds how often the model is asked in one turn, once more after each time that it calls tools.
	Rounds int
	// Time bounds a turn, Idle how long the server may say nothing.
	Time, Idle time.Duration
	// Now is the clock tool's clock; nil is time.Now.
	Now func() time.Time
	// Log gets what a failure's reader needs not know; nil drops it.
	Log *slog.Logger
}

// Agent answers by asking a model. It is safe for concurrent use. Close lets its connections go.
type Agent struct {
	cfg       Config
	chat      openai.ChatCompletionService
	transport *http.Transport
}

// New makes an agent. Nothing is sent before the first turn.
func New(cfg Config) (*Agent, error) {
	base, err := url.Parse(cfg.URL)
	switch {
	case err != nil || (base.Scheme != "http" && base.Scheme != "https") || base.Host == "":
		return nil, errors.New("model: URL must be an http or https address, such as http://127.0.0.1:11434/v1")
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil, errors.New("model: URL must hold neither a user nor a query: a key comes from the environment")
	case cfg.Rounds < 0 || cfg.Time < 0 || cfg.Idle < 0:
		return nil, errors.New("model: limits must not be negative")
	}
	if cfg.Prompt == "" {
		cfg.Prompt = DefaultPrompt
	}
	if cfg.Rounds == 0 {
		cfg.Rounds = DefaultRounds
	}
	if cfg.Time == 0 {
		cfg.Time = DefaultTime
	}
	if cfg.Idle == 0 {
		cfg.Idle = DefaultIdle
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	// Not openai.NewClient: that takes keys and addresses from the environment by itself.
	options := []option.RequestOption{
		option.WithBaseURL(strings.TrimSuffix(cfg.URL, "/") + "/"),
		option.WithHTTPClient(&http.Client{Transport: transport}),
		option.WithMaxRetries(retries),
		option.WithMaxRetryDelay(maxRetryAfter),
		// Whoever gave an http address of their own network means it.
		option.WithUnsafeAllowHTTP(),
	}
	if cfg.Key != "" {
		options = append(options, option.WithAPIKey(cfg.Key))
	}
	return &Agent{cfg: cfg, chat: openai.NewChatCompletionService(options...), transport: transport}, nil
}

// Close lets go of connections that nothing uses.
func (a *Agent) Close() error {
	a.transport.CloseIdleConnections()
	return nil
}

// Run answers one message. What the model or its server did wrong is a service.Failure.
func (a *Agent) Run(ctx context.Context, m service.Message, to service.Sink) error {
	within, cancel := context.WithTimeoutCause(ctx, a.cfg.Time, errTime)
	defer cancel()
	err := a.answer(within, m, to)
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case context.Cause(within) == errTime:
		err = errTime
	}
	told := a.explain(m.Model, err)
	if told == nil {
		return err
	}
	a.cfg.Log.Warn("model failed", "turn", m.TurnID, "model", m.Model, "code", told.Code, "error", a.redact(err.Error()))
	return told
}

// answer asks until the model calls no tool any more.
func (a *Agent) answer(ctx context.Context, m service.Message, to service.Sink) error {
	use := builtin.Tools{Now: a.cfg.Now, Files: a.cfg.Files, WorkspaceID: m.WorkspaceID}
	var tools []builtin.Tool
	if !a.cfg.NoTools {
		hasFiles, err := use.HasFiles(ctx)
		if err != nil {
			return err
		}
		tools = builtin.All(hasFiles)
	}
	request := openai.ChatCompletionNewParams{
		Model:         m.Model,
		Messages:      conversation(a.cfg.Prompt, m),
		Tools:         offered(tools),
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}
	ids := &callIDs{turn: strings.TrimPrefix(m.TurnID, "turn_")}
	for range a.cfg.Rounds {
		said, err := a.ask(ctx, request, ids, to)
		if err != nil || len(said.calls) == 0 {
			return err
		}
		if err := runAll(ctx, said.calls, tools, use, to); err != nil {
			return err
		}
		request.Messages = append(slices.Clip(request.Messages), said.messages()...)
	}
	return errRounds
}
