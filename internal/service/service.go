package service

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// temporaryFor is how long a temporary chat outlives its last stream.
const temporaryFor = time.Hour

// Config says what a service serves. Keys, Workspaces, Agents and Agent are needed; the rest has a
// usable zero value.
type Config struct {
	// Keys are the accepted bearer keys (spec, "Authentication").
	Keys []string
	// Workspaces are the identifiers of the workspaces that exist.
	Workspaces []string
	// Agents maps the agents of every workspace to their configured models.
	Agents map[string]string
	// Models are those that a message may name; without any it may name whatever it likes.
	Models []string
	// Origins are those whose pages may use the service beside loopback ones, as ParseOrigin gives them.
	Origins []string
	// Agent answers the messages, whatever agent a chat names.
	Agent Agent
	// Pace is the time between two events of a turn.
	Pace time.Duration
	// Storage is where the bytes of files go; nil refuses uploads.
	Storage Storage
	// SignedFor is how long an upload address is good for; 0 is an hour.
	SignedFor time.Duration
	// Library takes in the text of files; with nil it is left alone.
	Library Library
	// Heartbeat is the silence after which a stream gets a comment; 0 sends none.
	Heartbeat time.Duration
	// Faults turns on faults by request and the /debug endpoints.
	Faults bool
	// Dir keeps chats, turns, idempotency records and file records on disk; "" keeps them in memory only.
	Dir string
	// MaxRunning bounds the turns that run at once, one more is answered 503; 0 is 512.
	MaxRunning int
	// MaxKept bounds what finished turns take, in bytes; 0 is 512 MiB. The oldest go first, and their
	// idempotency records with them, so that a service left running does not grow for ever.
	MaxKept int
	// Log gets one record a request and the life of every turn; nil drops them.
	Log *slog.Logger
	// Now is the clock of record times and expiry; nil is time.Now.
	Now func() time.Time
}

// Service is the reference service. It is safe for concurrent use. Close ends it.
type Service struct {
	cfg     Config
	log     *slog.Logger
	keys    [][sha256.Size]byte
	handler http.Handler
	journal journal
	debug   *debugCounts
	// storageFaults and storageLog are for tests of uploads to the own storage.
	storageFaults storageFaults
	storageLog    storageLog

	// closing is closed when turns are cut for good: whatever waits gives up.
	closing chan struct{}
	turns   sync.WaitGroup
	// working ends when the service closes, and with it the work on files, which works counts.
	working     context.Context
	stopWorking context.CancelFunc
	works       sync.WaitGroup
	processing  chan struct{}

	mu      sync.Mutex
	chats   map[string]*chat
	files   map[string]*file
	running int
	closed  bool
	kept    retention
}

// New opens a service and loads what Dir holds. A turn that was running when Dir was last written is
// interrupted: its tools may have acted, so it is never run again.
func New(ctx context.Context, cfg Config) (*Service, error) {
	switch {
	case len(cfg.Keys) == 0:
		return nil, errors.New("service: Keys must hold at least one key")
	case len(cfg.Workspaces) == 0:
		return nil, errors.New("service: Workspaces must name at least one workspace")
	case len(cfg.Agents) == 0:
		return nil, errors.New("service: Agents must name at least one agent")
	case cfg.Agent == nil:
		return nil, errors.New("service: Agent must be set")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.MaxRunning == 0 {
		cfg.MaxRunning = 512
	}
	if cfg.MaxKept == 0 {
		cfg.MaxKept = 512 << 20
	}
	if cfg.SignedFor == 0 {
		cfg.SignedFor = time.Hour
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{
		cfg:     cfg,
		log:     cfg.Log,
		journal: noJournal{},
		debug:   newDebugCounts(),
		closing: make(chan struct{}),
		chats:   map[string]*chat{},
		files:   map[string]*file{},
		kept:    retention{most: cfg.MaxKept},

		processing: make(chan struct{}, maxProcessing),
	}
	s.working, s.stopWorking = context.WithCancel(context.Background())
	for _, key := range cfg.Keys {
		if key == "" {
			return nil, errors.New("service: a key must not be empty")
		}
		s.keys = append(s.keys, sha256.Sum256([]byte(key)))
	}
	if cfg.Dir != "" {
		j, err := openSQLite(ctx, cfg.Dir)
		if err != nil {
			return nil, fmt.Errorf("service: open %s: %w", cfg.Dir, err)
		}
		s.journal = j
		if err := s.restore(ctx); err != nil {
			return nil, errors.Join(fmt.Errorf("service: restore: %w", err), j.close())
		}
	}
	s.handler = s.routes()
	return s, nil
}

// ServeHTTP answers /v1, /storage where the storage is its own, and, with faults on, /debug.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Close refuses new turns, lets the running ones go on until ctx is done, records those that are left
// as interrupted, and closes their streams. It returns when no turn runs any more.
func (s *Service) Close(ctx context.Context) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	// A file's report is answered 503 and its processing begins anew after the restart: neither is waited for.
	s.stopWorking()

	idle := make(chan struct{})
	go func() {
		s.turns.Wait()
		close(idle)
	}()
	select {
	case <-idle:
	case <-ctx.Done():
		s.mu.Lock()
		for _, c := range s.chats {
			if c.newest != nil {
				c.newest.stop(statusInterrupted)
			}
		}
		s.mu.Unlock()
		<-idle
	}
	close(s.closing)
	s.works.Wait()
	return s.journal.close()
}

// restore puts what the journal holds back into memory.
func (s *Service) restore(ctx context.Context) error {
	chats, turns, err := s.journal.load(ctx)
	if err != nil {
		return err
	}
	for _, c := range chats {
		s.chats[c.id] = c
	}
	for _, t := range turns {
		c := s.chats[t.chatID]
		if c == nil {
			continue
		}
		c.turns[t.key] = t
		c.newest = t
		s.keep(t)
	}
	// The answer is recorded with the chat's next message, and with its turn at once.
	for _, c := range chats {
		if c.newest != nil {
			c.answered(c.newest)
		}
	}
	files, err := s.journal.loadFiles(ctx)
	if err != nil {
		return err
	}
	for _, f := range files {
		s.files[f.id] = f
		if f.status == fileProcessing {
			s.process(f, &faults{})
		}
	}
	return nil
}
