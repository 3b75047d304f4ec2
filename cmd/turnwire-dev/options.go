package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/seed-76f09577/turnwire/internal/service"
)

type options struct {
	addr, data             string
	web, dist, docs        string
	keys, workspaces, name repeated
	origins                repeated
	pace, heartbeat        time.Duration
	storage, public        string
	blockSize              int64
	signedFor              time.Duration
	faults                 bool
	logFormat              string
	model                  modelOptions
}

// repeated is a flag that may be given several times; the first one replaces the default.
type repeated struct {
	list []string
	set  bool
}

// String is part of flag.Value. It shows nothing, since keys must not be shown.
func (r *repeated) String() string { return "" }

func (r *repeated) Set(value string) error {
	if value == "" {
		return errors.New("must not be empty")
	}
	if !r.set {
		r.list, r.set = nil, true
	}
	r.list = append(r.list, value)
	return nil
}

func parseOptions(args []string, env func(string) string, output io.Writer) (*options, error) {
	o := &options{
		keys:       repeated{list: []string{"dev-key"}},
		workspaces: repeated{list: []string{"demo"}},
		name:       repeated{list: []string{"assistant"}},
	}
	port := "8080"
	if p := env("PORT"); p != "" {
		if n, err := strconv.Atoi(p); err != nil || n < 0 || n > 65535 {
			return nil, fmt.Errorf("PORT must be a port number, not %q", p)
		}
		port = p
	}
	flags := flag.NewFlagSet("turnwire-dev", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.StringVar(&o.addr, "addr", net.JoinHostPort("127.0.0.1", port), "`address` to listen on; port 0 takes a free one, the environment's PORT sets the default")
	flags.StringVar(&o.web, "web", "web/demo/dist", "`folder` served at /")
	flags.StringVar(&o.dist, "dist", "web/dist", "`folder` served at /turnwire/")
	flags.StringVar(&o.docs, "docs", ".cache/docs", "`folder` served at /docs/")
	flags.StringVar(&o.data, "data", "", "`folder` that keeps chats, turns and files over a restart; in memory without")
	flags.Var(&o.keys, "key", "accepted API `key`, repeatable (default dev-key)")
	flags.Var(&o.workspaces, "workspace", "`identifier` of a workspace, repeatable (default demo)")
	flags.Var(&o.name, "agent", "`identifier` of an agent, repeatable (default assistant)")
	flags.Var(&o.origins, "allow-origin", "`origin` whose pages may use the service beside those of loopback origins, such as https://app.example, or null, repeatable")
	flags.DurationVar(&o.pace, "pace", 25*time.Millisecond, "`time` between two events of a turn")
	flags.DurationVar(&o.heartbeat, "heartbeat", 15*time.Second, "`time` of silence after which a stream gets a comment; 0 sends none")
	flags.StringVar(&o.storage, "storage", "own", "`store` that pages upload to: "+storageForms()+"; "+
		"credentials are AZURE_STORAGE_ACCOUNT and AZURE_STORAGE_KEY, or AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION")
	flags.StringVar(&o.public, "storage-public", "", "`origin` at which pages reach the store, where it is another one; page: the own storage at the page's own origin")
	flags.Int64Var(&o.blockSize, "block-size", 0, "block size in `bytes` that upload tickets tell; 0 tells none, but to s3 8 MiB")
	flags.DurationVar(&o.signedFor, "signed-for", time.Hour, "`time` for which an upload address is good")
	flags.BoolVar(&o.faults, "faults", false, "perform the faults that requests ask for (X-Fault) and serve /debug; for tests only")
	flags.StringVar(&o.logFormat, "log-format", "text", "`format` of the log on stderr: text or json")
	o.model.flags(flags)
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if err := o.model.check(given, env); err != nil {
		return nil, err
	}
	// A model has a pace of its own.
	if o.model.url != "" && !given["pace"] {
		o.pace = 0
	}
	switch {
	case flags.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.logFormat != "text" && o.logFormat != "json":
		return nil, fmt.Errorf("-log-format must be text or json, not %q", o.logFormat)
	case o.pace < 0 || o.heartbeat < 0:
		return nil, errors.New("-pace and -heartbeat must not be negative")
	case o.blockSize < 0:
		return nil, errors.New("-block-size must not be negative")
	case o.signedFor < time.Second:
		return nil, errors.New("-signed-for must be at least 1s")
	}
	for _, key := range o.keys.list {
		if strings.TrimSpace(key) != key {
			return nil, errors.New("-key must not begin or end with white space")
		}
	}
	for i, origin := range o.origins.list {
		parsed, err := service.ParseOrigin(origin)
		if err != nil {
			return nil, fmt.Errorf("-allow-origin must be %w, not %q", err, origin)
		}
		o.origins.list[i] = parsed
	}
	return o, nil
}

// under is the path of something in the data folder, "" without one.
func (o *options) under(name string) string {
	if o.data == "" {
		return ""
	}
	return filepath.Join(o.data, name)
}

func (o *options) agents() map[string]string {
	agents := map[string]string{}
	for _, name := range o.name.list {
		agents[name] = o.model.first()
	}
	return agents
}

func (o *options) logger(to io.Writer) *slog.Logger {
	if o.logFormat == "json" {
		return slog.New(slog.NewJSONHandler(to, nil))
	}
	return slog.New(slog.NewTextHandler(to, nil))
}
