package library

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite", without cgo
)

// readingTime is what taking the text out of one file may last.
const readingTime = time.Minute

// File is one file to index. ContentType tells what it is; where it is empty or
// application/octet-stream, the name's extension does, and then the bytes.
type File struct {
	WorkspaceID, ID   string
	Name, ContentType string
	Content           io.ReaderAt
	Size              int64 // bytes
}

// Library is the index. Its methods may be called at the same time.
type Library struct{ db *sql.DB }

// ErrUnreadable is in the error of a file whose text can't be had. The error's message says why, for
// the one who uploaded it.
var ErrUnreadable = errors.New("the file can't be read")

// A file's passages are one range of rowids, so that forgetting it needs no search.
const schema = `
CREATE TABLE IF NOT EXISTS files (
	id INTEGER PRIMARY KEY, workspace_id TEXT NOT NULL, file_id TEXT NOT NULL, name TEXT NOT NULL,
	first INTEGER NOT NULL, last INTEGER NOT NULL, UNIQUE (workspace_id, file_id)
);
CREATE VIRTUAL TABLE IF NOT EXISTS passages USING fts5 (
	file UNINDEXED, number UNINDEXED, page UNINDEXED, name, text,
	tokenize = 'porter unicode61 remove_diacritics 2'
);
`

// Open opens the index in a database file, and makes it where there is none; "" keeps it in memory.
func Open(path string) (*Library, error) {
	name := ":memory:"
	if path != "" {
		pragmas := url.Values{"_pragma": {"journal_mode(WAL)", "busy_timeout(5000)", "synchronous(NORMAL)"}}
		name = (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: pragmas.Encode()}).String()
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

// Add takes the text out of a file and indexes it, in place of what was indexed under the same ID. The
// error is ErrUnreadable where the text can't be had; the index is then as it was. A file takes memory of a
// few times its size: the caller settles how many are added at the same time.
func (l *Library) Add(ctx context.Context, f File) error {
	found, err := read(ctx, f)
	if err != nil {
		return err
	}
	return l.write(ctx, func(tx *sql.Tx) error {
		if err := remove(ctx, tx, f.WorkspaceID, f.ID); err != nil {
			return err
		}
		var last int64
		if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(rowid), 0) FROM passages`).Scan(&last); err != nil {
			return err
		}
		added, err := tx.ExecContext(ctx, `INSERT INTO files (workspace_id, file_id, name, first, last) VALUES (?, ?, ?, ?, ?)`,
			f.WorkspaceID, f.ID, f.Name, last+1, last+int64(len(found)))
		if err != nil {
			return err
		}
		file, err := added.LastInsertId()
		if err != nil {
			return err
		}
		insert, err := tx.PrepareContext(ctx, `INSERT INTO passages (rowid, file, number, page, name, text) VALUES (?, ?, ?, ?, ?, ?)`)
		if err != nil {
			return err
		}
		defer insert.Close()
		for i, p := range found {
			if _, err := insert.ExecContext(ctx, last+int64(i)+1, file, i+1, p.page, segment(f.Name), segment(p.text)); err != nil {
				return err
			}
		}
		return nil
	})
}

// read takes the passages out of a file, within the time that a file gets.
func read(ctx context.Context, f File) ([]passage, error) {
	within, cancel := context.WithTimeout(ctx, readingTime)
	defer cancel()
	blocks, err := extract(within, f)
	found := passages(blocks)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case within.Err() != nil:
		return nil, unreadable("reading it took longer than %s", readingTime)
	case err == nil && len(found) == 0:
		return nil, unreadable("it holds no text")
	}
	return found, err
}

// Remove forgets a file. One that is not there is no error.
func (l *Library) Remove(ctx context.Context, workspaceID, fileID string) error {
	return l.write(ctx, func(tx *sql.Tx) error { return remove(ctx, tx, workspaceID, fileID) })
}

func remove(ctx context.Context, tx *sql.Tx, workspaceID, fileID string) error {
	for _, statement := range []string{
		`DELETE FROM passages WHERE rowid BETWEEN (SELECT first FROM files WHERE workspace_id = ?1 AND file_id = ?2)
			AND (SELECT last FROM files WHERE workspace_id = ?1 AND file_id = ?2)`,
		`DELETE FROM files WHERE workspace_id = ?1 AND file_id = ?2`,
	} {
		if _, err := tx.ExecContext(ctx, statement, workspaceID, fileID); err != nil {
			return err
		}
	}
	return nil
}

// HasFiles tells whether anything is indexed in a workspace.
func (l *Library) HasFiles(ctx context.Context, workspaceID string) (bool, error) {
	var has bool
	err := l.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM files WHERE workspace_id = ?)`, workspaceID).Scan(&has)
	return has, stopped(ctx, err)
}

func (l *Library) write(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return stopped(ctx, err)
	}
	if err := f(tx); err != nil {
		return stopped(ctx, errors.Join(err, tx.Rollback()))
	}
	return stopped(ctx, tx.Commit())
}

// stopped gives the context's error where that is behind err: what an interrupted statement says differs.
func stopped(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func unreadable(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrUnreadable, fmt.Errorf(format, args...))
}
