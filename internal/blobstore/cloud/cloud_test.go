package cloud

import (
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-76f09577/turnwire/internal/service"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	noon       = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	accountKey = base64.StdEncoding.EncodeToString([]byte("the key of an account"))
)

func TestStoresAreChecked(t *testing.T) {
	azure := func(address, public string) error {
		_, err := NewAzure(address, public, "account", accountKey, 0)
		return err
	}
	s3 := func(address, public string) error {
		_, err := NewS3(address, public, "key", "secret", "eu-north-1", 0)
		return err
	}
	gcs := func(address, public string) error { _, err := NewGCS(address, public); return err }
	tus := func(address, public string) error { _, err := NewTus(address, public); return err }
	for name, c := range map[string]struct {
		open            func(address, public string) error
		address, public string
		says            string
	}{
		"azure":               {azure, "https://account.blob.core.windows.net/uploads", "", ""},
		"azure, emulated":     {azure, "http://127.0.0.1:10000/account/uploads/", "http://127.0.0.1:1", ""},
		"no container":        {azure, "https://account.blob.core.windows.net", "", "must end in the name of a container"},
		"with a signature":    {azure, "https://account.blob.core.windows.net/uploads?sig=x", "", "without a query"},
		"s3":                  {s3, "https://s3.eu-north-1.amazonaws.com/uploads", "", ""},
		"no bucket":           {s3, "https://s3.eu-north-1.amazonaws.com/", "", "must end in the name of a bucket"},
		"folder in a bucket":  {s3, "https://s3.eu-north-1.amazonaws.com/uploads/a", "", "must end in the name of a bucket"},
		"key in the address":  {s3, "https://key:secret@host/uploads", "", "must be an http or https URL"},
		"gcs":                 {gcs, "https://storage.googleapis.com/uploads", "", ""},
		"gs":                  {gcs, "gs://uploads", "", "must be an http or https URL"},
		"tus":                 {tus, "http://127.0.0.1/files", "https://proxy", ""},
		"nothing":             {tus, "", "", "must be an http or https URL"},
		"public is no origin": {tus, "http://127.0.0.1/files", "proxy:80", "the public origin must be"},
		"public with a path":  {tus, "http://127.0.0.1/files", "http://proxy/files", "without a path"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.open(c.address, c.public)
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.says)
		})
	}
	t.Run("credentials", func(t *testing.T) {
		for _, c := range [][2]string{{"", accountKey}, {"account", ""}, {"account", "no base64!"}} {
			_, err := NewAzure("http://host/uploads", "", c[0], c[1], 0)
			require.ErrorContains(t, err, "AZURE_STORAGE_KEY")
		}
		for _, c := range [][3]string{{"", "s", "r"}, {"k", "", "r"}, {"k", "s", ""}} {
			_, err := NewS3("http://host/uploads", "", c[0], c[1], c[2], 0)
			require.ErrorContains(t, err, "AWS_REGION")
		}
		_, err := NewS3("http://host/uploads", "", "k", "s", "r", leastPart-1)
		require.ErrorContains(t, err, "at least 5242880 bytes")
	})
}

func TestAzureAddresses(t *testing.T) {
	store, err := NewAzure("http://127.0.0.1:10000/account/uploads", "https://proxy:8443", "account", accountKey, 9)
	require.NoError(t, err)
	sign := func(id string, expires time.Time) url.Values {
		ticket, err := store.Sign(t.Context(), service.Object{ID: id}, service.Grant{Expires: expires})
		require.NoError(t, err)
		require.Equal(t, service.AzureBlock, ticket.Protocol)
		require.Equal(t, int64(9), ticket.BlockSize)
		u, err := url.Parse(ticket.UploadURL)
		require.NoError(t, err)
		require.Equal(t, "https://proxy:8443/account/uploads/"+id, u.Scheme+"://"+u.Host+u.Path)
		return u.Query()
	}
	q := sign("file_a", noon)
	require.Equal(t, "rcw", q.Get("sp"))
	require.Equal(t, "b", q.Get("sr"))
	require.Equal(t, "2026-11-21T12:00:00Z", q.Get("se"))
	require.Equal(t, "2026-11-21T12:00:01Z", sign("file_a", noon.Add(time.Millisecond)).Get("se"), "never shorter than the ticket says")
	require.Equal(t, q.Get("sig"), sign("file_a", noon).Get("sig"))
	require.NotEqual(t, q.Get("sig"), sign("file_b", noon).Get("sig"))
	require.NotContains(t, q.Encode(), url.QueryEscape(accountKey))
}

func newS3(t *testing.T, public string, partSize int64) *S3 {
	t.Helper()
	store, err := NewS3("http://127.0.0.1:7070/uploads", public, "key", "secret", "eu-north-1", partSize)
	require.NoError(t, err)
	store.now = func() time.Time { return noon }
	return store
}

func TestS3Parts(t *testing.T) {
	const mib = 1 << 20
	for name, c := range map[string]struct {
		wish, size, part int64
		count            int
	}{
		"empty":               {0, 0, 8 * mib, 1},
		"a byte":              {0, 1, 8 * mib, 1},
		"just one":            {0, 8 * mib, 8 * mib, 1},
		"a byte more":         {0, 8*mib + 1, 8 * mib, 2},
		"smallest":            {5 * mib, 11 * mib, 5 * mib, 3},
		"as many as there be": {0, 10_000 * 8 * mib, 8 * mib, 10_000},
		"too many":            {0, 10_000*8*mib + 1, 9 * mib, 8889},
		"5 TiB":               {0, 5 << 40, 525 * mib, 9987},
	} {
		t.Run(name, func(t *testing.T) {
			store := newS3(t, "", c.wish)
			part := store.partSizeOf(c.size)
			require.Equal(t, c.part, part)
			if c.count > 3 {
				require.Equal(t, int64(c.count), (c.size+part-1)/part)
				return
			}
			ticket, err := store.Sign(t.Context(), service.Object{ID: "file_a", Size: c.size, Handle: strconv.FormatInt(part, 10) + " the id"}, service.Grant{Expires: noon.Add(time.Hour)})
			require.NoError(t, err)
			require.Equal(t, c.part, ticket.BlockSize)
			require.Len(t, ticket.Parts, c.count)
			for i, p := range ticket.Parts {
				require.Equal(t, i+1, p.PartNumber)
			}
		})
	}
}

func TestS3Addresses(t *testing.T) {
	object := service.Object{ID: "file_a", Size: 10, Handle: "8388608 the id"}
	sign := func(store *S3, expires time.Time) (part, complete *url.URL) {
		t.Helper()
		ticket, err := store.Sign(t.Context(), object, service.Grant{Expires: expires})
		require.NoError(t, err)
		require.Empty(t, ticket.UploadURL)
		part, err = url.Parse(ticket.Parts[0].URL)
		require.NoError(t, err)
		complete, err = url.Parse(ticket.CompleteURL)
		require.NoError(t, err)
		return part, complete
	}
	part, complete := sign(newS3(t, "", 0), noon.Add(time.Hour))
	for _, u := range []*url.URL{part, complete} {
		require.Equal(t, "127.0.0.1:7070", u.Host)
		require.Equal(t, "/uploads/file_a", u.Path)
		q := u.Query()
		require.Equal(t, "3600", q.Get("X-Amz-Expires"))
		require.Equal(t, "host", q.Get("X-Amz-SignedHeaders"))
		require.Equal(t, "key/20261121/eu-north-1/s3/aws4_request", q.Get("X-Amz-Credential"))
		require.Equal(t, "the id", q.Get("uploadId"))
	}
	require.Equal(t, "1", part.Query().Get("partNumber"))
	require.NotEqual(t, part.Query().Get("X-Amz-Signature"), complete.Query().Get("X-Amz-Signature"))

	proxied, _ := sign(newS3(t, "http://proxy:9", 0), noon.Add(time.Hour))
	require.Equal(t, "proxy:9", proxied.Host)
	require.NotEqual(t, part.Query().Get("X-Amz-Signature"), proxied.Query().Get("X-Amz-Signature"), "the signature covers the host")

	for name, c := range map[string]struct {
		expires time.Duration
		seconds string
	}{
		"over":     {-time.Hour, "1"},
		"at once":  {time.Millisecond, "1"},
		"too long": {30 * 24 * time.Hour, "604800"},
	} {
		t.Run(name, func(t *testing.T) {
			u, _ := sign(newS3(t, "", 0), noon.Add(c.expires))
			require.Equal(t, c.seconds, u.Query().Get("X-Amz-Expires"))
		})
	}
	object.Handle = "https://elsewhere/session"
	_, err := newS3(t, "", 0).Sign(t.Context(), object, service.Grant{})
	require.ErrorContains(t, err, "begun in another store")
}

func TestPublishedAddresses(t *testing.T) {
	for name, c := range map[string]struct{ public, handle, want string }{
		"as it is":  {"", "http://127.0.0.1:1/up?upload_id=a", "http://127.0.0.1:1/up?upload_id=a"},
		"proxied":   {"https://proxy", "http://127.0.0.1:1/up?upload_id=a", "https://proxy/up?upload_id=a"},
		"path only": {"", "/up/a", "http://127.0.0.1:1/up/a"},
	} {
		t.Run(name, func(t *testing.T) {
			store, err := NewGCS("http://127.0.0.1:1/uploads", c.public)
			require.NoError(t, err)
			ticket, err := store.Sign(t.Context(), service.Object{Handle: c.handle}, service.Grant{})
			require.NoError(t, err)
			require.Equal(t, c.want, ticket.UploadURL)
			require.Equal(t, service.GCSResumable, ticket.Protocol)
		})
	}
}

// TestErrorsShowNoSignature asks a port that nobody listens on.
func TestErrorsShowNoSignature(t *testing.T) {
	s3, err := NewS3("http://127.0.0.1:1/uploads", "", "key", "secret", "r", 0)
	require.NoError(t, err)
	azure, err := NewAzure("http://127.0.0.1:1/uploads", "", "account", accountKey, 0)
	require.NoError(t, err)
	_, s3Error := s3.Begin(t.Context(), service.Object{ID: "file_a"}, service.Grant{})
	_, azureError := azure.Read(t.Context(), service.Object{ID: "file_a"})
	for _, err := range []error{s3Error, azureError} {
		require.Error(t, err)
		require.Contains(t, err.Error(), "/uploads/file_a")
		for _, secret := range []string{"sig", "Signature", "?"} {
			require.False(t, strings.Contains(err.Error(), secret), err.Error())
		}
	}
}
