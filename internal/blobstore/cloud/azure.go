package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"

	"github.com/seed-76f09577/turnwire/internal/service"
)

// Azure is a container of Azure Blob Storage. Addresses carry a shared access signature for one blob.
type Azure struct {
	place
	container string
	key       *azblob.SharedKeyCredential
	blockSize int64
}

// NewAzure opens a container by its URL, with the account's name and key.
func NewAzure(container, public, account, key string, blockSize int64) (*Azure, error) {
	p, err := newPlace(container, public)
	if err != nil {
		return nil, err
	}
	name := path.Base(p.at.Path)
	if name == "." || name == "/" {
		return nil, errors.New("the store's address must end in the name of a container")
	}
	credential, err := azblob.NewSharedKeyCredential(account, key)
	if err != nil || account == "" || key == "" {
		return nil, errors.New("AZURE_STORAGE_ACCOUNT and AZURE_STORAGE_KEY must hold the account's name and its key in base64")
	}
	return &Azure{place: p, container: name, key: credential, blockSize: blockSize}, nil
}

func (a *Azure) sign(id string, permissions sas.BlobPermissions, expires time.Time) (string, error) {
	// Azure counts whole seconds: rounded up, an address is good for as long as the ticket says.
	if whole := expires.Truncate(time.Second); whole.Before(expires) {
		expires = whole.Add(time.Second)
	}
	values := sas.BlobSignatureValues{
		Protocol: sas.ProtocolHTTPSandHTTP, ContainerName: a.container, BlobName: id,
		Permissions: permissions.String(), ExpiryTime: expires.UTC(),
	}
	query, err := values.SignWithSharedKey(a.key)
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	return a.at.String() + "/" + id + "?" + query.Encode(), nil
}

// Begin has nothing to do: the first block makes the blob.
func (a *Azure) Begin(context.Context, service.Object, service.Grant) (string, error) { return "", nil }

func (a *Azure) Sign(_ context.Context, o service.Object, g service.Grant) (service.Ticket, error) {
	signed, err := a.sign(o.ID, sas.BlobPermissions{Read: true, Create: true, Write: true}, g.Expires)
	if err != nil {
		return service.Ticket{}, err
	}
	address, err := a.published(signed)
	return service.Ticket{Protocol: service.AzureBlock, UploadURL: address, BlockSize: a.blockSize}, err
}

func (a *Azure) Read(ctx context.Context, o service.Object) (io.ReadCloser, error) {
	address, err := a.sign(o.ID, sas.BlobPermissions{Read: true}, time.Now().Add(serviceFor))
	if err != nil {
		return nil, err
	}
	return a.read(ctx, address)
}

// Remove puts an empty blob first: that drops the blocks that no list names, which Azure would keep a week.
func (a *Azure) Remove(ctx context.Context, o service.Object) error {
	address, err := a.sign(o.ID, sas.BlobPermissions{Write: true, Delete: true}, time.Now().Add(serviceFor))
	if err != nil {
		return err
	}
	if err := a.send(ctx, http.MethodPut, address, nil, []int{http.StatusCreated}, "x-ms-blob-type", "BlockBlob"); err != nil {
		return err
	}
	return a.send(ctx, http.MethodDelete, address, nil, []int{http.StatusAccepted, http.StatusNotFound})
}
