package proxy_test

import (
	"context"
	"sync"
	"time"
)

// memory is a store for one process.
type memory struct{ owners sync.Map }

func (m *memory) Put(_ context.Context, thing, caller string, _ time.Duration) error {
	m.owners.Store(thing, caller)
	return nil
}

func (m *memory) Owner(_ context.Context, thing string, _ time.Duration) (string, error) {
	caller, _ := m.owners.Load(thing)
	name, _ := caller.(string)
	return name, nil
}

func (m *memory) Ping(context.Context) error { return nil }

// broken is a store that can be away.
type broken struct {
	memory
	err error
}

func (b *broken) Put(ctx context.Context, thing, caller string, keep time.Duration) error {
	if b.err != nil {
		return b.err
	}
	return b.memory.Put(ctx, thing, caller, keep)
}

func (b *broken) Owner(ctx context.Context, thing string, keep time.Duration) (string, error) {
	if b.err != nil {
		return "", b.err
	}
	return b.memory.Owner(ctx, thing, keep)
}

func (b *broken) Ping(context.Context) error { return b.err }
