package redisstore_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-76f09577/turnwire/proxy"
	"github.com/seed-76f09577/turnwire/proxy/redisstore"
)

var _ proxy.Store = (*redisstore.Store)(nil)

// TestStore talks with a real server, which make test installs.
func TestStore(t *testing.T) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("there is no redis-server: scripts/apt-install redis-server=redis-server")
		}
		t.Skip("there is no redis-server: scripts/apt-install redis-server=redis-server")
	}
	// A socket of the test's own needs no port.
	socket := filepath.Join(t.TempDir(), "redis.sock")
	server := exec.Command(program, "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", filepath.Dir(socket))
	require.NoError(t, server.Start())
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: socket, MaxRetries: -1})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	require.Eventually(t, func() bool {
		conn, err := net.Dial("unix", socket)
		return err == nil && conn.Close() == nil
	}, 30*time.Second, 10*time.Millisecond)

	store := redisstore.New(client, "t:")
	require.NoError(t, store.Ping(t.Context()))
	caller, err := store.Owner(t.Context(), "chat:c", time.Hour)
	require.NoError(t, err)
	assert.Empty(t, caller)
	require.NoError(t, store.Put(t.Context(), "chat:c", "alice", time.Hour))
	assert.Greater(t, client.TTL(t.Context(), "t:chat:c").Val(), 59*time.Minute)
	caller, err = store.Owner(t.Context(), "chat:c", 2*time.Hour)
	require.NoError(t, err)
	assert.Equal(t, "alice", caller)
	assert.Greater(t, client.TTL(t.Context(), "t:chat:c").Val(), 119*time.Minute, "its time begins anew")
	require.NoError(t, server.Process.Kill())
	_ = server.Wait()
	_, err = store.Owner(t.Context(), "chat:c", time.Hour)
	assert.Error(t, err)
	assert.Error(t, store.Put(t.Context(), "chat:c", "alice", time.Hour))
	assert.Error(t, store.Ping(t.Context()))
}
