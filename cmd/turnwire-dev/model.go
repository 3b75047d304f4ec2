package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/seed-76f09577/turnwire/internal/builtin"
	"github.com/seed-76f09577/turnwire/internal/library"
	"github.com/seed-76f09577/turnwire/internal/model"
	"github.com/seed-76f09577/turnwire/internal/service"
)

// builtinModel is the configured model of the built-in agent, which needs none.
const builtinModel = "turnwire-builtin-1"

// modelOptions are the flags of a model that answers in place of the built-in agent; without a URL there is none.
type modelOptions struct {
	url, keyEnv, key, prompt string
	names                    repeated
	noTools                  bool
	rounds                   int
	time, idle               time.Duration
}

func (m *modelOptions) flags(flags *flag.FlagSet) {
	flags.StringVar(&m.url, "model-url", "", "`address` of a server with OpenAI's chat completions interface, such as http://127.0.0.1:11434/v1, whose model answers in place of the built-in agent")
	flags.Var(&m.names, "model", "`name` of a model there, repeatable or with commas; the first answers where a message names none")
	flags.StringVar(&m.keyEnv, "model-key-env", "", "environment `variable` that holds the key for -model-url; none sends no key")
	flags.StringVar(&m.prompt, "model-prompt", "", "system prompt, a `text`; one of its own without")
	flags.BoolVar(&m.noTools, "model-no-tools", false, "offer the model no tools, where it knows of none")
	flags.IntVar(&m.rounds, "model-rounds", model.DefaultRounds, "`times` that a model is asked in one turn, once more after its tools ran")
	flags.DurationVar(&m.time, "model-time", model.DefaultTime, "`time` that a turn may take")
	flags.DurationVar(&m.idle, "model-idle", model.DefaultIdle, "`time` that the model's server may say nothing")
}

// check is called after the flags are parsed; given tells which there were.
func (m *modelOptions) check(given map[string]bool, env func(string) string) error {
	var names []string
	for _, value := range m.names.list {
		for _, name := range strings.Split(value, ",") {
			if name = strings.TrimSpace(name); name == "" {
				return fmt.Errorf("-model must hold a name between its commas, not %q", value)
			}
			names = append(names, name)
		}
	}
	m.names.list = names
	if m.url == "" {
		for name := range given {
			if strings.HasPrefix(name, "model") {
				return fmt.Errorf("-%s needs -model-url", name)
			}
		}
		return nil
	}
	switch {
	case len(names) == 0:
		return errors.New("-model must name a model of the server at -model-url")
	case m.rounds < 1:
		return errors.New("-model-rounds must be at least 1")
	case m.time <= 0 || m.idle <= 0:
		return errors.New("-model-time and -model-idle must be longer than 0s")
	case m.keyEnv == "":
		return nil
	}
	if m.key = strings.TrimSpace(env(m.keyEnv)); m.key == "" {
		return fmt.Errorf("-model-key-env: the environment variable %s is not set", m.keyEnv)
	}
	return nil
}

type closingAgent interface {
	service.Agent
	io.Closer
}

// builtinAgent is the agent that answers without a model.
type builtinAgent struct{ builtin.Agent }

func (*builtinAgent) Close() error { return nil }

// agent is what answers.
func (m *modelOptions) agent(files *library.Library, log *slog.Logger) (closingAgent, error) {
	if m.url == "" {
		return &builtinAgent{builtin.Agent{Files: files}}, nil
	}
	agent, err := model.New(model.Config{
		URL: m.url, Key: m.key, KeyEnv: m.keyEnv, Prompt: m.prompt, NoTools: m.noTools,
		Files: files, Rounds: m.rounds, Time: m.time, Idle: m.idle, Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("-model-url: %w", err)
	}
	return agent, nil
}

// first is the model of messages that name none.
func (m *modelOptions) first() string {
	if m.url == "" {
		return builtinModel
	}
	return m.names.list[0]
}
