package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/seed-76f09577/turnwire/proxy"
)

// settings are the members of the file that -config names, and what flags set on top of it. The key and the secrets are in
// neither: they come from the environment, or from files of their own.
type settings struct {
	Listen        string              `json:"listen"`
	Service       string              `json:"service"`
	KeyFile       string              `json:"key_file"`
	SecretFiles   []string            `json:"secret_files"`
	Workspaces    map[string][]string `json:"workspaces"`
	Models        []string            `json:"models"`
	PartTypes     []string            `json:"part_types"`
	Origins       []string            `json:"origins"`
	Caller        string              `json:"caller"`
	CallerFor     duration            `json:"caller_for"`
	GrantFor      duration            `json:"grant_for"`
	PassHeaders   []string            `json:"pass_headers"`
	MaxBody       int64               `json:"max_body"`
	MaxFile       int64               `json:"max_file"`
	BodyTimeout   duration            `json:"body_timeout"`
	AnswerTimeout duration            `json:"answer_timeout"`
	WriteTimeout  duration            `json:"write_timeout"`
	Rate          float64             `json:"rate"`
	Burst         int                 `json:"burst"`
	Streams       int                 `json:"streams"`
	AbortOnLeave  bool                `json:"abort_on_leave"`
	Redis         string              `json:"redis"`
	Metrics       string              `json:"metrics"`
	Traces        bool                `json:"traces"`
	TLSCert       string              `json:"tls_cert"`
	TLSKey        string              `json:"tls_key"`
	Grace         duration            `json:"grace"`
	LogFormat     string              `json:"log_format"`

	issue   string
	key     string
	secrets [][]byte
}

// duration is a text such as "90s" in JSON.
type duration time.Duration

func (d *duration) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	return d.Set(text)
}

func (d *duration) String() string { return time.Duration(*d).String() }

func (d *duration) Set(text string) error {
	parsed, err := time.ParseDuration(text)
	*d = duration(parsed)
	return err
}

// list is a flag that may be given several times; the first one replaces what the file says.
type list struct {
	to  *[]string
	set bool
}

func (l *list) String() string { return "" }

func (l *list) Set(value string) error {
	if value == "" {
		return errors.New("must not be empty")
	}
	if !l.set {
		l.set, *l.to = true, nil
	}
	*l.to = append(*l.to, value)
	return nil
}

const (
	keyVariable     = "TURNWIRE_PROXY_KEY"
	secretsVariable = "TURNWIRE_PROXY_SECRETS"
)

func flags(s *settings, config *string, output io.Writer) *flag.FlagSet {
	f := flag.NewFlagSet("turnwire-proxy", flag.ContinueOnError)
	f.SetOutput(output)
	f.Usage = func() {
		fmt.Fprintf(output, "Usage of turnwire-proxy:\nThe environment's %s holds the service's key, %s the secrets, separated by commas.\n", keyVariable, secretsVariable)
		f.PrintDefaults()
	}
	f.StringVar(config, "config", "", "JSON `file` with the settings, named as in docs/security.md; flags go before it")
	f.StringVar(&s.Listen, "listen", s.Listen, "`address` to listen on; port 0 takes a free one")
	f.StringVar(&s.Service, "service", s.Service, "`address` of the service")
	f.StringVar(&s.KeyFile, "key-file", s.KeyFile, "`file` that holds the service's key")
	f.Var(&list{to: &s.SecretFiles}, "secret-file", "`file` that holds a secret of at least 32 bytes, repeatable: the first one signs")
	workspaces := false
	f.Func("workspace", "`NAME=AGENT,AGENT`: a workspace and its agents that may be used, repeatable", func(text string) error {
		name, agents, ok := strings.Cut(text, "=")
		if !ok {
			return errors.New("must be NAME=AGENT,AGENT")
		}
		if !workspaces {
			workspaces, s.Workspaces = true, map[string][]string{}
		}
		s.Workspaces[name] = strings.Split(agents, ",")
		return nil
	})
	f.Var(&list{to: &s.Origins}, "origin", "`origin` whose pages may use the proxy, such as https://app.example, repeatable")
	f.StringVar(&s.Caller, "caller", s.Caller, "`who` sends a request: token (signed, from the header Authorization or the cookie of POST /visit) or header:NAME, which a server before this one sets")
	f.Var(&list{to: &s.PassHeaders}, "pass-header", "further `header` of requests that reaches the service, repeatable")
	f.Float64Var(&s.Rate, "rate", s.Rate, "requests a second of one caller (default 10)")
	f.IntVar(&s.Burst, "burst", s.Burst, "requests at once of one caller (default 40)")
	f.IntVar(&s.Streams, "streams", s.Streams, "answers under way of one caller (default 6)")
	f.BoolVar(&s.AbortOnLeave, "abort-on-leave", s.AbortOnLeave, "stop a turn whose caller has left")
	f.StringVar(&s.Redis, "redis", s.Redis, "`address` of a Redis that keeps whose chats and files are, such as redis://127.0.0.1:6379/0")
	f.StringVar(&s.Metrics, "metrics", s.Metrics, "`address` that serves metrics to Prometheus, at /metrics; none without")
	f.BoolVar(&s.Traces, "traces", s.Traces, "send OpenTelemetry traces, as the environment's OTEL_* says")
	f.StringVar(&s.TLSCert, "tls-cert", s.TLSCert, "`file` with the certificates, for HTTPS and HTTP/2")
	f.StringVar(&s.TLSKey, "tls-key", s.TLSKey, "`file` with the certificate's key")
	f.Var(&s.Grace, "grace", "`time` that answers under way get to end by themselves")
	f.StringVar(&s.LogFormat, "log-format", s.LogFormat, "`format` of the log on stderr: text or json")
	f.StringVar(&s.issue, "issue", "", "print a token for this `caller`, and end")
	return f
}

func parse(args []string, env func(string) string, output io.Writer) (*settings, error) {
	s := &settings{}
	defaults := func() *settings {
		return &settings{Listen: "127.0.0.1:8090", Caller: "token", CallerFor: duration(24 * time.Hour), Grace: duration(5 * time.Minute), LogFormat: "json"}
	}
	var config string
	// Once to find the file, and once more on top of it.
	if err := flags(defaults(), &config, output).Parse(args); err != nil {
		return nil, err
	}
	s = defaults()
	if config != "" {
		text, err := os.ReadFile(config)
		if err != nil {
			return nil, err
		}
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(s); err != nil {
			return nil, fmt.Errorf("%s: %w", config, err)
		}
	}
	f := flags(s, &config, output)
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	switch {
	case s.LogFormat != "text" && s.LogFormat != "json":
		return nil, fmt.Errorf("log_format must be text or json, not %q", s.LogFormat)
	case (s.TLSCert == "") != (s.TLSKey == ""):
		return nil, errors.New("tls_cert and tls_key must be given together")
	case s.Caller != "token" && !strings.HasPrefix(s.Caller, "header:"):
		return nil, fmt.Errorf("caller must be token or header:NAME, not %q", s.Caller)
	case s.Grace < 0:
		return nil, errors.New("grace must not be negative")
	}
	return s, s.read(env)
}

// read gets the key and the secrets.
func (s *settings) read(env func(string) string) error {
	s.key = env(keyVariable)
	if s.KeyFile != "" {
		text, err := os.ReadFile(s.KeyFile)
		if err != nil {
			return fmt.Errorf("key_file: %w", err)
		}
		s.key = strings.TrimSpace(string(text))
	}
	if text := env(secretsVariable); text != "" {
		for secret := range strings.SplitSeq(text, ",") {
			s.secrets = append(s.secrets, []byte(secret))
		}
	}
	for _, name := range s.SecretFiles {
		text, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("secret_files: %w", err)
		}
		s.secrets = append(s.secrets, bytes.TrimSpace(text))
	}
	return nil
}

func (s *settings) config(tokens *proxy.Tokens, log *slog.Logger) proxy.Config {
	authorize := tokens.Authorize
	if name, ok := strings.CutPrefix(s.Caller, "header:"); ok {
		authorize = func(r *http.Request) (string, error) {
			values := r.Header.Values(name)
			if len(values) != 1 || values[0] == "" {
				return "", errors.New("the header " + name + " must be given once")
			}
			return values[0], nil
		}
	}
	return proxy.Config{
		Service: s.Service, Key: s.key, Workspaces: s.Workspaces, Models: s.Models, PartTypes: s.PartTypes, Secrets: s.secrets,
		Authorize: authorize, Origins: s.Origins, GrantFor: time.Duration(s.GrantFor), PassHeaders: s.PassHeaders,
		MaxBody: s.MaxBody, MaxFile: s.MaxFile, BodyTimeout: time.Duration(s.BodyTimeout), AnswerTimeout: time.Duration(s.AnswerTimeout),
		WriteTimeout: time.Duration(s.WriteTimeout), Rate: s.Rate, Burst: s.Burst, Streams: s.Streams, AbortOnLeave: s.AbortOnLeave, Log: log,
	}
}

func (s *settings) logger(to io.Writer) *slog.Logger {
	if s.LogFormat == "text" {
		return slog.New(slog.NewTextHandler(to, nil))
	}
	return slog.New(slog.NewJSONHandler(to, nil))
}
