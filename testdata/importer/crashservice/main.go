// Command crashservice dumps the programs below a directory into a bucket, and walks a crash with the bucket's symbols:
// crashservice DIRECTORY s3://BUCKET/PREFIX CRASH
package main

import (
	"context"
	"errors"
	"log"
	"os"

	"symkit/dump/batch"
	"symkit/dump/store"
	"symkit/walk"
	"symkit/walk/dumpfile"
	"symkit/walk/report"
	"symkit/walk/symbols"
)

func main() {
	ctx, bucket := context.Background(), os.Args[2]
	err := errors.Join(fill(ctx, os.Args[1], bucket), show(ctx, bucket, os.Args[3]))
	if err != nil {
		log.Fatal(err)
	}
}

// fill dumps the programs into the bucket.
func fill(ctx context.Context, dir, bucket string) error {
	s, err := store.OpenBucket(ctx, bucket, store.Options{Compression: store.Gzip})
	if err != nil {
		return err
	}
	defer s.Close()
	found := batch.Finder{Recurse: true}
	err = found.Add(ctx, dir)
	for _, failed := range batch.Dump(ctx, &found, s, batch.Options{}) {
		err = errors.Join(err, failed)
	}
	return err
}

// show walks the crash.
func show(ctx context.Context, bucket, crash string) error {
	s, err := symbols.Open(ctx, []string{bucket}, symbols.Options{PathsOnly: true})
	if err != nil {
		return err
	}
	defer s.Close()
	d, err := dumpfile.Open(ctx, crash, dumpfile.Options{Files: s.Files()})
	if err != nil {
		return err
	}
	defer d.Close()
	result, err := d.Walk(ctx, s, walk.Options{Prefetch: s.Online()})
	if err != nil {
		return err
	}
	return report.Text(os.Stdout, result, report.TextOptions{Brief: true})
}
