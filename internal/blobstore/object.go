package blobstore

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed-76f09577/turnwire/internal/service"
)

// block is a run of bytes in a file of its own. ID is as the client gave it, decoded; a blob that was put
// whole is one block without one.
type block struct {
	ID   string `json:"id"`
	File string `json:"file"`
	Size int64  `json:"size"`
}

// manifest is what an object's folder says about its committed bytes; it changes by rename, so that a
// crash leaves the old or the new one.
type manifest struct {
	Blocks      []block   `json:"blocks"`
	ContentType string    `json:"content_type"`
	Modified    time.Time `json:"modified"`
	ETag        string    `json:"etag"`
	// Upto is the number of the newest file that was there when the list was committed: older ones that it
	// does not name are dropped.
	Upto int `json:"upto"`
}

const (
	manifestName = "manifest.json"
	sealName     = "sealed"
	maxBlocks    = 50_000
)

// object is one blob: the blocks staged for it and those committed.
type object struct {
	dir string

	mu        sync.Mutex
	staged    map[string]block
	committed *manifest
	// newest numbers the files, so that a block sent again never writes over one that is being read.
	newest  int
	sealed  bool
	removed bool
}

var (
	errSealed    = errors.New("the object is closed to writes")
	errRemoved   = errors.New("the object was removed")
	errLength    = errors.New("block identifiers differ in length")
	errBlockList = errors.New("the list names a block that is not there")
)

// loadObject reads an object's folder. A staged block's file is its number and its identifier in hex.
func loadObject(dir string) (*object, error) {
	o := &object{dir: dir, staged: map[string]block{}}
	committed := map[string]bool{}
	encoded, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err == nil {
		o.committed = &manifest{}
		if err := json.Unmarshal(encoded, o.committed); err != nil {
			return nil, fmt.Errorf("%s: %w", manifestName, err)
		}
		o.newest = o.committed.Upto
		for _, b := range o.committed.Blocks {
			committed[b.File] = true
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	numbers := map[string]int{}
	for _, entry := range entries {
		name := entry.Name()
		if name == sealName {
			o.sealed = true
		}
		if name == sealName || name == manifestName || committed[name] {
			continue
		}
		number, id, ok := parseFile(name)
		info, err := entry.Info()
		if err != nil {
			return nil, err
		}
		upto := 0
		if o.committed != nil {
			upto = o.committed.Upto
		}
		if !ok || number <= upto || number < numbers[id] {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return nil, err
			}
			continue
		}
		if older, ok := o.staged[id]; ok {
			if err := os.Remove(filepath.Join(dir, older.File)); err != nil {
				return nil, err
			}
		}
		numbers[id] = number
		o.newest = max(o.newest, number)
		o.staged[id] = block{ID: id, File: name, Size: info.Size()}
	}
	return o, nil
}

func parseFile(name string) (number int, id string, ok bool) {
	first, second, found := strings.Cut(name, "-")
	number, err := strconv.Atoi(first)
	decoded, errID := hex.DecodeString(second)
	return number, string(decoded), found && err == nil && errID == nil && len(decoded) > 0
}

// receive streams size bytes into a file that has no name in the object yet.
func (o *object) receive(body io.Reader, size int64) (path string, err error) {
	file, err := os.CreateTemp(o.dir, "incoming-")
	if errors.Is(err, fs.ErrNotExist) {
		return "", errRemoved
	}
	if err != nil {
		return "", err
	}
	n, err := io.Copy(file, body)
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), nil
}

func (o *object) writable() error {
	switch {
	case o.removed:
		return errRemoved
	case o.sealed:
		return errSealed
	}
	return nil
}

// stage is Put Block: a block under an identifier, in place of an earlier one that no list names.
func (o *object) stage(id string, body io.Reader, size int64) error {
	o.mu.Lock()
	err := o.stageable(id)
	o.mu.Unlock()
	if err != nil {
		return err
	}
	path, err := o.receive(body, size)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.stageable(id); err != nil {
		return errors.Join(err, remove(path))
	}
	o.newest++
	name := strconv.Itoa(o.newest) + "-" + hex.EncodeToString([]byte(id))
	if err := os.Rename(path, filepath.Join(o.dir, name)); err != nil {
		return err
	}
	older, again := o.staged[id]
	o.staged[id] = block{ID: id, File: name, Size: size}
	if again {
		return os.Remove(filepath.Join(o.dir, older.File))
	}
	return nil
}

func (o *object) stageable(id string) error {
	if err := o.writable(); err != nil {
		return err
	}
	for other := range o.staged {
		if len(other) != len(id) {
			return errLength
		}
		break
	}
	if o.committed != nil && len(o.committed.Blocks) > 0 {
		if other := o.committed.Blocks[0].ID; other != "" && len(other) != len(id) {
			return errLength
		}
	}
	return nil
}

// put is Put Blob: the whole object at once. Staged blocks are dropped.
func (o *object) put(body io.Reader, size int64, contentType string, now time.Time) (*manifest, error) {
	o.mu.Lock()
	err := o.writable()
	o.mu.Unlock()
	if err != nil {
		return nil, err
	}
	path, err := o.receive(body, size)
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.writable(); err != nil {
		return nil, errors.Join(err, remove(path))
	}
	o.newest++
	name := strconv.Itoa(o.newest)
	if err := os.Rename(path, filepath.Join(o.dir, name)); err != nil {
		return nil, err
	}
	return o.write([]block{{File: name, Size: size}}, contentType, now)
}

// listed is one entry of a block list: an identifier and where to look for it.
type listed struct{ id, where string }

// commit is Put Block List: the object becomes the listed blocks, all others are dropped.
func (o *object) commit(list []listed, contentType string, now time.Time) (*manifest, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.writable(); err != nil {
		return nil, err
	}
	committed := map[string]block{}
	if o.committed != nil {
		for _, b := range o.committed.Blocks {
			committed[b.ID] = b
		}
	}
	blocks := make([]block, 0, len(list))
	for _, entry := range list {
		b, ok := o.staged[entry.id]
		if !ok && entry.where == "Latest" || entry.where == "Committed" {
			b, ok = committed[entry.id]
		}
		if !ok || entry.id == "" {
			return nil, errBlockList
		}
		blocks = append(blocks, b)
	}
	return o.write(blocks, contentType, now)
}

// write makes blocks the object's content and drops every other file. o.mu must be held.
func (o *object) write(blocks []block, contentType string, now time.Time) (*manifest, error) {
	m := &manifest{Blocks: blocks, ContentType: contentType, Modified: now.UTC(), Upto: o.newest,
		ETag: fmt.Sprintf(`"0x%X"`, now.UnixNano())}
	encoded, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	fresh := filepath.Join(o.dir, "fresh-manifest")
	if err := os.WriteFile(fresh, encoded, 0o600); err != nil {
		return nil, err
	}
	if err := os.Rename(fresh, filepath.Join(o.dir, manifestName)); err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for _, b := range blocks {
		used[b.File] = true
	}
	dropped := slices.Collect(maps.Values(o.staged))
	if o.committed != nil {
		dropped = append(dropped, o.committed.Blocks...)
	}
	o.staged, o.committed = map[string]block{}, m
	for _, b := range dropped {
		if used[b.File] {
			continue
		}
		used[b.File] = true
		if err := os.Remove(filepath.Join(o.dir, b.File)); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// seal closes the object to writes, for good.
func (o *object) seal() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.removed || o.sealed {
		return nil
	}
	o.sealed = true
	return os.WriteFile(filepath.Join(o.dir, sealName), nil, 0o600)
}

// open returns the committed bytes.
func (o *object) open() (*reader, *manifest, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.removed || o.committed == nil {
		return nil, nil, service.ErrNoBytes
	}
	return newReader(o.dir, o.committed.Blocks), o.committed, nil
}

func (o *object) remove() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.removed = true
	return os.RemoveAll(o.dir)
}

// remove takes a file away that may be gone with its object.
func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
