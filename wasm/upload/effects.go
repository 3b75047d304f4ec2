// Package upload is one upload: its three steps, the plan of its blocks, their way into the store, its progress and its
// end (profile, "Files"). It is a machine without I/O: inputs are method calls, each with its time, effects come out as
// values, nothing waits.
package upload

import (
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
)

// Stage is where an upload is, as the JavaScript API names it.
type Stage string

// The stages of the JavaScript API. An upload that waits for the network is Paused as well.
const (
	Preparing  Stage = "preparing"
	Uploading  Stage = "uploading"
	Paused     Stage = "paused"
	Reporting  Stage = "reporting"
	Processing Stage = "processing"
	Done       Stage = "done"
	Failed     Stage = "failed"
	Aborted    Stage = "aborted"
)

// The effects of an upload, beside retry.Log, retry.SetTimer and retry.StopTimer, which are as everywhere: one timer, the
// one set last counts.
type (
	// Ask sends a request to the service: make a retry.Call of it and tell its retry.Done by Answered. There is one at
	// a time. It has timers of its own.
	Ask struct {
		Request *api.Request
		Policy  *retry.Policy
		Poll    bool // it is a part of the wait, whose own options count
	}
	// DropAsk cancels the call under way; its end is not told any more.
	DropAsk struct{}
	// Store sends a request to the store: without the key, without cookies, with the request's own headers and no
	// other. Tell StoreBegun when the bytes are read and the browser has the request, StoreProgress of what is sent,
	// StoreAlive of an answer that comes bit by bit, then StoreAnswered or StoreFailed, once. A redirect is a failure.
	Store struct {
		ID      int
		Request Request
	}
	// CancelStore lets go of that request; nothing more is told of it.
	CancelStore struct{ ID int }
	// Hash asks for bytes From to To of the data to be added to the SHA-256, by Hashed. There is one at a time, and
	// each begins where the last ended; From 0 begins a new sum, a State goes on with one that was saved. Last asks
	// for the sum itself.
	Hash struct {
		From, To int64
		State    string
		Last     bool
	}
	// Release says that no byte before it is asked for again, of data that can be read only once.
	Release struct{ Before int64 }
	// Report shows the progress.
	Report struct{ Progress Progress }
	// Save says that Record has something new to be kept under the resume key. Where the last one is still being
	// written, one write afterwards does for all that came meanwhile. One that carries the record is the last.
	Save struct{ Record []byte }
	// Forget takes the kept record away.
	Forget struct{}
	// Status shows a file's record that a poll brought.
	Status struct{ File api.File }
	// Finish is the end, and the last effect: hashing stops too.
	Finish struct{ Outcome Outcome }
)

// Outcome is how an upload ended: Done with a File, Failed with an Err, or Aborted. Untold are files of which the service
// has still to be told that they failed: make a Notice of each.
type Outcome struct {
	Stage  Stage
	Err    *api.Error
	File   api.File
	Untold []Untold
}

// Untold is a failed file, and why it failed.
type Untold struct{ FileID, Why string }

// Progress is a snapshot.
type Progress struct {
	Stage          Stage
	LoadedBytes    int64 // never goes down, and is TotalBytes when done
	TotalBytes     int64
	BlocksDone     int64
	BlocksTotal    int64 // 0 while the data is not cut
	BytesPerSecond float64
}

// Checksum says when the SHA-256 of all the data is computed.
type Checksum int

// The ways of a checksum.
const (
	NoChecksum     Checksum = iota
	ChecksumDuring          // while the blocks are sent; it travels in step 3
	ChecksumBefore          // ahead of step 1, and travels in both
	ChecksumKnown           // by the caller
)

// Config is what an upload needs to know. Times are milliseconds, 0 is no limit; sizes are bytes.
type Config struct {
	Service     string // its address
	WorkspaceID string
	Name        string
	ContentType string
	Purpose     string
	Size        int64
	// Once says that the data is a stream: it can be read only once, in order. At most Concurrency blocks are asked
	// for beyond what was released.
	Once bool

	BlockSize     int64 // 0: the service's, else 8 MiB, within the protocol's bounds
	Concurrency   int   // blocks being sent; 0: DefaultConcurrency
	BlockTries    int   // 0: DefaultBlockTries
	BlockTimeout  int64 // without progress of a block whose bytes are read
	DataTimeout   int64 // without a byte of the data while some are wanted
	ReportTimeout int64 // until the service has confirmed that the bytes are stored

	Checksum    Checksum
	KnownSum    string // hexadecimal, of ChecksumKnown; or of ChecksumDuring where it happens to be known already
	Base64      bool   // send the sum so, not as hexadecimal
	Policy      *retry.Policy
	Wait        *WaitConfig // nil: registered is done
	MapTicket   func(raw []byte) ([]byte, *api.Error)
	Resumable   bool   // a record is to be kept
	Fingerprint string // tells this data from other data of the same name and size, such as its time of change
}

// What a Config has that says 0.
const (
	DefaultConcurrency = 4
	DefaultBlockTries  = 4
)

// mostConcurrency is far more than any browser has connections for; one and a half of it fits an int of 32 bits.
const mostConcurrency = 1 << 20
