//go:build oracle

package toolchain

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"symkit/dump"
	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/test/oracle"
)

// Toolchain is a compiler, and a directory with the sources of a program. All commands run
// in that directory.
type Toolchain struct {
	t    *testing.T
	dir  string
	cc   string   // compiler of C; that of C++ is named after it
	Base []string // flags of all compilations
}

// New returns a toolchain with the sources of testdata/companions in a new directory.
func New(t *testing.T, cc string, flags ...string) *Toolchain {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../testdata/companions")); err != nil {
		t.Fatal(err)
	}
	return &Toolchain{t: t, dir: dir, cc: cc, Base: flags}
}

// Path returns the path of a file of the directory.
func (x *Toolchain) Path(name string) string { return filepath.Join(x.dir, name) }

// Run runs a command in the directory.
func (x *Toolchain) Run(name string, args ...string) {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(x.t.Context(), hung)
	defer cancel()

	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = x.dir
	if text, err := cmd.CombinedOutput(); err != nil {
		x.t.Fatalf("%v: %v\n%s", cmd, err, text)
	}
}

// hung is the time after which a command counts as hung: llvm-dwp loops on some input.
const hung = 10 * time.Minute

// cxx returns the compiler of C++.
func (x *Toolchain) cxx() string {
	if strings.HasSuffix(x.cc, "gcc") {
		return strings.TrimSuffix(x.cc, "gcc") + "g++"
	}
	return x.cc + "++"
}

// link compiles each source separately, as builds do, to PROGRAM-SOURCE.o, and links the
// objects. Both steps get the flags.
func (x *Toolchain) link(program string, flags ...string) {
	x.t.Helper()
	flags = slices.Concat(x.Base, flags)
	link := []string{"-o", program, "-Wl,--build-id=sha1"}
	// The program has sources of C++ and of C.
	for _, source := range []string{"main.cc", "shape.cc", "calc.c"} {
		cc, object := x.cxx(), program+"-"+strings.TrimSuffix(source, filepath.Ext(source))+".o"
		if strings.HasSuffix(source, ".c") {
			cc = x.cc
		}
		x.Run(cc, slices.Concat(flags, []string{"-c", source, "-o", object})...)
		link = append(link, object)
	}
	x.Run(x.cxx(), append(slices.Clone(flags), link...)...)
}

// Dump returns the symbol file of a program of the directory, without the build id, which
// differs from link to link.
func (x *Toolchain) Dump(program string, places companion.Search) string {
	x.t.Helper()
	return dumpCompanions(x.t, x.Path(program), places)
}

// dumpCompanions returns the symbol file of a program, made with the files that belong to
// the program.
func dumpCompanions(t *testing.T, path string, places companion.Search) string {
	t.Helper()
	f, err := elfx.Open(path)
	if err != nil {
		t.Fatal(err)
	}

	// A stripped program has its debug information in a file of its own.
	img := &elfx.Image{Main: f}
	if s := f.Section(".debug_info"); s == nil || !s.Present() {
		debug, _ := places.FindDebug(t.Context(), f)
		if debug != nil {
			img, err = elfx.Join(f, debug)
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	defer img.Close()

	others := companion.Find(t.Context(), img, places)
	defer others.Close()
	// Every form gets the same name and id, which are in the MODULE record.
	text, stats := oracle.DumpImage(t, img, dump.Options{Name: "app", ID: "0", Inlines: true, Companions: others})
	for _, warning := range stats.Warnings {
		t.Errorf("%s: %s", filepath.Base(path), warning)
	}
	return codeID.ReplaceAllString(string(text), "")
}

// codeID is the record of a build id.
var codeID = regexp.MustCompile(`(?m)^INFO CODE_ID .*\n`)

// FirstLines returns the first n lines of a text.
func FirstLines(text string, n int) string {
	lines := strings.SplitN(text, "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "\n")
}
