// Command proxy measures what the proxy adds to a stream, beside none and beside nginx, which adds the same header:
// `go run ./bench/proxy [-turns 2000] [-streams 1000]`. All run on this machine, in rotated order.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-76f09577/turnwire/proxy"
)

const (
	key    = "key-of-the-bench"
	events = 50
	body   = `{"parts":[{"type":"text","text":"hi"}]}`
)

func main() {
	turns := flag.Int("turns", 2000, "turns one after another")
	streams := flag.Int("streams", 1000, "streams at once")
	flag.Parse()
	if err := run(*turns, *streams); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type side struct {
	name, address, token string
	first                []time.Duration
}

func run(turns, streams int) error {
	svc := httptest.NewServer(http.HandlerFunc(answer))
	defer svc.Close()
	secret := bytes.Repeat([]byte("s"), 32)
	tokens, err := proxy.NewTokens(time.Hour, secret)
	if err != nil {
		return err
	}
	p, err := proxy.New(proxy.Config{Service: svc.URL, Key: key, Workspaces: map[string][]string{"demo": {"assistant"}}, Secrets: [][]byte{secret},
		Authorize: tokens.Authorize, Rate: 1e9, Burst: 1e9, Streams: 1e6})
	if err != nil {
		return err
	}
	front := httptest.NewServer(p)
	defer front.Close()
	sides := []*side{{name: "direct", address: svc.URL, token: key}, {name: "turnwire-proxy", address: front.URL, token: tokens.Issue("alice")}}
	if address, stop, err := nginx(svc.URL); err != nil {
		fmt.Println("without nginx:", err)
	} else {
		defer stop()
		sides = append(sides, &side{name: "nginx", address: address, token: "none"})
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: streams}}
	chats := map[*side]string{}
	for _, s := range sides {
		chat, err := s.chat(client)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		chats[s] = chat
	}
	for i := range turns {
		for j := range sides {
			s := sides[(i+j)%len(sides)]
			first, err := s.turn(client, chats[s])
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			s.first = append(s.first, first)
		}
	}
	fmt.Printf("%d turns one after another, first byte: ms, median and 99 %%\n", turns)
	for _, s := range sides {
		slices.Sort(s.first)
		fmt.Printf("  %-15s %.3f  %.3f\n", s.name, ms(s.first[turns/2]), ms(s.first[turns*99/100]))
	}
	added := s50(sides[1]) - s50(sides[0])
	fmt.Printf("  the proxy adds %.3f at the median (at most 2)\n", ms(added))
	fmt.Printf("%d streams at once, of %d events: all of them, in ms\n", streams, events)
	for _, s := range sides {
		started := time.Now()
		var all sync.WaitGroup
		failed := make(chan error, streams)
		for range streams {
			all.Go(func() {
				if _, err := s.turn(client, chats[s]); err != nil {
					failed <- err
				}
			})
		}
		all.Wait()
		close(failed)
		fmt.Printf("  %-15s %.0f, %d lost\n", s.name, ms(time.Since(started)), len(failed))
	}
	if added > 2*time.Millisecond {
		return fmt.Errorf("the first byte comes %v later than without the proxy", added)
	}
	return nil
}

func ms(d time.Duration) float64  { return float64(d) / 1e6 }
func s50(s *side) time.Duration   { return s.first[len(s.first)/2] }
func flush(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }

// answer is a service that has nothing to think of.
func answer(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+key {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if !strings.HasSuffix(r.URL.Path, "/messages") {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"chat_id":"c"}`)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	for range events {
		_, _ = io.WriteString(w, "data: {\"type\":\"text_delta\",\"data\":{\"chunk\":\"word \"}}\n\n")
		flush(w)
	}
	_, _ = io.WriteString(w, "data: {\"type\":\"turn_complete\",\"data\":{}}\n\n")
}

func (s *side) post(client *http.Client, path, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.address+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", "k")
	return client.Do(r)
}

func (s *side) chat(client *http.Client) (string, error) {
	res, err := s.post(client, "/v1/workspaces/demo/chats", `{"agent_id":"assistant"}`)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return strings.TrimSuffix(strings.TrimPrefix(string(text), `{"chat_id":"`), `"}`), err
}

// turn reads one to its end, and gives the time to its first byte.
func (s *side) turn(client *http.Client, chat string) (time.Duration, error) {
	started := time.Now()
	res, err := s.post(client, "/v1/chats/"+chat+"/messages", body)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	if _, err := io.ReadFull(res.Body, make([]byte, 1)); err != nil {
		return 0, err
	}
	first := time.Since(started)
	rest, err := io.ReadAll(res.Body)
	if err == nil && bytes.Count(rest, []byte("data:")) != events || !bytes.HasSuffix(rest, []byte("turn_complete\",\"data\":{}}\n\n")) {
		err = fmt.Errorf("a stream of %d bytes, status %d", len(rest)+1, res.StatusCode)
	}
	return first, err
}

// nginx starts one that adds the key and buffers nothing.
func nginx(service string) (address string, stop func(), err error) {
	program, err := exec.LookPath("nginx")
	if err != nil {
		return "", nil, err
	}
	folder, err := os.MkdirTemp("", "turnwire-bench-")
	if err != nil {
		return "", nil, err
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	at := free.Addr().String()
	if err := free.Close(); err != nil {
		return "", nil, err
	}
	config := filepath.Join(folder, "nginx.conf")
	text := fmt.Sprintf(`daemon off; worker_processes auto; pid %[1]s/pid; error_log %[1]s/log;
events { worker_connections 8192; }
http {
  access_log off; client_body_temp_path %[1]s/a; proxy_temp_path %[1]s/b; fastcgi_temp_path %[1]s/c; uwsgi_temp_path %[1]s/d; scgi_temp_path %[1]s/e;
  upstream service { server %[2]s; keepalive 256; }
  server { listen %[3]s backlog=4096; location /v1/ {
    proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Authorization "Bearer %[4]s"; proxy_buffering off;
  } }
}`, folder, strings.TrimPrefix(service, "http://"), at, key)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return "", nil, err
	}
	server := exec.Command(program, "-c", config, "-p", folder)
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = server.Process.Signal(os.Interrupt)
		_ = server.Wait()
		_ = os.RemoveAll(folder)
	}
	for range 500 {
		conn, err := net.Dial("tcp", at)
		if err == nil {
			return "http://" + at, stop, conn.Close()
		}
		time.Sleep(10 * time.Millisecond)
	}
	stop()
	return "", nil, fmt.Errorf("nginx does not answer")
}
