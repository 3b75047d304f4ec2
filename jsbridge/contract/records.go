package contract

import (
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/turn"
	"github.com/seed-76f09577/turnwire/wasm/upload"
)

// The words that both sides know, in the packages that decide what they mean.
type (
	ErrorKind = api.Kind
	EventKind = turn.EventKind
	Status    = turn.Status
	Stage     = upload.Stage
)

// Protocol is one of upload.Protocols, or "".
type Protocol string

// ClientConfig is what the requests of one client share.
type ClientConfig struct {
	Base    string // absolute, without a slash at the end
	Host    string // where that is: scheme, name and port, and the path "/"
	Headers []Header
	Key     string // "" where there is none, or AskKey asks for it
	AsksKey bool
	Logs    bool // somebody listens to Record
}

// Limits are those of one request; times are milliseconds, 0 is no limit.
type Limits struct {
	Headers    []Header
	MaxRetries int
	Timeout    int64
}

// ChatParams are CreateChat's.
type ChatParams struct {
	Limits
	WorkspaceID string
	AgentID     string
	IsTemporary *bool
}

// AbortParams are AbortChat's.
type AbortParams struct {
	Limits
	ChatID string
}

// FileParams are GetFile's.
type FileParams struct {
	Limits
	FileID string
}

// ReportParams are ReportFailed's.
type ReportParams struct {
	Limits
	FileID string
	Why    string
}

// WaitLimits are those of polling a file, in milliseconds.
type WaitLimits struct {
	Limits
	Interval    int64
	MaxInterval int64
	WaitTimeout int64
}

// WaitParams are WaitFile's.
type WaitParams struct {
	WaitLimits
	FileID string
}

// TurnParams are StartTurn's.
type TurnParams struct {
	Limits
	ChatID      string
	Parts       string // the message, a JSON array
	Model       string // "" for the agent's own
	Key         string // the idempotency key
	IdleTimeout int64
	Replay      bool
}

// UploadParams are StartUpload's. Sizes are bytes.
type UploadParams struct {
	Limits
	WorkspaceID   string
	Name          string
	ContentType   string
	Purpose       string // "" for none
	Size          int64
	Once          bool  // the data can be read only once, in order
	BlockSize     int64 // 0 for the service's
	Concurrency   int
	BlockTries    int
	BlockTimeout  int64
	DataTimeout   int64
	ReportTimeout int64
	Checksum      int    // one of the Checksum constants
	KnownSum      string // hexadecimal; "" where it is not known
	Base64        bool   // send the sum so, not as hexadecimal
	Wait          *WaitLimits
	Maps          bool // MapTicket is asked
	Resumable     bool
	Fingerprint   string // tells the data from other data of the same name and size
	Record        string // what an earlier page kept; "" where it kept nothing
}

// The ways of UploadParams.Checksum.
const (
	ChecksumNone   = int(upload.NoChecksum)
	ChecksumDuring = int(upload.ChecksumDuring)
	ChecksumBefore = int(upload.ChecksumBefore)
	ChecksumKnown  = int(upload.ChecksumKnown)
)

// Head is the head of an answer; a header that is missing is "".
type Head struct {
	Status      int
	ContentType string
	RequestID   string
	RetryAfter  string
}

// FetchParams are a request to the service. It follows no redirect and is answered from no cache.
type FetchParams struct {
	URL       string
	Method    string
	Headers   []Header
	Body      *string
	Keepalive bool
}

// LogRecord is one for the caller's log; Fields is an object of strings and numbers.
type LogRecord struct {
	Level   string
	Message string
	Fields  JSON
}

// Error becomes one of the API's classes, which is its kind.
type Error struct {
	Kind       ErrorKind
	Code       string
	Message    string
	Retryable  bool
	Status     int    `json:",omitempty"`
	RequestID  string `json:",omitempty"`
	RetryAfter *int64 // milliseconds
	Body       JSON   `json:",omitempty"` // of a refusal
	Data       JSON   `json:",omitempty"` // of a turn's error event
	Stage      Stage  `json:",omitempty"`
	FileID     string `json:",omitempty"`
	Block      *int64
	Stored     bool `json:",omitempty"`
	File       *File
}

// File is a file's record; Raw is what the service sent, {} where it sent none.
type File struct {
	ID       string
	Status   string
	Name     string `json:",omitempty"`
	Size     *int64
	Checksum string `json:",omitempty"`
	Raw      JSON
}

// CallEnd is an error, or what was asked for.
type CallEnd struct {
	Error *Error
	Chat  *Chat
	File  *File
}

// Chat is a new chat; Raw is what the service sent.
type Chat struct {
	ID  string
	Raw JSON
}

// TurnEnd is how a turn ended; Data is turn_complete's.
type TurnEnd struct {
	Status Status
	Error  *Error
	Data   JSON `json:",omitempty"`
}

// UploadEnd is how an upload ended.
type UploadEnd struct {
	Stage Stage
	Error *Error
	File  *File
}

// StoreRequest goes to the store: without the key, without cookies, with these headers and no other.
type StoreRequest struct {
	Method  string
	URL     string // absolute, or relative to the client's base
	Headers []Header
	From    int64 // the bytes of the data that are sent
	To      int64
	Body    string   // sent where no bytes are
	Want    []string // the answer's headers that are needed, in lower case
}

// StoreAnswer is an answer of the store: of its headers those that were wanted, as far as CORS shows them.
type StoreAnswer struct {
	Status  int
	Headers []Header
	Body    string // its beginning
}

// HashRange is to be added to a SHA-256.
type HashRange struct {
	From  int64
	To    int64
	State string // to go on with, in hexadecimal; "" where it is the sum's first range or follows the last one
	Last  bool   // the sum is wanted
}

// HashState is how far a SHA-256 has come. Sum is "" but after the last range.
type HashState struct {
	At    int64
	State string
	Sum   string
}

// Progress is an upload's. BytesPerSecond is 0 while no bytes move; FileID and Protocol are "" while they are not known.
type Progress struct {
	Stage          Stage
	LoadedBytes    int64
	TotalBytes     int64
	BlocksDone     int64
	BlocksTotal    int64
	BytesPerSecond int64
	FileID         string
	Protocol       Protocol
}
