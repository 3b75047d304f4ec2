package main

import (
	"context"

	"github.com/seed-76f09577/turnwire/internal/library"
	"github.com/seed-76f09577/turnwire/internal/service"
)

// shelf gives the service's documents to the library that the agent searches.
type shelf struct{ *library.Library }

func (s shelf) Add(ctx context.Context, d service.Document) error {
	return s.Library.Add(ctx, library.File(d))
}
