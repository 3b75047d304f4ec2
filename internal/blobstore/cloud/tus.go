package cloud

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/seed-76f09577/turnwire/internal/service"
)

// Tus is a server of resumable uploads, https://tus.io/protocols/resumable-upload. The service makes the
// upload, so that it knows where the bytes are; the page gets its address.
type Tus struct{ place }

// NewTus takes the URL at which the server makes uploads.
func NewTus(files, public string) (*Tus, error) {
	p, err := newPlace(files, public)
	if err != nil {
		return nil, err
	}
	return &Tus{p}, nil
}

var version = []string{"Tus-Resumable", "1.0.0"}

// Begin makes an upload of the announced size.
func (s *Tus) Begin(ctx context.Context, o service.Object, _ service.Grant) (string, error) {
	headers := append([]string{
		"Upload-Length", strconv.FormatInt(o.Size, 10),
		"Upload-Metadata", "filename " + base64.StdEncoding.EncodeToString([]byte(o.ID)) + ",filetype " + base64.StdEncoding.EncodeToString([]byte(o.ContentType)),
	}, version...)
	resp, err := s.do(ctx, http.MethodPost, s.at.String(), nil, []int{http.StatusCreated}, headers...)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	made, err := resp.Location()
	if err != nil {
		return "", errors.New("the store made an upload without an address")
	}
	return made.String(), nil
}

// Sign gives the upload's address. It is good until the server drops the upload, whatever the grant says.
func (s *Tus) Sign(ctx context.Context, o service.Object, _ service.Grant) (service.Ticket, error) {
	resp, err := s.do(ctx, http.MethodOptions, s.at.String(), nil, []int{http.StatusOK, http.StatusNoContent}, version...)
	if err != nil {
		return service.Ticket{}, err
	}
	defer resp.Body.Close()
	ticket := service.Ticket{Protocol: service.Tus, Method: http.MethodPatch}
	for name := range strings.SplitSeq(resp.Header.Get("Tus-Extension"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			ticket.Extensions = append(ticket.Extensions, name)
		}
	}
	ticket.UploadURL, err = s.published(o.Handle)
	return ticket, err
}

// Read asks first how far the upload is: a server may give out the bytes of one that is not whole.
func (s *Tus) Read(ctx context.Context, o service.Object) (io.ReadCloser, error) {
	resp, err := s.do(ctx, http.MethodHead, o.Handle, nil, []int{http.StatusOK, http.StatusNoContent}, version...)
	var refused *refusal
	if errors.As(err, &refused) && (refused.status == http.StatusNotFound || refused.status == http.StatusGone) {
		return nil, service.ErrNoBytes
	}
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.Header.Get("Upload-Offset") != strconv.FormatInt(o.Size, 10) {
		return nil, service.ErrNoBytes
	}
	return s.read(ctx, o.Handle)
}

func (s *Tus) Remove(ctx context.Context, o service.Object) error {
	return s.send(ctx, http.MethodDelete, o.Handle, nil, []int{http.StatusNoContent, http.StatusOK, http.StatusNotFound, http.StatusGone}, version...)
}
