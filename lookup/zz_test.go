package lookup_test

import (
	"context"
	"os"
	"symkit/lookup"
	"testing"
)

func BenchmarkCeph(b *testing.B) {
	for b.Loop() {
		f, err := lookup.Open(context.Background(), os.Getenv("F"), lookup.Options{})
		if err != nil {
			b.Fatal(err)
		}
		f.Frames(nil, 0x600000)
		f.Close()
	}
}
