package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"symkit/dump/store"
	"symkit/test/buckettest"
)

// both is a store in a directory and one in a bucket, which are filled alike.
type both struct {
	dir    string
	bucket *buckettest.Bucket
	stores map[string]*store.Store // by address
}

const bucketAddress = "s3://" + buckettest.Name + "/sym"

func newBoth(t *testing.T, opt store.Options) *both {
	t.Helper()
	b := &both{dir: t.TempDir(), bucket: buckettest.Start(t)}
	dir, err := store.Open(b.dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	objects, err := store.OpenBucket(t.Context(), bucketAddress, opt)
	if err != nil {
		t.Fatal(err)
	}
	b.stores = map[string]*store.Store{b.dir: dir, bucketAddress: objects}
	return b
}

var puts atomic.Int64

// put puts a file of a module into a store. No two files have the same bytes.
func put(s *store.Store, name string, n int, kind store.Kind) error {
	id := fmt.Sprintf("%032X0", n)
	paths, err := s.Paths(store.Module{Names: []string{name}, ID: id, BuildID: id[:32]}, kind)
	if err != nil {
		return err
	}
	number := puts.Add(1)
	_, err = s.Put(paths, kind, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "MODULE Linux x86_64 %s %s\nINFO NUMBER %06d\n", id, name, number)
		return err
	})
	return err
}

// date gives all files below a path the same date in both stores.
func (b *both) date(t *testing.T, below string, at time.Time) {
	t.Helper()
	err := filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(path, filepath.Join(b.dir, below)) && !d.IsDir() {
			err = os.Chtimes(path, at, at)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	b.bucket.Lock()
	defer b.bucket.Unlock()
	for key, o := range b.bucket.Objects {
		if strings.HasPrefix(key, "sym/"+below) {
			o.Modified = at
		}
	}
}

// files returns the files of a store, by their paths.
func (b *both) files(t *testing.T, at string) []string {
	t.Helper()
	if at == bucketAddress {
		b.bucket.Lock()
		defer b.bucket.Unlock()
		var keys []string
		for _, key := range slices.Sorted(maps.Keys(b.bucket.Objects)) {
			keys = append(keys, strings.TrimPrefix(key, "sym/"))
		}
		return keys
	}
	var keys []string
	err := filepath.WalkDir(at, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			key, _ := filepath.Rel(at, path)
			keys = append(keys, filepath.ToSlash(key))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(keys)
	return keys
}

func open(t *testing.T, at string) *Store {
	t.Helper()
	s, err := Open(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

var now = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

func days(n int) time.Time { return now.Add(-time.Duration(n) * 24 * time.Hour) }

// TestModules: both kinds of stores and all layouts give the same modules, with names that only the symbol files have.
func TestModules(t *testing.T) {
	for _, layout := range []store.Layout{store.Breakpad, store.Unified, store.GDB} {
		b := newBoth(t, store.Options{Layout: layout, Compression: store.Zstd})
		for at, s := range b.stores {
			for n := range 130 { // more than are read at once
				err := put(s, fmt.Sprintf("lib%d.so", n%3), 0x10000000+n<<8, store.Symbols)
				if err == nil && layout != store.Breakpad && n%2 == 0 {
					err = errors.Join(put(s, "", 0x10000000+n<<8, store.Executable), put(s, "", 0x10000000+n<<8, store.DebugInfo))
				}
				if err != nil {
					t.Fatal(at, err)
				}
			}
		}
		foreign := filepath.Join(b.dir, ".git", "objects", "ab", strings.Repeat("c", 38))
		err := errors.Join(os.MkdirAll(filepath.Dir(foreign), 0o777), os.WriteFile(foreign, nil, 0o666))
		if err != nil {
			t.Fatal(err)
		}
		b.bucket.Objects["sym/.git/objects/ab/"+strings.Repeat("c", 38)] = &buckettest.Object{Header: http.Header{}}
		b.date(t, "", days(3))

		texts := map[string]string{}
		for at := range b.stores {
			u := open(t, at)
			n := 0
			for m, err := range u.Modules(t.Context()) {
				if err != nil {
					t.Fatal(at, err)
				}
				size := int64(0)
				for _, f := range m.Files {
					size += f.Bytes
					texts[at] += strings.TrimSuffix(f.Path, ".zst") + " " + f.Kind + "\n"
				}
				if m.Bytes != size || !strings.HasPrefix(m.Name, "lib") || !m.Date.Equal(days(3)) {
					t.Errorf("%s: %+v", at, m)
				}
				texts[at] += fmt.Sprintln(m.Name, m.ID, m.Path)
				n++
			}
			if n != 130 || u.Others() != 1 {
				t.Errorf("%s: %d modules, %d other files", at, n, u.Others())
			}
			for range u.Modules(t.Context()) {
				break
			}
		}
		if texts[b.dir] != texts[bucketAddress] {
			t.Errorf("%v: %s\n%s", layout, texts[b.dir], texts[bucketAddress])
		}
	}
}

// TestOld: which modules a rule keeps.
func TestOld(t *testing.T) {
	for _, layout := range []store.Layout{store.Breakpad, store.Unified} {
		b := newBoth(t, store.Options{Layout: layout})
		for n, age := range map[int]int{1: 1, 2: 5, 3: 20, 4: 40, 5: 60} {
			for _, s := range b.stores {
				err := put(s, "a.so", n<<24, store.Symbols)
				if err != nil {
					t.Fatal(err)
				}
			}
			below := fmt.Sprintf("a.so/%032X0", n<<24)
			if layout == store.Unified {
				id := fmt.Sprintf("%032x", n<<24)
				below = id[:2] + "/" + id[2:]
			}
			b.date(t, below, days(age))
		}
		for _, test := range []struct {
			rule Rule
			want string // ids of what is not kept
		}{
			{Rule{Days: 30}, "45"}, {Rule{Days: 1}, "12345"}, {Rule{Days: 100}, ""}, {Rule{Newest: 2}, "345"}, {Rule{Newest: 9}, ""},
			{Rule{Days: 30, Newest: 1}, "45"}, {Rule{Days: 3, Newest: 4}, "5"}, {Rule{Days: 1, Newest: 4}, "5"},
		} {
			for at := range b.stores {
				test.rule.Now = now
				u := open(t, at)
				plan, err := u.Old(t.Context(), test.rule)
				if err != nil {
					t.Fatal(err)
				}
				var got strings.Builder
				for _, m := range plan.Old {
					got.WriteString(strings.TrimLeft(m.ID, "0")[:1])
				}
				if got.String() != test.want || plan.Modules != 5 || plan.Bytes == 0 || (plan.OldBytes > 0) != (got.String() != "") {
					t.Errorf("%s, %+v: %q, want %q; %+v", at, test.rule, got.String(), test.want, plan)
				}
			}
		}
		_, err := open(t, b.dir).Old(t.Context(), Rule{})
		if err == nil {
			t.Error("a rule that keeps nothing was accepted")
		}
	}
}

// TestChanged: a module of which a file was stored after the decision stays.
func TestChanged(t *testing.T) {
	b := newBoth(t, store.Options{Layout: store.Unified, Replace: true})
	for _, s := range b.stores {
		err := errors.Join(put(s, "a", 1<<24, store.Symbols), put(s, "b", 2<<24, store.Symbols), put(s, "c", 3<<24, store.Symbols))
		if err != nil {
			t.Fatal(err)
		}
	}
	b.date(t, "", days(50))
	for at, s := range b.stores {
		u := open(t, at)
		plan, err := u.Old(t.Context(), Rule{Days: 30, Now: now})
		if err != nil || len(plan.Old) != 3 {
			t.Fatal(err, plan)
		}
		err = errors.Join(put(s, "a", 1<<24, store.Symbols), put(s, "b", 2<<24, store.Executable))
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for m, err := range u.Remove(t.Context(), plan) {
			if err != nil {
				t.Fatal(err)
			}
			got.WriteString(string(m.Outcome) + " ")
		}
		if got.String() != "changed changed removed " || len(b.files(t, at)) != 3 {
			t.Errorf("%s: %s, %q", at, got.String(), b.files(t, at))
		}
	}
}

// TestBesideWriters: while a store of many modules is pruned by processes that are ended at any moment, two writers add
// new modules and store old ones again. Nothing that should stay is lost, and in the end the directory and the bucket
// have the same files.
func TestBesideWriters(t *testing.T) {
	const modules, again = 600, 150 // of the names; a third is old
	opt := store.Options{Layout: store.Unified, Replace: true}
	b := newBoth(t, opt)
	name := func(n int) string { return fmt.Sprintf("lib%d.so", n%40) }
	kinds := []store.Kind{store.Symbols, store.Executable}
	for _, s := range b.stores {
		for n := range modules {
			for _, kind := range kinds[:1+n%2] {
				err := put(s, name(n), 1<<24+n<<8, kind)
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	b.date(t, "", time.Now().Add(-1000*time.Hour)) // of 30 days and more
	var want []string

	for at, s := range b.stores {
		var writers sync.WaitGroup
		var working atomic.Int32
		working.Store(2)
		for w := range 2 {
			writers.Go(func() {
				defer working.Add(-1)
				for i := range again {
					n := modules + i*2 + w // a new one
					if i%2 == 0 {
						n = (i*7 + w) % modules // one that may be removed at this moment
					}
					for _, kind := range kinds {
						err := put(s, name(n), 1<<24+n<<8, kind)
						if err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		rounds := 0
		for done := false; !done; rounds++ {
			done = working.Load() == 0
			ctx, cancel := context.WithCancel(t.Context())
			if !done {
				time.AfterFunc(rand.N(40*time.Millisecond), cancel)
			}
			u := open(t, at)
			plan, err := u.Old(ctx, Rule{Days: 30})
			if err == nil {
				for _, err = range u.Remove(ctx, plan) {
				}
			}
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", at, err)
			}
			cancel()
		}
		writers.Wait()

		if want == nil {
			want = wanted(t, modules, again)
		}
		got := b.files(t, at)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d files after %d rounds, want %d", at, len(got), rounds, len(want))
			for _, key := range got {
				if _, ok := slices.BinarySearch(want, key); !ok {
					t.Errorf("%s stays", key)
				}
			}
			for _, key := range want {
				if _, ok := slices.BinarySearch(got, key); !ok {
					t.Errorf("%s is lost", key)
				}
			}
		}
	}
}

// wanted returns the files of TestBesideWriters that stay: those that the writers have stored.
func wanted(t *testing.T, modules, again int) (keys []string) {
	t.Helper()
	s, err := store.Open(t.TempDir(), store.Options{Layout: store.Unified})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for w := range 2 {
		for i := range again {
			n := modules + i*2 + w
			if i%2 == 0 {
				n = (i*7 + w) % modules
			}
			for _, kind := range []store.Kind{store.Symbols, store.Executable} {
				id := fmt.Sprintf("%032X", 1<<24+n<<8)
				paths, err := s.Paths(store.Module{BuildID: id}, kind)
				if err != nil {
					t.Fatal(err)
				}
				keys = append(keys, paths...)
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
