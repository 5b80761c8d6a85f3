package main

import (
	"context"

	"symkit/dump/batch"
	"symkit/internal/remote"
)

// openRemote opens an input at an address.
func openRemote(ctx context.Context, address string) (*batch.Stream, error) {
	f, err := remote.Open(ctx, address)
	if err != nil {
		return nil, err
	}
	return &batch.Stream{ReadCloser: f, Size: f.Size, Tag: f.Tag}, nil
}
