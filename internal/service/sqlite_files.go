package service

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"
)

func (j *sqlite) saveFile(ctx context.Context, f *file) error {
	report, err := json.Marshal(f.report)
	if err != nil {
		return err
	}
	stamp := func(t time.Time) string { return t.Format(time.RFC3339Nano) }
	return j.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			f.id, f.workspace, f.name, f.size, f.contentType, f.purpose, f.checksum, string(f.status), f.error,
			string(report), f.handle, stamp(f.expires), stamp(f.created), stamp(f.updated))
		return err
	})
}

func (j *sqlite) loadFiles(ctx context.Context) ([]*file, error) {
	var files []*file
	err := j.each(ctx, `SELECT file_id, workspace_id, name, size, content_type, purpose, checksum, status, error,
		report, handle, expires, created, updated FROM files`, func(rows *sql.Rows) error {
		f := &file{}
		var report, expires, created, updated string
		if err := rows.Scan(&f.id, &f.workspace, &f.name, &f.size, &f.contentType, &f.purpose, &f.checksum, &f.status, &f.error,
			&report, &f.handle, &expires, &created, &updated); err != nil {
			return err
		}
		for _, stamp := range []struct {
			text string
			to   *time.Time
		}{{expires, &f.expires}, {created, &f.created}, {updated, &f.updated}} {
			at, err := time.Parse(time.RFC3339Nano, stamp.text)
			if err != nil {
				return err
			}
			*stamp.to = at
		}
		files = append(files, f)
		return json.Unmarshal([]byte(report), &f.report)
	})
	if err != nil {
		return nil, fmt.Errorf("files: %w", err)
	}
	return files, nil
}
