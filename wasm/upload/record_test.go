package upload

import (
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/stretchr/testify/require"
)

// FuzzRecord shows that no record that was kept can stop an upload.
func FuzzRecord(f *testing.F) {
	m := New(Config{Name: "n", Size: 100, BlockSize: 10})
	m.session.ticket = &api.Ticket{FileID: "f", URL: "u?sv=1&sp=1&sig=1"}
	m.session.block, m.session.span = 10, 10
	m.session.lay()
	m.session.finish(m.session.lanes[3])
	f.Add(m.Record())
	f.Add([]byte(`{"abandoned":["a"]}`))
	f.Fuzz(func(t *testing.T, record []byte) {
		m := New(Config{Name: "n", Size: 100, BlockSize: 10, Resumable: true})
		m.Restored(0, record)
		require.True(t, m.Wants())
		m.Abort(1)
		require.NotPanics(t, func() { m.Record() })
	})
}
