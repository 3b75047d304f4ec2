package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/seed-76f09577/turnwire/internal/blobstore"
	"github.com/seed-76f09577/turnwire/internal/blobstore/cloud"
	"github.com/seed-76f09577/turnwire/internal/service"
)

type closingStorage interface {
	service.Storage
	io.Closer
}

// openStorage opens what -storage names. Credentials come from the environment, under the names that the
// stores' own tools read: a command line can be seen by everybody on the machine.
func (o *options) openStorage(env func(string) string) (storage closingStorage, err error) {
	kind, address, _ := strings.Cut(o.storage, "=")
	switch kind {
	case "own":
		storage, err = blobstore.Open(blobstore.Config{Dir: o.under("storage"), Public: strings.TrimSuffix(o.public, "/"), BlockSize: o.blockSize})
	case "azure":
		storage, err = cloud.NewAzure(address, o.public, env("AZURE_STORAGE_ACCOUNT"), env("AZURE_STORAGE_KEY"), o.blockSize)
	case "s3":
		storage, err = cloud.NewS3(address, o.public, env("AWS_ACCESS_KEY_ID"), env("AWS_SECRET_ACCESS_KEY"), env("AWS_REGION"), o.blockSize)
	case "gcs":
		storage, err = cloud.NewGCS(address, o.public)
	case "tus":
		storage, err = cloud.NewTus(address, o.public)
	default:
		return nil, fmt.Errorf("-storage must be own, azure=<container URL>, s3=<bucket URL>, gcs=<bucket URL> or tus=<files URL>, not %q", kind)
	}
	if err != nil {
		return nil, fmt.Errorf("-storage %s: %w", kind, err)
	}
	return storage, nil
}
