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

// storages are what -storage can name, each with the form of its address. Credentials come from the environment, under
// the names that the stores' own tools read: a command line can be seen by everybody on the machine.
var storages = []struct {
	name, address string
	open          func(o *options, address string, env func(string) string) (closingStorage, error)
}{
	{"own", "", func(o *options, _ string, _ func(string) string) (closingStorage, error) {
		return blobstore.Open(blobstore.Config{Dir: o.under("storage"), Public: strings.TrimSuffix(o.public, "/"), BlockSize: o.blockSize})
	}},
	{"azure", "<container URL>", func(o *options, address string, env func(string) string) (closingStorage, error) {
		return cloud.NewAzure(address, o.public, env("AZURE_STORAGE_ACCOUNT"), env("AZURE_STORAGE_KEY"), o.blockSize)
	}},
	{"s3", "<bucket URL>", func(o *options, address string, env func(string) string) (closingStorage, error) {
		return cloud.NewS3(address, o.public, env("AWS_ACCESS_KEY_ID"), env("AWS_SECRET_ACCESS_KEY"), env("AWS_REGION"), o.blockSize)
	}},
	{"gcs", "<bucket URL>", func(o *options, address string, _ func(string) string) (closingStorage, error) {
		return cloud.NewGCS(address, o.public)
	}},
	{"tus", "<files URL>", func(o *options, address string, _ func(string) string) (closingStorage, error) {
		return cloud.NewTus(address, o.public)
	}},
}

// storageForms is how -storage may be written.
func storageForms() string {
	var forms []string
	for _, s := range storages {
		form := s.name
		if s.address != "" {
			form += "=" + s.address
		}
		forms = append(forms, form)
	}
	last := len(forms) - 1
	return strings.Join(forms[:last], ", ") + " or " + forms[last]
}

// openStorage opens what -storage names.
func (o *options) openStorage(env func(string) string) (closingStorage, error) {
	name, address, _ := strings.Cut(o.storage, "=")
	for _, s := range storages {
		if s.name != name {
			continue
		}
		storage, err := s.open(o, address, env)
		if err != nil {
			return nil, fmt.Errorf("-storage %s: %w", name, err)
		}
		return storage, nil
	}
	return nil, fmt.Errorf("-storage must be %s, not %q", storageForms(), name)
}
