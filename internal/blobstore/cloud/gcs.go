package cloud

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/seed-76f09577/turnwire/internal/service"
)

// statusClosed is Google's answer to the cancelling of a resumable upload.
const statusClosed = 499

// GCS is a bucket of Google Cloud Storage, by its JSON API and without credentials: a server that asks for
// none, such as an emulator. The service starts a resumable upload for the page, whose address is all that
// the page gets.
type GCS struct {
	place
	upload, object string
}

// NewGCS opens a bucket by its URL.
func NewGCS(bucket, public string) (*GCS, error) {
	p, err := newPlace(bucket, public)
	if err != nil {
		return nil, err
	}
	origin, name, err := p.bucket()
	if err != nil {
		return nil, err
	}
	const api = "/storage/v1/b/"
	return &GCS{place: p, upload: origin + "/upload" + api + name + "/o", object: origin + api + name + "/o/"}, nil
}

// Begin starts the resumable upload, for the origin of the page: a bucket answers no other one.
func (s *GCS) Begin(ctx context.Context, o service.Object, g service.Grant) (string, error) {
	query := url.Values{"uploadType": {"resumable"}, "name": {o.ID}}
	headers := []string{"X-Upload-Content-Type", o.ContentType, "X-Upload-Content-Length", strconv.FormatInt(o.Size, 10)}
	if g.Page != "" {
		headers = append(headers, "Origin", g.Page)
	}
	resp, err := s.do(ctx, http.MethodPost, s.upload+"?"+query.Encode(), nil, []int{http.StatusOK, http.StatusCreated}, headers...)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	session, err := resp.Location()
	if err != nil {
		return "", errors.New("the store began an upload without an address")
	}
	return session.String(), nil
}

// Sign gives the upload's address, which is good for a week whatever the grant says.
func (s *GCS) Sign(_ context.Context, o service.Object, _ service.Grant) (service.Ticket, error) {
	address, err := s.published(o.Handle)
	return service.Ticket{Protocol: service.GCSResumable, UploadURL: address, Method: http.MethodPut}, err
}

func (s *GCS) Read(ctx context.Context, o service.Object) (io.ReadCloser, error) {
	return s.read(ctx, s.object+url.PathEscape(o.ID)+"?alt=media")
}

// Remove cancels the upload, which a complete one does not mind, and drops the object.
func (s *GCS) Remove(ctx context.Context, o service.Object) error {
	gone := []int{http.StatusOK, http.StatusNoContent, http.StatusNotFound, http.StatusGone, statusClosed}
	return errors.Join(
		s.send(ctx, http.MethodDelete, o.Handle, nil, gone),
		s.send(ctx, http.MethodDelete, s.object+url.PathEscape(o.ID), nil, gone),
	)
}
