// Command turnwire-proxy adds the service's key to the requests of pages that hold none: see package proxy and
// docs/security.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/redis/go-redis/v9"

	"github.com/seed-76f09577/turnwire/proxy"
	"github.com/seed-76f09577/turnwire/proxy/metrics"
	"github.com/seed-76f09577/turnwire/proxy/redisstore"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, stop, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "turnwire-proxy:", err)
		os.Exit(1)
	}
}

// run serves until ctx is done, and calls interrupted then, so that a second signal kills.
func run(ctx context.Context, interrupted func(), args []string, env func(string) string, stdout, stderr io.Writer) (err error) {
	s, err := parse(args, env, stderr)
	if err != nil {
		return err
	}
	log := s.logger(stderr)
	tokens, err := proxy.NewTokens(time.Duration(s.CallerFor), s.secrets...)
	if err != nil {
		return fmt.Errorf("%s or secret_files: %w", secretsVariable, err)
	}
	if s.issue != "" {
		_, err := fmt.Fprintln(stdout, tokens.Issue(s.issue))
		return err
	}
	cfg := s.config(tokens, log)
	if s.Redis != "" {
		options, err := redis.ParseURL(s.Redis)
		if err != nil {
			return errors.New("redis must be an address such as redis://127.0.0.1:6379/0")
		}
		client := redis.NewClient(options)
		defer func() { err = errors.Join(err, client.Close()) }()
		cfg.Store = redisstore.New(client, "turnwire:")
	}
	wrap := func(next http.Handler) http.Handler { return next }
	if s.Traces {
		var end func(context.Context) error
		if cfg.Transport, wrap, end, err = traces(ctx); err != nil {
			return fmt.Errorf("traces: %w", err)
		}
		defer func() { err = errors.Join(err, end(context.WithoutCancel(ctx))) }()
	}
	var counted http.Handler
	if s.Metrics != "" {
		registry := prometheus.NewRegistry()
		registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
		if cfg.Observer, err = metrics.New(registry); err != nil {
			return err
		}
		counted = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	}
	p, err := proxy.New(cfg)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", p.Healthy)
	mux.HandleFunc("GET /readyz", p.Ready)
	if s.Caller == "token" {
		mux.HandleFunc("/visit", p.Visit(tokens))
	}
	served := make(chan error, 2)
	if counted != nil {
		side := http.NewServeMux()
		side.Handle("GET /metrics", counted)
		server, address, failed := serve(ctx, s.Metrics, side, log, "", "", served)
		if failed != nil {
			return fmt.Errorf("metrics: %w", failed)
		}
		defer func() { err = errors.Join(err, server.Close()) }()
		log.Info("metrics", "address", address)
	}
	// Not within the mux, which would clean paths before the proxy sees them.
	own := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz", "/readyz", "/visit":
			mux.ServeHTTP(w, r)
		default:
			p.ServeHTTP(w, r)
		}
	})
	server, address, err := serve(ctx, s.Listen, wrap(own), log, s.TLSCert, s.TLSKey, served)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(stdout, "turnwire-proxy listening on %s\n", address); err != nil {
		return errors.Join(err, server.Close())
	}
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	interrupted()
	log.Info("stopping", "grace", s.Grace.String())
	p.Stop()
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Duration(s.Grace))
	defer cancel()
	err = server.Shutdown(within)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	p.Wait()
	return err
}

// serve listens, and tells served when that has ended by itself.
func serve(ctx context.Context, at string, handler http.Handler, log *slog.Logger, cert, key string, served chan<- error) (*http.Server, string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at)
	if err != nil {
		return nil, "", err
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{
		Handler: handler, Protocols: &protocols, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	if cert != "" {
		go func() { served <- ended(server.ServeTLS(listener, cert, key)) }()
		return server, "https://" + listener.Addr().String(), nil
	}
	go func() { served <- ended(server.Serve(listener)) }()
	return server, "http://" + listener.Addr().String(), nil
}

func ended(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
