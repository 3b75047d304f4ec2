// Package cloud puts files into real stores: the service signs addresses there, and pages upload to them.
// Each store is a [service.Storage]: [Azure] Blob Storage, [S3] and what speaks it, [GCS], [Tus].
//
// Signing is left to libraries that the stores' makers keep; what the service itself asks of a store is a
// plain request to an address that it signed for itself.
package cloud

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seed-76f09577/turnwire/internal/service"
)

// serviceFor is how long an address is good for that the service signs for itself.
const serviceFor = 15 * time.Minute

// quoted is what an error says of an answer's body, in bytes.
const quoted = 500

// place is where a store is: for the service, and for pages, which may reach it by another origin.
type place struct {
	at     *url.URL
	public *url.URL
	client *http.Client
}

// newPlace reads a store's address. public is an origin, or "" where pages have no other.
func newPlace(address, public string) (place, error) {
	at, err := parse(address)
	if err != nil {
		return place{}, fmt.Errorf("the store's address %w", err)
	}
	at.Path = strings.TrimSuffix(at.Path, "/")
	p := place{at: at, public: at, client: &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}}
	if public != "" {
		if p.public, err = parse(public); err != nil {
			return place{}, fmt.Errorf("the public origin %w", err)
		}
		if p.public.Path != "" && p.public.Path != "/" {
			return place{}, errors.New("the public origin must be scheme://host:port, without a path")
		}
	}
	return p, nil
}

func parse(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.User != nil {
		return nil, errors.New("must be an http or https URL without a query")
	}
	return u, nil
}

// bucket splits an address into the store's and the one name in its path.
func (p place) bucket() (origin, name string, err error) {
	name = strings.TrimPrefix(p.at.Path, "/")
	if name == "" || strings.Contains(name, "/") {
		return "", "", errors.New("the store's address must end in the name of a bucket, as in http://host/bucket")
	}
	return p.at.Scheme + "://" + p.at.Host, name, nil
}

// Close lets go of the connections to the store.
func (p place) Close() error {
	p.client.CloseIdleConnections()
	return nil
}

// published is an address of the store as pages reach it.
func (p place) published(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", errors.New("the store gave an address that is none")
	}
	u = p.at.ResolveReference(u)
	u.Scheme, u.Host = p.public.Scheme, p.public.Host
	return u.String(), nil
}

// do sends a request; headers are name, value, name, value … An answer of another status than those wanted
// is an error. The caller closes the body.
func (p place) do(ctx context.Context, method, address string, body []byte, want []int, headers ...string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s: the address is none", method)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := p.client.Do(r)
	if err != nil {
		// The error quotes the address, whose signature must get into no log.
		var of *url.Error
		if errors.As(err, &of) {
			err = of.Err
		}
		return nil, fmt.Errorf("%s %s: %w", method, r.URL.Path, err)
	}
	for _, status := range want {
		if resp.StatusCode == status {
			return resp, nil
		}
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(resp.Body, quoted))
	return nil, &refusal{resp.StatusCode, fmt.Sprintf("%s %s: the store answered %s: %s", method, r.URL.Path, resp.Status, said)}
}

// refusal is an answer that was not wanted.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

// send is do for a request whose answer has nothing to read.
func (p place) send(ctx context.Context, method, address string, body []byte, want []int, headers ...string) error {
	resp, err := p.do(ctx, method, address, body, want, headers...)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// read gets an object's bytes; one that is not there has none.
func (p place) read(ctx context.Context, address string) (io.ReadCloser, error) {
	resp, err := p.do(ctx, http.MethodGet, address, nil, []int{http.StatusOK})
	var refused *refusal
	if errors.As(err, &refused) && refused.status == http.StatusNotFound {
		return nil, service.ErrNoBytes
	}
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}
