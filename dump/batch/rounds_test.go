package batch

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"symkit/test/pkgtest"
	"symkit/test/testfile"
)

// fixture returns an ELF file of testdata.
func fixture(t *testing.T, name string) []byte {
	t.Helper()
	data, err := testfile.Read("../../testdata/elf/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// roundsOf returns the rounds of inputs as text: the modules of each, and what else there is of a
// file. Each round has one package.
func roundsOf(t *testing.T, f *Finder, paths ...string) (texts []string) {
	t.Helper()
	old := roundBytes
	roundBytes = 1
	defer func() { roundBytes = old }()
	for _, path := range paths {
		if err := f.Add(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
	h := newHold(1 << 30)
	defer h.close()
	rs := &rounds{Finder: f, hold: h, jobs: 2}
	for r, err := range rs.all(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		var words []string
		for i := range r.Modules {
			words = append(words, describe(r.Modules[i]))
		}
		for _, d := range r.Duplicates {
			words = append(words, d.Name()+" as "+d.Of)
		}
		for _, path := range r.Empty {
			words = append(words, "empty "+path)
		}
		for _, path := range r.Before {
			words = append(words, "before "+path)
		}
		for _, failure := range r.Failed {
			words = append(words, "failed "+failure.name)
		}

		// The files of all modules can be read.
		for i := range r.Modules {
			m := &r.Modules[i]
			if err := h.extract(t.Context(), []*module{m}, 1); err != nil {
				t.Fatal(err)
			}
			file, err := m.Main.Open()
			if err != nil {
				t.Fatal(err)
			}
			file.Close()
		}
		texts = append(texts, strings.Join(words, ", "))
		if err := rs.finish(r, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if f := h.usedNow(); f != 0 {
		t.Errorf("%d bytes are held after the last round", f)
	}
	return texts
}

// TestRounds: the rounds have the packages of one source after the other, in the order of the inputs.
// What needs no other package is in the round of its package; the rest waits for the next packages of
// its source, and for the last round if something else could be its debug file.
func TestRounds(t *testing.T) {
	const stem = "cxx-x86_64-gcc12-O2-dw5"
	whole, stripped, debug := fixture(t, stem+".so"), fixture(t, stem+"-stripped.elf"), fixture(t, stem+"-stripped.debug")
	t.Chdir(t.TempDir())
	write := func(name string, data []byte) {
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	file := func(name string, data []byte) pkgtest.File { return pkgtest.File{Name: name, Data: data} }
	write("app.deb", pkgtest.Deb("xz", pkgtest.Source("app"), file("bin/app", stripped)))
	write("app-dbg.deb", pkgtest.Deb("xz", pkgtest.Source("app"), file("debug", debug)))
	write("app-lib.deb", pkgtest.Deb("gzip", pkgtest.Source("app"), file("lib.so", whole)))
	write("lib.deb", pkgtest.Deb("gzip", pkgtest.Source("lib"), file("lib.so", whole)))
	write("lib2.deb", pkgtest.Deb("gzip", pkgtest.Source("lib2"), file("lib.so", whole)))
	write("doc.deb", pkgtest.Deb("gzip", pkgtest.Source("doc"), file("README", []byte("text"))))
	write("app.tar", pkgtest.Tar(file("bin/app", stripped)))
	write("debug.tar", pkgtest.Tar(file("debug", debug)))
	write("lib.tar", pkgtest.Tar(file("lib.so", whole)))
	write("damaged.deb", []byte("!<arch>\ndebian-binary"))
	write("lib.so", whole)
	write("app.debug", debug)

	const app, lib = "app.deb!/bin/app +app-dbg.deb!/debug", "lib.deb!/lib.so"
	for _, test := range []struct{ inputs, want string }{
		{"app.deb lib.deb app-dbg.deb", "; " + app + "; " + lib},
		{"lib.deb app-dbg.deb doc.deb app.deb", lib + "; ; " + app + "; empty doc.deb"},
		{"app.deb app-lib.deb lib.deb app-dbg.deb", "; app-lib.deb!/lib.so; " + app + "; lib.deb!/lib.so as app-lib.deb!/lib.so"},
		{"app.deb lib.deb app-lib.deb", "; app.deb!/bin/app, app-lib.deb!/lib.so; lib.deb!/lib.so as app-lib.deb!/lib.so"},
		{"app.deb lib.tar app-lib.deb", "; app-lib.deb!/lib.so; lib.tar!/lib.so as app-lib.deb!/lib.so; app.deb!/bin/app"},
		{"lib.deb lib2.deb", lib + "; lib2.deb!/lib.so as lib.deb!/lib.so"},
		{"app.tar debug.tar lib.tar", "; ; lib.tar!/lib.so; app.tar!/bin/app +debug.tar!/debug"},
		{"debug.tar lib.deb app.deb", "; " + lib + "; ; app.deb!/bin/app +debug.tar!/debug"},
		{"app.deb lib.deb app.debug", "; " + lib + "; app.deb!/bin/app +app.debug"},
		{"app.deb lib.deb lib.so", "; " + lib + "; app.deb!/bin/app, lib.so as " + lib},
		{"damaged.deb lib.deb", "failed damaged.deb; " + lib},
		{"lib.so app.debug", "lib.so, app.debug"},
		{"lib.deb", lib},
	} {
		got := roundsOf(t, &Finder{}, strings.Fields(test.inputs)...)
		if diff := cmp.Diff(strings.Split(test.want, "; "), got); diff != "" {
			t.Errorf("%s:\n%s", test.inputs, diff)
		}
		one := roundsOf(t, &Finder{Whole: true}, strings.Fields(test.inputs)...)
		if len(one) != 1 {
			t.Errorf("%s: %d rounds, want one", test.inputs, len(one))
		}
	}
}

// TestFinish: a package is in the list of --done after the round in which its last module was
// dumped, and never if a part of it failed.
func TestFinish(t *testing.T) {
	t.Chdir(t.TempDir())
	done, err := ReadDone("done", Shard{})
	if err != nil {
		t.Fatal(err)
	}
	rs := &rounds{Finder: &Finder{Done: done}, waiting: map[string]bool{"waits": true}}
	listed := func() (list []string) {
		data, err := os.ReadFile("done")
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "b", "waits", "large", "bad", "part"} {
			if strings.Contains(string(data), fmt.Sprintf(`"package":%q`, name)) {
				list = append(list, name)
			}
		}
		return list
	}
	made := func(last bool, names ...string) *round {
		r := &round{Last: last}
		for _, name := range names {
			r.lines = append(r.lines, doneLine{SHA256: name, Package: name})
		}
		return r
	}
	failed, incomplete := map[string]bool{"bad": true}, map[string]bool{"large": true}
	for i, step := range []struct {
		round *round
		want  []string
	}{
		{&round{part: true, lines: []doneLine{{SHA256: "p", Package: "part"}}}, nil},
		{made(false, "bad", "waits", "large", "a"), []string{"a", "part"}},
		{made(false), []string{"a", "part"}},
		{made(true, "b"), []string{"a", "b", "waits", "large", "part"}},
	} {
		if step.round.Last {
			clear(incomplete)
		}
		if err := rs.finish(step.round, failed, incomplete); err != nil {
			t.Fatal(err)
		}
		if got := listed(); !slices.Equal(got, step.want) {
			t.Errorf("round %d: %q, want %q", i, got, step.want)
		}
	}
}
