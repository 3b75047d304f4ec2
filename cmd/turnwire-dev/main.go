// Command turnwire-dev serves the reference service, the demo page, the built package and the documentation on one
// origin, so that a newcomer has a whole working system without an account.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/seed-76f09577/turnwire/internal/library"
	"github.com/seed-76f09577/turnwire/internal/service"
)

const (
	// graceful is what running turns get to end by themselves, closeWithin what their streams get after.
	graceful    = 3 * time.Second
	closeWithin = 2 * time.Second
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, stop, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "turnwire-dev:", err)
		os.Exit(1)
	}
}

// run serves until ctx is done, and calls interrupted then, so that a second signal kills.
func run(ctx context.Context, interrupted func(), args []string, env func(string) string, stdout, stderr io.Writer) (err error) {
	o, err := parseOptions(args, env, stderr)
	if err != nil {
		return err
	}
	logger := o.logger(stderr)
	storage, err := o.openStorage(env)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, storage.Close()) }()
	texts, err := library.Open(o.under("library.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, texts.Close()) }()
	agent, err := o.model.agent(texts, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, agent.Close()) }()
	svc, err := service.New(ctx, service.Config{
		Keys:       o.keys.list,
		Workspaces: o.workspaces.list,
		Agents:     o.agents(),
		Origins:    o.origins.list,
		Models:     o.model.names.list,
		Agent:      agent,
		Storage:    storage,
		SignedFor:  o.signedFor,
		Library:    shelf{texts},
		Pace:       o.pace,
		Heartbeat:  o.heartbeat,
		Faults:     o.faults,
		Dir:        o.data,
		Log:        logger,
	})
	if err != nil {
		return err
	}
	defer func() {
		cut, cancel := context.WithCancel(context.Background())
		cancel()
		err = errors.Join(err, svc.Close(cut))
	}()

	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.addr)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: site(svc, o), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	// A browser resends by itself what dies on a kept-alive connection, such as the one that brought the page: a
	// refusal would never be seen as one.
	server.SetKeepAlivesEnabled(!o.faults)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	if _, err := io.WriteString(stdout, o.greeting(address(listener.Addr()))); err != nil {
		return errors.Join(err, server.Close())
	}

	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	interrupted()
	logger.Info("shutting down")
	within, cancel := context.WithTimeout(context.Background(), graceful)
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- svc.Close(within) }()
	rest, cancelRest := context.WithTimeout(context.Background(), graceful+closeWithin)
	defer cancelRest()
	err = server.Shutdown(rest)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	return errors.Join(err, <-closed)
}

// greeting is what is said at the start: where the server is and, once they are built, the documents.
func (o *options) greeting(at string) string {
	said := "turnwire-dev listening on " + at + "\n"
	if _, err := os.Stat(filepath.Join(o.docs, "index.html")); err == nil {
		said += "documentation at " + at + "docs/\n"
	}
	return said
}

// address is where a browser on this machine finds the server.
func address(at net.Addr) string {
	tcp, ok := at.(*net.TCPAddr)
	if !ok {
		return at.String()
	}
	host := "127.0.0.1"
	if !tcp.IP.IsUnspecified() {
		host = tcp.IP.String()
	}
	return "http://" + net.JoinHostPort(host, fmt.Sprint(tcp.Port)) + "/"
}
