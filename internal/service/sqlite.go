package service

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite", without cgo
)

// sqlite is the journal in a folder: one database file, turnwire.db.
type sqlite struct{ db *sql.DB }

// migrations make a database's tables what this program needs, each from what those before it left. Its user_version
// counts those that it has had. What was published is never changed, so that data of every version is taken over.
var migrations = []string{
	// The first tables, in databases that count no versions yet. Events are kept in batches, one row for what a turn
	// appended between two moments that matter.
	`CREATE TABLE IF NOT EXISTS chats (
		chat_id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL, agent_id TEXT NOT NULL,
		created TEXT NOT NULL, messages INTEGER NOT NULL, recent TEXT NOT NULL
	);
	CREATE TABLE IF NOT EXISTS turns (
		seq INTEGER PRIMARY KEY AUTOINCREMENT, turn_id TEXT NOT NULL UNIQUE, chat_id TEXT NOT NULL,
		idempotency_key TEXT NOT NULL, digest TEXT NOT NULL, model TEXT NOT NULL,
		created TEXT NOT NULL, status TEXT NOT NULL, tools TEXT NOT NULL,
		UNIQUE (chat_id, idempotency_key)
	);
	CREATE TABLE IF NOT EXISTS events (
		turn_id TEXT NOT NULL, first INTEGER NOT NULL, batch TEXT NOT NULL, PRIMARY KEY (turn_id, first)
	);
	CREATE TABLE IF NOT EXISTS files (
		file_id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL, name TEXT NOT NULL, size INTEGER NOT NULL,
		content_type TEXT NOT NULL, purpose TEXT NOT NULL, checksum TEXT NOT NULL, status TEXT NOT NULL, error TEXT NOT NULL,
		report TEXT NOT NULL, handle TEXT NOT NULL, expires TEXT NOT NULL, created TEXT NOT NULL, updated TEXT NOT NULL
	)`,
	// A chat remembers its answers beside its messages.
	`UPDATE chats SET recent = (
		SELECT json_group_array(json_object('text', value) ORDER BY key) FROM json_each(recent)
	) WHERE json_type(recent) = 'array'`,
}

func openSQLite(ctx context.Context, dir string) (*sqlite, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "turnwire.db")+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(5000)&_pragma=synchronous(NORMAL)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	j := &sqlite{db: db}
	if err := j.migrate(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	// They ran when the last program ended.
	if _, err := db.ExecContext(ctx, `UPDATE turns SET status = ? WHERE status = ?`, statusInterrupted, statusRunning); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return j, nil
}

// migrate brings the tables up to date, each step whole or not at all.
func (j *sqlite) migrate(ctx context.Context) error {
	var had int
	if err := j.db.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&had); err != nil {
		return fmt.Errorf("read the version of turnwire.db: %w", err)
	}
	if had > len(migrations) {
		return fmt.Errorf("turnwire.db has version %d, and this program knows %d at most: start the newer one that wrote it", had, len(migrations))
	}
	for i, step := range migrations[had:] {
		now := had + i + 1
		err := j.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, fmt.Sprintf("%s; PRAGMA user_version = %d", step, now))
			return err
		})
		if err != nil {
			return fmt.Errorf("bring turnwire.db to version %d: %w", now, err)
		}
	}
	return nil
}

func (j *sqlite) close() error { return j.db.Close() }

// write runs f in one transaction, to its end even when the client that asked has left.
func (j *sqlite) write(ctx context.Context, f func(ctx context.Context, tx *sql.Tx) error) error {
	ctx = context.WithoutCancel(ctx)
	tx, err := j.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(ctx, tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func (j *sqlite) saveChat(ctx context.Context, c *chat) error {
	return j.write(ctx, func(ctx context.Context, tx *sql.Tx) error { return putChat(ctx, tx, c) })
}

func putChat(ctx context.Context, tx *sql.Tx, c *chat) error {
	recent, err := json.Marshal(c.recent)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO chats VALUES (?, ?, ?, ?, ?, ?)`,
		c.id, c.workspace, c.agent, c.created.Format(time.RFC3339Nano), c.messages, string(recent))
	return err
}

func (j *sqlite) startTurn(ctx context.Context, c *chat, t *turn) error {
	return j.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := putChat(ctx, tx, c); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO turns (turn_id, chat_id, idempotency_key, digest, model, created, status, tools)
			VALUES (?, ?, ?, ?, ?, ?, ?, '[]')`,
			t.id, t.chatID, t.key, t.digest, t.model, t.created.Format(time.RFC3339Nano), string(statusRunning))
		return err
	})
}

func (j *sqlite) saveTurn(ctx context.Context, t *turn, now status, first int, events []Event) error {
	tools, err := json.Marshal(t.toolRuns())
	if err != nil {
		return err
	}
	batch, err := encodeJSON(events)
	if err != nil {
		return err
	}
	return j.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if len(events) > 0 {
			if _, err := tx.ExecContext(ctx, `INSERT INTO events VALUES (?, ?, ?)`, t.id, first, string(batch)); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `UPDATE turns SET status = ?, tools = ? WHERE turn_id = ?`, string(now), string(tools), t.id)
		return err
	})
}

func (j *sqlite) deleteTurn(ctx context.Context, turnID string) error {
	return j.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM events WHERE turn_id = ?1; DELETE FROM turns WHERE turn_id = ?1`, turnID)
		return err
	})
}

func (j *sqlite) load(ctx context.Context) ([]*chat, []*turn, error) {
	var chats []*chat
	err := j.each(ctx, `SELECT chat_id, workspace_id, agent_id, created, messages, recent FROM chats`, func(rows *sql.Rows) error {
		c := &chat{turns: map[string]*turn{}}
		var created, recent string
		err := rows.Scan(&c.id, &c.workspace, &c.agent, &created, &c.messages, &recent)
		if err != nil {
			return err
		}
		if c.created, err = time.Parse(time.RFC3339Nano, created); err != nil {
			return err
		}
		chats = append(chats, c)
		return json.Unmarshal([]byte(recent), &c.recent)
	})
	if err != nil {
		return nil, nil, fmt.Errorf("chats: %w", err)
	}

	events := map[string][]Event{}
	err = j.each(ctx, `SELECT turn_id, batch FROM events ORDER BY turn_id, first`, func(rows *sql.Rows) error {
		var id, batch string
		var read []Event
		if err := rows.Scan(&id, &batch); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(batch), &read); err != nil {
			return err
		}
		events[id] = append(events[id], read...)
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("events: %w", err)
	}

	var turns []*turn
	err = j.each(ctx, `SELECT turn_id, chat_id, idempotency_key, digest, model, created, status, tools FROM turns ORDER BY seq`, func(rows *sql.Rows) error {
		var id, chatID, key, digest, model, created, ended, tools string
		if err := rows.Scan(&id, &chatID, &key, &digest, &model, &created, &ended, &tools); err != nil {
			return err
		}
		at, err := time.Parse(time.RFC3339Nano, created)
		if err != nil {
			return err
		}
		var ran []toolRun
		if err := json.Unmarshal([]byte(tools), &ran); err != nil {
			return err
		}
		turns = append(turns, pastTurn(id, chatID, key, digest, model, at, status(ended), events[id], ran))
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("turns: %w", err)
	}
	return chats, turns, nil
}

func (j *sqlite) each(ctx context.Context, query string, row func(*sql.Rows) error) error {
	rows, err := j.db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
