package blobstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/seed-76f09577/turnwire/internal/service"
)

// Config says where a store keeps its bytes. The zero value is usable.
type Config struct {
	// Dir keeps the bytes, and the key that signs addresses, over a restart; "" takes a new folder under
	// the system's temporary one, which Close removes.
	Dir string
	// Public is the origin (scheme://host:port) of signed addresses; "" is the one that the page reached
	// the service at, or its other loopback name (see base), PageOrigin always that one.
	Public string
	// BlockSize is the block size in bytes that tickets tell; 0 tells none.
	BlockSize int64
	// Now is the clock of expiry; nil is time.Now.
	Now func() time.Time
}

// Store is a storage and the handler of its addresses. It is safe for concurrent use. Close ends it.
type Store struct {
	cfg  Config
	dir  string
	key  []byte
	temp bool

	mu      sync.Mutex
	objects map[string]*object
}

// nameForm keeps names inside the store's folder, and out of need of escaping.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// Open opens a store and what its folder holds.
func Open(cfg Config) (*Store, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Store{cfg: cfg, dir: cfg.Dir, objects: map[string]*object{}}
	if s.dir == "" {
		dir, err := os.MkdirTemp("", "turnwire-storage-")
		if err != nil {
			return nil, fmt.Errorf("blobstore: make a temporary folder: %w", err)
		}
		s.dir, s.temp = dir, true
	}
	if err := s.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("blobstore: open %s: %w", s.dir, err), s.Close())
	}
	return s, nil
}

func (s *Store) load() error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	// An address signed before a restart must be good after it.
	path := filepath.Join(s.dir, "key")
	key, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		key = []byte(rand.Text())
		err = os.WriteFile(path, key, 0o600)
	}
	if err != nil {
		return err
	}
	s.key = key
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		o, err := loadObject(filepath.Join(s.dir, entry.Name()))
		if err != nil {
			return fmt.Errorf("object %s: %w", entry.Name(), err)
		}
		s.objects[entry.Name()] = o
	}
	return nil
}

// Close removes a temporary folder. Nothing may use the store after it.
func (s *Store) Close() error {
	if !s.temp {
		return nil
	}
	return os.RemoveAll(s.dir)
}

// Begin makes room for an object: an address is good for nothing before, nor after Remove.
func (s *Store) Begin(_ context.Context, o service.Object, _ service.Grant) (string, error) {
	if !nameForm.MatchString(o.ID) {
		return "", fmt.Errorf("blobstore: %q is no name of an object", o.ID)
	}
	dir := filepath.Join(s.dir, o.ID)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", fmt.Errorf("blobstore: make room: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[o.ID] = &object{dir: dir, staged: map[string]block{}}
	return "", nil
}

// Sign returns an address for the bytes of one object: in Azure's form, or for one plain PUT.
func (s *Store) Sign(_ context.Context, o service.Object, g service.Grant) (service.Ticket, error) {
	base := s.base(g)
	if g.Plain {
		return service.Ticket{Protocol: service.Put, Method: "PUT", UploadURL: base + s.plainAddress(o.ID, g.Expires)}, nil
	}
	return service.Ticket{Protocol: service.AzureBlock, UploadURL: base + s.azureAddress(o.ID, g.Expires), BlockSize: s.cfg.BlockSize}, nil
}

// PageOrigin as Config.Public signs addresses of the page's own origin.
const PageOrigin = "page"

// base is the origin of an address. To a page of the service's own origin it is the service's other loopback name,
// where it has one: stores are elsewhere, and a browser tells a page how much it has sent only to another origin,
// because to its own it sends cookies along.
func (s *Store) base(g service.Grant) string {
	switch {
	case s.cfg.Public != "" && s.cfg.Public != PageOrigin:
		return s.cfg.Public
	case s.cfg.Public == "" && g.Page == g.Service:
		for name, other := range map[string]string{"127.0.0.1": "localhost", "localhost": "127.0.0.1"} {
			if port, ok := strings.CutPrefix(g.Service, "http://"+name+":"); ok {
				return "http://" + other + ":" + port
			}
		}
	}
	return g.Service
}

// Read closes the object to writes, so that what was checked stays what it is, and returns its bytes, which
// are an io.ReaderAt too.
func (s *Store) Read(_ context.Context, o service.Object) (io.ReadCloser, error) {
	object := s.find(o.ID)
	if object == nil {
		return nil, service.ErrNoBytes
	}
	if err := object.seal(); err != nil {
		return nil, err
	}
	r, _, err := object.open()
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Remove drops the object and the blocks that no list names yet.
func (s *Store) Remove(_ context.Context, o service.Object) error {
	s.mu.Lock()
	object := s.objects[o.ID]
	delete(s.objects, o.ID)
	s.mu.Unlock()
	if object == nil {
		return nil
	}
	return object.remove()
}

func (s *Store) find(name string) *object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[name]
}
