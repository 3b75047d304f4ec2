package blobstore

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sort"
	"sync"
)

// reader reads the blocks of an object as one run of bytes. It holds one file open at a time: an object
// may have 50,000 blocks.
type reader struct {
	dir    string
	blocks []block
	starts []int64
	size   int64
	pos    int64

	mu   sync.Mutex
	file *os.File
	at   int
}

func newReader(dir string, blocks []block) *reader {
	r := &reader{dir: dir, blocks: blocks, at: -1}
	for _, b := range blocks {
		r.starts = append(r.starts, r.size)
		r.size += b.Size
	}
	return r
}

// Size is the object's, in bytes.
func (r *reader) Size() int64 { return r.size }

func (r *reader) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errors.New("blobstore: negative offset")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for n < len(p) {
		if off >= r.size {
			return n, io.EOF
		}
		// The last block that starts at or before off; an empty one before it starts there too.
		i := sort.Search(len(r.starts), func(i int) bool { return r.starts[i] > off }) - 1
		if i != r.at {
			if r.file != nil {
				_ = r.file.Close()
			}
			file, err := os.Open(filepath.Join(r.dir, r.blocks[i].File))
			if err != nil {
				r.file, r.at = nil, -1
				return n, err
			}
			r.file, r.at = file, i
		}
		inside := off - r.starts[i]
		want := min(int64(len(p)-n), r.blocks[i].Size-inside)
		read, err := r.file.ReadAt(p[n:n+int(want)], inside)
		n += read
		off += int64(read)
		if int64(read) < want {
			return n, errors.Join(io.ErrUnexpectedEOF, err)
		}
	}
	return n, nil
}

func (r *reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := r.ReadAt(p, r.pos)
	r.pos += int64(n)
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func (r *reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file, r.at = nil, -1
	return err
}
