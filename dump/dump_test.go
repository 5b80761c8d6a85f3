package dump

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"symkit/elfx"
	"symkit/emit"
	"symkit/test/testfile"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const fixtures = "../testdata/elf"

// fixture opens a file of the repository's testdata/elf.
func fixture(t testing.TB, name string) *elfx.File {
	t.Helper()
	data, err := testfile.Read(filepath.Join(fixtures, name))
	if err != nil {
		t.Fatal(err)
	}
	f, err := elfx.NewFile(strings.TrimSuffix(name, ".xz"), data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// dumpText returns the symbol file of a fixture.
func dumpText(t testing.TB, f *elfx.File, opt Options) (*Module, []byte) {
	t.Helper()
	m, err := Dump(context.Background(), &elfx.Image{Main: f}, opt)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := m.Write(&out); err != nil {
		t.Fatal(err)
	}
	return m, out.Bytes()
}

// programs returns the fixtures that hold a program or library.
func programs(t testing.TB) []string { return testfile.Programs(t, fixtures) }

// TestFixtures dumps every fixture: nothing is lost, the strict reader takes
// all of the text, and no number of goroutines changes it.
func TestFixtures(t *testing.T) {
	for _, name := range programs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := fixture(t, name)
			m, text := dumpText(t, f, Options{Inlines: true})
			for _, err := range m.Stats.Losses {
				t.Errorf("lost: %v", err)
			}
			for _, err := range emit.NewReader(text).Records() {
				if err != nil {
					t.Errorf("the reader refuses what was written: %v", err)
				}
			}
			if _, again := dumpText(t, f, Options{Inlines: true, Jobs: 1}); !bytes.Equal(text, again) {
				t.Errorf("another text with one goroutine")
			}
		})
	}
}

// TestSameProgram dumps a program in every form in which it can come.
func TestSameProgram(t *testing.T) {
	const whole = "cxx-x86_64-gcc12-O2-dw5.elf"
	opt := Options{Name: "app", Inlines: true}
	_, want := dumpText(t, fixture(t, whole), opt)
	for _, variant := range []string{"-zlib", "-zlib-gnu", "-zstd"} {
		name := strings.TrimSuffix(whole, ".elf") + variant + ".elf"
		if _, got := dumpText(t, fixture(t, name), opt); !bytes.Equal(got, want) {
			t.Errorf("%s: another text than %s:\n%s", name, whole, cmp.Diff(string(want), string(got)))
		}
	}
}

// TestGolden compares whole symbol files. Each stands for a machine, a
// producer or a language.
func TestGolden(t *testing.T) {
	for _, name := range []string{
		"cxx-x86_64-gcc12-O2-dw5.elf",
		"cxx-x86_64-clang14-O2-dw4-lld-gc.elf",
		"lang-x86_64-gcc12-O2-dw4.elf",
		"lang-aarch64pac-gcc12-O2-dw5.elf",
		"lang-thumb-gcc12-O2-dw5.elf",
		"lang-s390x-gcc12-O2-dw5.elf",
		"lang-mips-gcc12-O2-dw4.elf",
		"asm-x86_64-gas-dw5.elf",
		"rust-x86_64-rustc-O-dw5.so",
	} {
		t.Run(name, func(t *testing.T) {
			_, got := dumpText(t, fixture(t, name), Options{Inlines: true, Generator: "test"})
			path := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func BenchmarkDump(b *testing.B) {
	for _, inlines := range []bool{false, true} {
		name := "plain"
		if inlines {
			name = "inlines"
		}
		b.Run(name, func(b *testing.B) {
			f := fixture(b, "go-x86_64-gc.elf.xz")
			b.SetBytes(int64(f.Size()))
			for b.Loop() {
				m, err := Dump(context.Background(), &elfx.Image{Main: f}, Options{Inlines: inlines})
				if err != nil {
					b.Fatal(err)
				}
				if err := m.Write(io.Discard); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
