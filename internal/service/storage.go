package service

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// ErrNoBytes says that a storage has no complete object: nothing was put, or blocks without their list.
var ErrNoBytes = errors.New("no bytes were stored")

// Object is a file as a storage sees it.
type Object struct {
	// ID is the file's identifier: letters, digits, "-" and "_".
	ID          string
	ContentType string
	// Size is what the upload announced, in bytes.
	Size int64
	// Handle is what Begin returned.
	Handle string
}

// Grant says for whom and until when an address is good.
type Grant struct {
	Expires time.Time
	// Service is the origin that the page reached the service at, Page the page's own; "" where the
	// request named none.
	Service, Page string
	// Plain asks a storage that knows several forms for one PUT of the whole.
	Plain bool
}

// Ticket tells a page how to upload: the members that apply, as endpoint 4 answers them.
type Ticket struct {
	Protocol    Protocol          `json:"protocol,omitempty"`
	UploadURL   string            `json:"upload_url,omitempty"`
	Method      string            `json:"method,omitempty"`
	Headers     map[string]string `json:"headers,omitempty"`
	BlockSize   int64             `json:"block_size,omitempty"`
	Parts       []TicketPart      `json:"parts,omitempty"`
	CompleteURL string            `json:"complete_url,omitempty"`
	Extensions  []string          `json:"extensions,omitempty"`
}

// TicketPart is the address of one part, numbered from 1.
type TicketPart struct {
	PartNumber int    `json:"part_number"`
	URL        string `json:"url"`
}

// Storage is where pages put the bytes of files, without the service in between. It is safe for
// concurrent use.
type Storage interface {
	// Begin prepares for an object and returns what finds its upload again, "" where the ID is enough.
	Begin(ctx context.Context, o Object, g Grant) (handle string, err error)
	// Sign makes the addresses for an object that was begun, any number of times.
	Sign(ctx context.Context, o Object, g Grant) (Ticket, error)
	// Read returns the object's bytes, or ErrNoBytes.
	Read(ctx context.Context, o Object) (io.ReadCloser, error)
	// Remove drops the object, whether it is whole or not. Removing nothing is no error.
	Remove(ctx context.Context, o Object) error
}

// StorageServer is a Storage whose addresses are the service's own, under /storage/.
type StorageServer interface {
	Storage
	http.Handler
	// Operation tells what a request does, one of block, blocklist and blob for what writes, and to which
	// object.
	Operation(r *http.Request) (id, operation string)
	// WriteError answers a status in the storage's form.
	WriteError(w http.ResponseWriter, status int, message string)
}

// Document is a stored file on its way into the library.
type Document struct {
	WorkspaceID, ID   string
	Name, ContentType string
	Content           io.ReaderAt
	Size              int64 // bytes
}

// Library takes in the text of files, for retrieval. An error's text is shown to the file's owner. Adding
// the same file again replaces it.
type Library interface {
	Add(ctx context.Context, d Document) error
}
