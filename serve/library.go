package serve

import (
	"context"
	"net/http"
	"strings"
	"time"

	"symkit/elfx"
	"symkit/emit"
	"symkit/internal/mem"
	"symkit/internal/spool"
	"symkit/lookup"
	"symkit/serve/internal/depot"
	"symkit/serve/internal/intake"
)

// library gives the symbols and the files of a depot to package symbolicate.
type library struct {
	depot   depot.Depot
	intake  *intake.Intake
	maxFile int64
}

// Symbols implements symbolicate.Store. The text is mapped from a temporary file without a name, which counts as memory:
// so the files that stay open take a bounded part of the disk.
func (l *library) Symbols(ctx context.Context, name, id string) (*lookup.File, error) {
	key, ok := depot.SymbolKey(name, id, depot.SymbolFileName(name))
	if !ok {
		return nil, depot.ErrMissing
	}
	content, file, err := l.depot.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	copied, err := spool.NewFile(l.depot.Spool(), l.maxFile)
	if err != nil {
		return nil, err
	}
	defer copied.Close()
	err = depot.Copy(copied, content, file.Encoding)
	if err != nil {
		return nil, err
	}
	text, err := copied.Map()
	if err != nil {
		return nil, err
	}

	index := emit.NewIndex(text.Bytes())
	_, ok = index.Module()
	if !ok {
		text.Release()
		return nil, lookup.ErrOther
	}
	return lookup.FromIndex(name, nil, index, copied.Size(), lookup.Options{}, release(text)), nil
}

// release returns the function that releases a mapping.
func release(m *mem.Mapping) func() {
	return func() { _ = m.Release() } // of bytes that were read
}

// Executable implements symbolicate.Store.
func (l *library) Executable(ctx context.Context, _, codeID string) (*elfx.File, error) {
	path, done, err := l.intake.ELFPath(ctx, strings.ToLower(codeID), "executable")
	if err != nil {
		return nil, err
	}
	defer done()
	return elfx.Open(path)
}

// maxAnswers is how many requests for functions of stacks are answered at one time.
const maxAnswers = 32

// answered has a handler answer a bounded number of requests at one time, each for a bounded time.
func answered(h http.Handler, most time.Duration) http.Handler {
	slots := make(chan struct{}, maxAnswers)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), most)
		defer cancel()
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		case <-ctx.Done():
			busy(w)
			return
		}
		inner := r.WithContext(ctx)
		h.ServeHTTP(w, inner)
	})
}
