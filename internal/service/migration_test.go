package service_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-76f09577/turnwire/internal/service"
)

// database runs statements on the database of a folder, beside whatever program has it open.
func database(t *testing.T, dir, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "turnwire.db"))
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec(statements)
	require.NoError(t, err)
}

// TestMigration starts with a database as the first published program left it: testdata/version-0.sql is never changed.
func TestMigration(t *testing.T) {
	dir := t.TempDir()
	first, err := os.ReadFile(filepath.Join("testdata", "version-0.sql"))
	require.NoError(t, err)
	digest := sha256.Sum256([]byte(message("third")))
	database(t, dir, strings.ReplaceAll(string(first), "DIGEST", hex.EncodeToString(digest[:])))

	var earlier []service.Exchange
	onDisk := func(cfg *service.Config) {
		cfg.Dir = dir
		cfg.Agent = script(func(ctx context.Context, m service.Message, to service.Sink) error {
			earlier = m.Earlier
			return to.Emit(ctx, service.TextDelta, map[string]string{"chunk": fmt.Sprint("Answer ", m.Number)})
		})
	}
	s := serve(t, onDisk)
	replayed := s.send("chat_1", "key-3", "third").whole()
	require.Equal(t, "Three.", text(t, replayed, service.TextDelta))
	var statuses []string
	for _, turn := range s.turns() {
		statuses = append(statuses, turn.Status)
	}
	require.Equal(t, []string{"completed", "interrupted", "completed"}, statuses)
	_, file := s.call("GET", "/v1/files/file_1", "")
	require.Contains(t, file, `"status":"ready"`)
	s.send("chat_1", "key-4", "fourth").whole()
	require.Equal(t, []service.Exchange{{Text: "first"}, {Text: `sec"ond`}, {Text: "third", Answer: "Three."}}, earlier)
	s.send("chat_2", "key-1", "hello").whole()
	require.Empty(t, earlier)
	s.stop()

	again := serve(t, onDisk)
	require.Equal(t, replayed, again.send("chat_1", "key-3", "third").whole())
	again.send("chat_1", "key-5", "fifth").whole()
	require.Equal(t, service.Exchange{Text: "fourth", Answer: "Answer 4"}, earlier[3])
	again.stop()

	database(t, dir, "PRAGMA user_version = 1000")
	_, err = service.New(t.Context(), service.Config{Keys: []string{"k"}, Workspaces: []string{"w"}, Agents: map[string]string{"a": "m"}, Agent: script(nil), Dir: dir})
	require.ErrorContains(t, err, "turnwire.db has version 1000")
}

// TestBackup copies the database while turns run, as docs/self-hosting.md says.
func TestBackup(t *testing.T) {
	dir, copied := t.TempDir(), t.TempDir()
	s := serve(t, func(cfg *service.Config) { cfg.Dir = dir })
	chat := s.chat()
	done := s.send(chat, "done", "count to 3").whole()
	running := s.send(chat, "running", "count to 3", "X-Fault", forEver)
	running.next()
	database(t, dir, "VACUUM INTO '"+filepath.Join(copied, "turnwire.db")+"'")

	restored := serve(t, func(cfg *service.Config) { cfg.Dir = copied })
	require.Equal(t, done, restored.send(chat, "done", "count to 3").whole())
	require.Empty(t, restored.send(chat, "running", "count to 3").whole())
	require.Equal(t, http.StatusOK, restored.send(chat, "next", "count to 2").resp.StatusCode)
}
