package proxy

import (
	"crypto/rand"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Tokens are what callers show: signed, expiring, and kept by nobody but them. A page's own server, which knows who is
// logged in, issues one and gives it to the page:
//
//	base64url(CALLER) "." EXPIRY "." base64url(SIGNATURE)
//
// EXPIRY is in seconds since 1970. Tokens are safe for concurrent use.
type Tokens struct {
	secrets secrets
	keep    time.Duration
	now     func() time.Time
}

// NewTokens makes tokens that are good for so long, signed as Config.Secrets says.
func NewTokens(keep time.Duration, signing ...[]byte) (*Tokens, error) {
	switch {
	case keep <= 0:
		return nil, &FieldError{"keep", "must be longer than 0"}
	case len(signing) == 0:
		return nil, &FieldError{"signing", "must hold at least one secret"}
	}
	for _, secret := range signing {
		if len(secret) < leastSecret {
			return nil, &FieldError{"signing", "must have at least " + strconv.Itoa(leastSecret) + " bytes each"}
		}
	}
	return &Tokens{secrets: signing, keep: keep, now: time.Now}, nil
}

// Issue makes a token for a caller.
func (t *Tokens) Issue(caller string) string {
	until := strconv.FormatInt(t.now().Add(t.keep).Unix(), 10)
	return encoding.EncodeToString([]byte(caller)) + "." + until + "." + encoding.EncodeToString(t.secrets.sign("caller", caller, until))
}

var (
	errNoToken      = errors.New("there is no token")
	errInvalidToken = errors.New("the token is not valid")
	errExpiredToken = errors.New("the token has expired")
)

// Caller gives the name that a token is for.
func (t *Tokens) Caller(token string) (string, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", errInvalidToken
	}
	name, err := decode(parts[0])
	sum, failed := decode(parts[2])
	if err != nil || failed != nil || !t.secrets.signed(sum, "caller", string(name), parts[1]) {
		return "", errInvalidToken
	}
	if until, err := strconv.ParseInt(parts[1], 10, 64); err != nil || t.now().Unix() >= until {
		return "", errExpiredToken
	}
	return string(name), nil
}

// visitorCookie is sent over HTTPS alone, and by no page of another site; no script reads it.
const visitorCookie = "__Host-turnwire"

// Authorize is for Config: it takes the token from the header Authorization, where a page's client puts what its option
// apiKey gives, else from the cookie that Visit sets.
func (t *Tokens) Authorize(r *http.Request) (string, error) {
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return "", errInvalidToken
		}
		return t.Caller(token)
	}
	cookies := r.CookiesNamed(visitorCookie)
	if len(cookies) != 1 {
		return "", errNoToken
	}
	return t.Caller(cookies[0].Value)
}

// Visit is an endpoint for pages whose visitors have no names, to be asked by POST before the proxy is used: it gives the
// browser a cookie with a token of t for a caller that is nobody else, or for the one that it has been, so that the time
// begins anew. It answers pages of Config.Origins alone.
func (p *Proxy) Visit(t *Tokens) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Add("Vary", "Origin")
		if r.Method != http.MethodPost {
			(&refusal{status: http.StatusMethodNotAllowed, code: "method_not_allowed", message: "this endpoint takes POST", allow: "POST"}).write(w)
			return
		}
		if problem := p.admit(h, r); problem != nil {
			problem.write(w)
			return
		}
		caller := "visitor-" + rand.Text()
		if cookies := r.CookiesNamed(visitorCookie); len(cookies) == 1 {
			if known, err := t.Caller(cookies[0].Value); err == nil {
				caller = known
			}
		}
		http.SetCookie(w, &http.Cookie{
			Name: visitorCookie, Value: t.Issue(caller), Path: "/", MaxAge: int(t.keep.Seconds()),
			Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		})
		w.WriteHeader(http.StatusNoContent)
	}
}
