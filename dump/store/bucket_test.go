package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"

	"symkit/internal/objects"
	"symkit/internal/spool"
)

// memory is a store of objects in memory.
type memory struct {
	objects map[string]string
	last    objects.Header
	err     error
}

func (m *memory) URL(name string) string { return "mem://" + name }

func (m *memory) Exists(_ context.Context, name string) (bool, error) {
	_, ok := m.objects[name]
	return ok, m.err
}

func (m *memory) Get(_ context.Context, name string) (io.ReadCloser, objects.Info, error) {
	data, ok := m.objects[name]
	if !ok {
		return nil, objects.Info{}, fs.ErrNotExist
	}
	return io.NopCloser(strings.NewReader(data)), objects.Info{Version: data}, m.err
}

func (m *memory) Create(_ context.Context, name string, o objects.Content, h objects.Header, replace bool) error {
	if _, ok := m.objects[name]; ok && !replace {
		return fs.ErrExist
	}
	data, err := io.ReadAll(io.NewSectionReader(o, 0, o.Size()))
	m.objects[name], m.last = string(data), h
	return errors.Join(err, m.err)
}

// TestObjects: names without .gz, the metadata of the text before compression, and large
// files through a temporary file.
func TestObjects(t *testing.T) {
	m := &memory{objects: map[string]string{}}
	s := &Store{&bucket{m, t.Context()}, Options{Compression: Gzip}}
	paths, err := s.Paths(Module{Names: []string{"a"}, ID: "1"}, Symbols)
	if err != nil || len(paths) != 1 || paths[0] != "a/1/a.sym" {
		t.Fatal(paths, err)
	}
	text := bytes.Repeat([]byte("text"), 1000)
	write := func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}
	size, err := s.Put(paths, Symbols, write)
	if err != nil || size.Existed || size.Text != 4000 || size.Stored != int64(len(m.objects[paths[0]])) || m.last.ContentEncoding != "gzip" ||
		m.last.Meta["original_size"] != "4000" || len(m.last.Meta["original_md5_hash"]) != 32 {
		t.Errorf("%v, %v, %v", size, m.last, err)
	}
	if has, err := s.Has(paths); !has || err != nil {
		t.Error(has, err)
	}
	if size, err := s.Put(paths, Symbols, write); !size.Existed || err != nil { // another writer was faster
		t.Error(size, err)
	}

	text = make([]byte, spool.Memory+1)
	s = &Store{place: &bucket{m, t.Context()}}
	if _, err := s.Put([]string{"large"}, Symbols, write); err != nil || m.objects["large"] != string(text) {
		t.Errorf("%d bytes, %v", len(m.objects["large"]), err)
	}

	m.err = errors.New("no")
	if _, err := s.Put([]string{"b"}, Symbols, write); !errors.Is(err, ErrStore) {
		t.Error(err)
	}
	if _, err := s.Has([]string{"b"}); !errors.Is(err, ErrStore) {
		t.Error(err)
	}
}
