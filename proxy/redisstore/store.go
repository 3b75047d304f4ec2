// Package redisstore keeps whose chats and files are in Redis, for proxies that share it: see proxy.Config.Store.
package redisstore

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// Store is a proxy.Store. Every owner is a key of its own, which Redis forgets when its time is over.
type Store struct {
	client redis.UniversalClient
	prefix string
}

// New makes a store of a client, whose owner closes it. The prefix, such as "turnwire:", keeps its keys apart from others.
func New(client redis.UniversalClient, prefix string) *Store { return &Store{client, prefix} }

// Put is SET with an expiry.
func (s *Store) Put(ctx context.Context, thing, caller string, keep time.Duration) error {
	return s.client.Set(ctx, s.prefix+thing, caller, keep).Err()
}

// Owner is GETEX: it reads, and lets the time begin anew.
func (s *Store) Owner(ctx context.Context, thing string, keep time.Duration) (string, error) {
	caller, err := s.client.GetEx(ctx, s.prefix+thing, keep).Result()
	if errors.Is(err, redis.Nil) {
		return "", nil
	}
	return caller, err
}

// Ping asks the server.
func (s *Store) Ping(ctx context.Context) error { return s.client.Ping(ctx).Err() }
