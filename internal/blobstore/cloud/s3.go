package cloud

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/seed-76f09577/turnwire/internal/service"
)

// S3's limits: parts of an object, and the bytes of each but the last. usualPart is the size without a wish.
const (
	maxParts    = 10_000
	leastPart   = 5 << 20
	usualPart   = 8 << 20
	unsigned    = "UNSIGNED-PAYLOAD"
	longestSign = 7 * 24 * time.Hour
)

// S3 is a bucket of S3 or of a store that speaks it, addressed by path. Every part has an address of its
// own, and so has the request that puts them together.
type S3 struct {
	place
	key      aws.Credentials
	region   string
	partSize int64
	signer   *v4.Signer
	now      func() time.Time
}

// NewS3 opens a bucket by its URL. A partSize of 0 is 8 MiB.
func NewS3(bucket, public, accessKey, secret, region string, partSize int64) (*S3, error) {
	p, err := newPlace(bucket, public)
	if err != nil {
		return nil, err
	}
	if _, _, err := p.bucket(); err != nil {
		return nil, err
	}
	if accessKey == "" || secret == "" || region == "" {
		return nil, errors.New("AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION must be set")
	}
	if partSize == 0 {
		partSize = usualPart
	}
	if partSize < leastPart {
		return nil, fmt.Errorf("the block size must be at least %d bytes for S3", leastPart)
	}
	return &S3{
		place: p, key: aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: secret}, region: region, partSize: partSize,
		// S3 signs the path as it is sent.
		signer: v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }),
		now:    time.Now,
	}, nil
}

// sign makes an address for one request at an origin, which the signature covers.
func (s *S3) sign(ctx context.Context, origin *url.URL, method, id string, query url.Values, expires time.Time) (string, error) {
	now := s.now()
	seconds := int64(min(max(expires.Sub(now), time.Second), longestSign) / time.Second)
	query.Set("X-Amz-Expires", strconv.FormatInt(seconds, 10))
	address := &url.URL{Scheme: origin.Scheme, Host: origin.Host, Path: s.at.Path + "/" + id, RawQuery: query.Encode()}
	r, err := http.NewRequestWithContext(ctx, method, address.String(), nil)
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	signed, _, err := s.signer.PresignHTTP(ctx, s.key, r, unsigned, "s3", s.region, now)
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	return signed, nil
}

func (s *S3) own(ctx context.Context, method, id string, query url.Values) (string, error) {
	return s.sign(ctx, s.at, method, id, query, s.now().Add(serviceFor))
}

// partSizeOf grows the size of parts until there are not too many.
func (s *S3) partSizeOf(size int64) int64 {
	const step = 1 << 20
	least := (size + maxParts - 1) / maxParts
	return max(s.partSize, (least+step-1)/step*step)
}

// Begin starts a multipart upload. The handle is its part size, which must not change, and its identifier.
func (s *S3) Begin(ctx context.Context, o service.Object, _ service.Grant) (string, error) {
	address, err := s.own(ctx, http.MethodPost, o.ID, url.Values{"uploads": {""}})
	if err != nil {
		return "", err
	}
	resp, err := s.do(ctx, http.MethodPost, address, nil, []int{http.StatusOK}, "Content-Type", o.ContentType)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var answer struct {
		UploadID string `xml:"UploadId"`
	}
	if err := xml.NewDecoder(resp.Body).Decode(&answer); err != nil || answer.UploadID == "" {
		return "", errors.New("the store began an upload without an identifier")
	}
	return strconv.FormatInt(s.partSizeOf(o.Size), 10) + " " + answer.UploadID, nil
}

func upload(o service.Object) (partSize int64, id string, err error) {
	first, id, _ := strings.Cut(o.Handle, " ")
	partSize, err = strconv.ParseInt(first, 10, 64)
	if err != nil || partSize <= 0 || id == "" {
		return 0, "", errors.New("the file was begun in another store")
	}
	return partSize, id, nil
}

func (s *S3) Sign(ctx context.Context, o service.Object, g service.Grant) (service.Ticket, error) {
	partSize, id, err := upload(o)
	if err != nil {
		return service.Ticket{}, err
	}
	ticket := service.Ticket{Protocol: service.S3Multipart, BlockSize: partSize}
	// An empty object is one empty part.
	count := max(1, int((o.Size+partSize-1)/partSize))
	for number := 1; number <= count; number++ {
		query := url.Values{"partNumber": {strconv.Itoa(number)}, "uploadId": {id}}
		address, err := s.sign(ctx, s.public, http.MethodPut, o.ID, query, g.Expires)
		if err != nil {
			return service.Ticket{}, err
		}
		ticket.Parts = append(ticket.Parts, service.TicketPart{PartNumber: number, URL: address})
	}
	ticket.CompleteURL, err = s.sign(ctx, s.public, http.MethodPost, o.ID, url.Values{"uploadId": {id}}, g.Expires)
	return ticket, err
}

func (s *S3) Read(ctx context.Context, o service.Object) (io.ReadCloser, error) {
	address, err := s.own(ctx, http.MethodGet, o.ID, url.Values{})
	if err != nil {
		return nil, err
	}
	return s.read(ctx, address)
}

// Remove drops the parts of an upload that was not completed, and the object of one that was.
func (s *S3) Remove(ctx context.Context, o service.Object) error {
	_, id, err := upload(o)
	if err != nil {
		return err
	}
	for _, query := range []url.Values{{"uploadId": {id}}, {}} {
		address, err := s.own(ctx, http.MethodDelete, o.ID, query)
		if err != nil {
			return err
		}
		if err := s.send(ctx, http.MethodDelete, address, nil, []int{http.StatusNoContent, http.StatusOK, http.StatusNotFound}); err != nil {
			return err
		}
	}
	return nil
}
