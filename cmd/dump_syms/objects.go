package main

import (
	"context"

	"symkit/dump/store"
	"symkit/internal/objects"
)

// bucket implements the store of objects that package store writes to.
type bucket struct {
	ctx context.Context // of the batch
	b   *objects.Bucket
}

func (k bucket) Exists(name string) (bool, error) { return k.b.Exists(k.ctx, name) }
func (k bucket) URL(name string) string           { return k.b.URL(name) }

func (k bucket) Create(name string, o *store.Object, replace bool) error {
	h := objects.Header{ContentType: o.ContentType, ContentEncoding: o.ContentEncoding, Meta: o.Meta}
	return k.b.Create(k.ctx, name, o, h, replace)
}
