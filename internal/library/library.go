package library

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"

	_ "modernc.org/sqlite" // the driver "sqlite", without cgo
)

// File is one file to index. Name and ContentType tell what it is; an empty ContentType or
// application/octet-stream leaves it to the name's extension, and then to the bytes.
type File struct {
	WorkspaceID, ID   string
	Name, ContentType string
	Content           io.ReaderAt
	Size              int64 // bytes
}

// Passage is a piece of a file, about a paragraph long.
type Passage struct {
	FileID string `json:"file_id"`
	File   string `json:"file"`           // its name
	Page   int    `json:"page,omitempty"` // from 1; 0 where the format has no pages
	Number int    `json:"passage"`        // within the file, from 1
	Text   string `json:"text"`
	// Score is BM25's, larger for a better match. It compares the passages of one search only.
	Score float64 `json:"score"`
}

// Library is the index. Its methods may be called at the same time.
type Library struct{ db *sql.DB }

// ErrUnreadable is in the error of a file whose text can't be had; the message says why, for people.
var ErrUnreadable = errors.New("the file can't be read")

const schema = `
CREATE VIRTUAL TABLE IF NOT EXISTS passages USING fts5 (
	workspace_id UNINDEXED, file_id UNINDEXED, page UNINDEXED, number UNINDEXED, name, text,
	tokenize = 'porter unicode61 remove_diacritics 2'
);
`

// Open opens the index in a database file, and makes it where there is none; "" keeps it in memory.
func Open(path string) (*Library, error) {
	name := ":memory:"
	if path != "" {
		name = "file:" + path + "?_pragma=journal_mode(WAL)&_pragma=busy_timeout(5000)&_pragma=synchronous(NORMAL)"
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	// A second connection to a database in memory would see an empty one.
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(schema); err != nil {
		return nil, errors.Join(fmt.Errorf("create the index: %w", err), db.Close())
	}
	return &Library{db: db}, nil
}

// Close closes the index.
func (l *Library) Close() error { return l.db.Close() }

// Add takes the text out of a file and indexes it, in place of what was indexed under the same ID.
// A file whose text can't be had leaves the index as it was; the error is ErrUnreadable then.
func (l *Library) Add(ctx context.Context, f File) error {
	return errors.New("not yet")
}

// Remove forgets a file. One that is not there is no error.
func (l *Library) Remove(ctx context.Context, workspaceID, fileID string) error {
	_, err := l.db.ExecContext(ctx, `DELETE FROM passages WHERE workspace_id = ? AND file_id = ?`, workspaceID, fileID)
	return err
}

// Files tells the names of a workspace's indexed files, in alphabetical order.
func (l *Library) Files(ctx context.Context, workspaceID string) ([]string, error) {
	return nil, errors.New("not yet")
}

// Search finds the passages that match what a person typed, best first, at most limit. Words that say
// nothing are left out; every text is a valid query.
func (l *Library) Search(ctx context.Context, workspaceID, query string, limit int) ([]Passage, error) {
	return nil, errors.New("not yet")
}
