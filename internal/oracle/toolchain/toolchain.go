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
	"symkit/internal/oracle"
)

// Toolchain makes one program in all the forms that it can have. All commands
// run in one directory; sources are named from there.
type Toolchain struct {
	t    *testing.T
	dir  string
	cc   string   // compiler of C; C++ is its sibling
	Base []string // flags of all compilations
}

func New(t *testing.T, cc string, flags ...string) *Toolchain {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../testdata/companions")); err != nil {
		t.Fatal(err)
	}
	return &Toolchain{t: t, dir: dir, cc: cc, Base: flags}
}

func (x *Toolchain) Path(name string) string { return filepath.Join(x.dir, name) }

// Run runs a command in the directory.
func (x *Toolchain) Run(name string, args ...string) {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(x.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = x.dir
	if text, err := cmd.CombinedOutput(); err != nil {
		x.t.Fatalf("%v: %v\n%s", cmd, err, text)
	}
}

// cxx is the compiler of C++.
func (x *Toolchain) cxx() string {
	if strings.HasSuffix(x.cc, "gcc") {
		return strings.TrimSuffix(x.cc, "gcc") + "g++"
	}
	return x.cc + "++"
}

// link compiles the sources, each by itself as builds do, to PROGRAM-SOURCE.o and
// links them. Compiler flags count for both.
func (x *Toolchain) link(program string, flags ...string) {
	x.t.Helper()
	flags = slices.Concat(x.Base, flags)
	link := []string{"-o", program, "-Wl,--build-id=sha1"}
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

// Dump is the symbol file of a program of the directory, without what tells one
// link from another: its build id.
func (x *Toolchain) Dump(program string, places elfx.Places) string {
	x.t.Helper()
	return dumpCompanions(x.t, x.Path(program), places)
}

func dumpCompanions(t *testing.T, path string, places elfx.Places) string {
	t.Helper()
	f, err := elfx.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	img := &elfx.Image{Main: f}
	if s := f.Section(".debug_info"); s == nil || !s.Present() {
		if debug, _ := places.FindDebug(f); debug != nil {
			if img, err = elfx.Join(f, debug); err != nil {
				t.Fatal(err)
			}
		}
	}
	defer img.Close()
	others := img.FindCompanions(places)
	defer others.Close()
	text, stats := oracle.DumpImage(t, img, dump.Options{Name: "app", ID: "0", Inlines: true, Companions: others})
	for _, warning := range stats.Warnings {
		t.Errorf("%s: %s", filepath.Base(path), warning)
	}
	return codeID.ReplaceAllString(string(text), "")
}

// codeID is the record of a build id.
var codeID = regexp.MustCompile(`(?m)^INFO CODE_ID .*\n`)

func FirstLines(text string, n int) string {
	lines := strings.SplitN(text, "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "\n")
}
