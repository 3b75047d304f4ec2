package service

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// storageOperations are the own storage's operations that faults can be for. A page can put no X-Fault on
// a request to a signed address, so they are given at upload-url and remembered for its file.
var storageOperations = []string{"block", "blocklist", "blob"}

// storageFaults remembers groups of faults by file.
type storageFaults struct {
	mu     sync.Mutex
	byFile map[string][]map[string]string
}

func (m *storageFaults) remember(fileID string, f *faults) {
	if len(f.storage) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byFile == nil || len(m.byFile) >= maxCounters {
		m.byFile = map[string][]map[string]string{}
	}
	m.byFile[fileID] = f.storage
}

func (m *storageFaults) of(fileID string) []map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.byFile[fileID]
}

// faultsForStorage returns what applies to a storage's request. times and after count by operation and file.
func (s *Service) faultsForStorage(id, operation string) *faults {
	f := &faults{values: map[string]string{}}
	for i, group := range s.storageFaults.of(id) {
		if group[faultOn] == operation {
			maps.Copy(f.values, s.due(group, "storage\n"+id+"\n"+operation+"\n"+strconv.Itoa(i)))
		}
	}
	return f
}

// serveStorage puts the own storage under the service's faults and the log of /debug/storage.
func (s *Service) serveStorage(next StorageServer) http.Handler {
	if !s.cfg.Faults {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, operation := next.Operation(r)
		f := s.faultsForStorage(id, operation)
		seen := &recorder{ResponseWriter: w}
		arriving := &arrivingBody{ReadCloser: r.Body, faults: f, gone: r.Context().Done(), closing: s.closing}
		entry := s.storageLog.add(r, id, operation, arriving)
		r.Body = arriving
		answered := f.storageAnswer(seen, r, next, arriving)
		// Logged before a client can see the end.
		s.storageLog.finish(entry, seen.status)
		if !answered {
			refuse(w)
		}
	})
}

// storageAnswer lets the storage answer, or the faults that come instead; false where the connection is to
// break.
func (f *faults) storageAnswer(w http.ResponseWriter, r *http.Request, to StorageServer, body *arrivingBody) bool {
	if len(f.values) == 0 {
		to.ServeHTTP(w, r)
		return true
	}
	if !sleep(f.durationOr(faultDelay, 0), body.gone, body.closing) || f.has(faultRefuse) {
		return false
	}
	if f.has(faultStatus) {
		// A browser reads the answer only once its whole body is taken; closed before, it sees a reset.
		_, _ = io.Copy(io.Discard, body)
		if after := f.values[faultRetryAfter]; after != "" {
			w.Header().Set("Retry-After", after)
		}
		status := f.number(faultStatus)
		to.WriteError(w, status, fmt.Sprintf("status %d, as the upload asked for", status))
		return true
	}
	held := &heldAnswer{header: w.Header().Clone()}
	to.ServeHTTP(held, r)
	if body.broken || f.has(faultLost) {
		return false
	}
	held.give(w)
	return true
}

// stalledFor bounds a stall: that a client left can't be seen while nothing is read of what it sent.
const stalledFor = 10 * time.Minute

var errArrival = errors.New("the body is cut, as the upload asked for")

// arrivingBody counts a request's body as it arrives, and bends it as the faults want.
type arrivingBody struct {
	io.ReadCloser
	faults        *faults
	gone, closing <-chan struct{}
	broken        bool

	mu sync.Mutex
	n  int64
}

func (b *arrivingBody) count() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.n
}

func (b *arrivingBody) Read(p []byte) (int, error) {
	sofar := b.count()
	most := int64(b.faults.number(faultCutBytes))
	if b.faults.has(faultStallBytes) {
		most = int64(b.faults.number(faultStallBytes))
	}
	if most >= 0 {
		p = p[:min(int64(len(p)), max(0, most-sofar))]
	}
	rate := b.faults.number(faultRate)
	if rate > 0 {
		p = p[:min(len(p), rate/20+1)]
	}
	n, err := 0, error(nil)
	if len(p) > 0 {
		n, err = b.ReadCloser.Read(p)
	}
	if n > 0 && sofar == 0 && b.faults.has(faultCorrupt) {
		p[0] ^= 1
	}
	b.mu.Lock()
	b.n += int64(n)
	b.mu.Unlock()
	if most >= 0 && sofar+int64(n) >= most {
		if b.faults.has(faultStallBytes) && !b.broken {
			sleep(stalledFor, b.gone, b.closing)
		}
		b.broken = true
		return n, errArrival
	}
	if rate > 0 && !sleep(time.Duration(n)*time.Second/time.Duration(rate), b.gone, b.closing) {
		b.broken = true
		return n, errArrival
	}
	return n, err
}

// sleep waits, and tells whether nothing ended the wait before its time.
func sleep(d time.Duration, ends ...<-chan struct{}) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ends[0]:
		return false
	case <-ends[1]:
		return false
	}
}
