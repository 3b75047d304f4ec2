package blobstore

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strings"
	"time"
)

// Prefix is the path under which a store answers.
const Prefix = "/storage/"

const (
	signVersion = "2024-11-04"
	signFor     = "rcw"
)

// azureAddress signs as a shared access signature looks. The signature is the store's own: its key is
// nobody's account key.
func (s *Store) azureAddress(name string, expires time.Time) string {
	q := url.Values{"sv": {signVersion}, "se": {stamp(expires)}, "sr": {"b"}, "sp": {signFor}}
	q.Set("sig", s.signature("azure", name, q.Get("sv"), q.Get("se"), q.Get("sr"), q.Get("sp")))
	return Prefix + name + "?" + q.Encode()
}

// plainAddress signs for one PUT of the whole.
func (s *Store) plainAddress(name string, expires time.Time) string {
	q := url.Values{"expires": {stamp(expires)}}
	q.Set("signature", s.signature("plain", name, q.Get("expires")))
	return Prefix + name + "?" + q.Encode()
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999Z") }

func (s *Store) signature(parts ...string) string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(strings.Join(parts, "\n")))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// access is what an address allows.
type access struct {
	plain       bool
	permissions string
}

func (s *Store) check(name string, q url.Values) (access, *storageError) {
	var a access
	var given, want, until string
	switch {
	case q.Has("sig"):
		given, until, a.permissions = q.Get("sig"), q.Get("se"), q.Get("sp")
		want = s.signature("azure", name, q.Get("sv"), until, q.Get("sr"), a.permissions)
	case q.Has("signature"):
		given, until, a.plain, a.permissions = q.Get("signature"), q.Get("expires"), true, signFor
		want = s.signature("plain", name, until)
	default:
		return a, failure(403, "AuthenticationFailed", "the address is not signed")
	}
	if !hmac.Equal([]byte(given), []byte(want)) {
		return a, authentication("Signature did not match")
	}
	expires, err := time.Parse(time.RFC3339, until)
	if err != nil {
		return a, authentication("the expiry time is not well formed")
	}
	if now := s.cfg.Now(); !now.Before(expires) {
		return a, authentication("Signature not valid in the specified time frame: Expiry [" + stamp(expires) + "] - Current [" + stamp(now) + "]")
	}
	return a, nil
}

func authentication(detail string) *storageError {
	e := failure(403, "AuthenticationFailed", "Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly including the signature.")
	e.Detail = detail
	return e
}
