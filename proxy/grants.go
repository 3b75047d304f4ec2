package proxy

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// A Store remembers, for all proxies that share it, whose each chat and each file is. Its methods are called by many
// goroutines at once.
type Store interface {
	// Put says that a thing belongs to a caller, for so long from now on. It replaces what was said before.
	Put(ctx context.Context, thing, caller string, keep time.Duration) error
	// Owner gives the caller that a thing belongs to, "" where nobody is known, and keeps that known for so long from now on.
	Owner(ctx context.Context, thing string, keep time.Duration) (caller string, err error)
	// Ping tells whether the store can be reached; readiness follows it.
	Ping(ctx context.Context) error
}

// grants tells which chats and files are a caller's.
type grants interface {
	// give makes a thing the caller's, and returns the identifier that he gets for it.
	give(ctx context.Context, of kind, caller, id string) (shown string, err error)
	// take gives back the service's identifier, or a *refusal.
	take(ctx context.Context, of kind, caller, shown string) (id string, err error)
}

func unknown(of kind) *refusal {
	return refuse(http.StatusNotFound, string(of)+"_not_found", "there is no such "+string(of)+" of this caller")
}

// macSize is what is kept of an HMAC-SHA-256, in bytes: 128 bits can't be guessed (RFC 2104, section 5).
const macSize = 16

// secrets sign: the first one new things, any of them checks.
type secrets [][]byte

// mac signs a list of texts under a purpose. Each goes in with its length, so that no two lists are signed as the same.
func mac(secret []byte, purpose string, texts ...string) []byte {
	h := hmac.New(sha256.New, secret)
	for _, text := range append([]string{"turnwire-proxy 1 " + purpose}, texts...) {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(text)))
		h.Write(length[:])
		h.Write([]byte(text))
	}
	return h.Sum(nil)[:macSize]
}

func (s secrets) sign(purpose string, texts ...string) []byte { return mac(s[0], purpose, texts...) }

// signed tells whether one of the secrets signed it.
func (s secrets) signed(sum []byte, purpose string, texts ...string) bool {
	ok := false
	for _, secret := range s {
		ok = hmac.Equal(sum, mac(secret, purpose, texts...)) || ok
	}
	return ok
}

// encoding is that of all that is signed: letters that a path, a header and a cookie take as they are. Strict, so that
// no other text says the same.
var encoding = base64.RawURLEncoding.Strict()

func decode(text string) ([]byte, error) {
	// The decoder leaves line ends out.
	if strings.ContainsAny(text, "\r\n") {
		return nil, base64.CorruptInputError(strings.IndexAny(text, "\r\n"))
	}
	return encoding.DecodeString(text)
}

// sealed puts the right to a thing into its identifier: ID.SEAL, where the seal is the time at which it expires, in
// seconds since 1970 as 40 bits, and the signature of kind, caller, identifier and time. Nobody remembers anything.
type sealed struct {
	secrets secrets
	keep    time.Duration
	now     func() time.Time
}

const timeSize = 5

func (s sealed) give(_ context.Context, of kind, caller, id string) (string, error) {
	if len(id) > maxSegment/2 {
		return "", fmt.Errorf("an identifier of %d bytes, at most %d can be sealed", len(id), maxSegment/2)
	}
	var until [8]byte
	binary.BigEndian.PutUint64(until[:], uint64(s.now().Add(s.keep).Unix()))
	seal := until[8-timeSize:]
	return id + "." + encoding.EncodeToString(append(seal, s.secrets.sign(string(of), caller, id, string(seal))...)), nil
}

func (s sealed) take(_ context.Context, of kind, caller, shown string) (string, error) {
	dot := strings.LastIndexByte(shown, '.')
	if dot < 0 {
		return "", unknown(of)
	}
	seal, err := decode(shown[dot+1:])
	if err != nil || len(seal) != timeSize+macSize {
		return "", unknown(of)
	}
	id, until := shown[:dot], seal[:timeSize]
	if !s.secrets.signed(seal[timeSize:], string(of), caller, id, string(until)) {
		return "", unknown(of)
	}
	if expires := binary.BigEndian.Uint64(append(make([]byte, 8-timeSize), until...)); uint64(s.now().Unix()) >= expires {
		return "", refuse(http.StatusNotFound, string(of)+"_expired", "the time for which this "+string(of)+" could be used is over")
	}
	return id, nil
}

// stored leaves identifiers as they are, and asks a store.
type stored struct {
	store Store
	keep  time.Duration
}

func thing(of kind, id string) string { return string(of) + ":" + id }

func (s stored) give(ctx context.Context, of kind, caller, id string) (string, error) {
	// The service has made the thing already: who leaves now may come back for it.
	return id, s.store.Put(context.WithoutCancel(ctx), thing(of, id), caller, s.keep)
}

func (s stored) take(ctx context.Context, of kind, caller, shown string) (string, error) {
	owner, err := s.store.Owner(ctx, thing(of, shown), s.keep)
	switch {
	case err != nil:
		return "", &refusal{status: http.StatusServiceUnavailable, code: "store_unavailable",
			message: "whose this is can't be told at the moment", after: time.Second, cause: err}
	case owner == "" || owner != caller:
		return "", unknown(of)
	}
	return shown, nil
}
