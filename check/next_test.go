//go:build oracle

// Checks of the next corpus (scripts/corpus-next.sh): newer toolchains, foreign
// machines, other packagers than Debian.

package check

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/check/report"
	"symkit/elfx"
	"symkit/elfx/companion"
)

// nextExceptions lists files of the next corpus that have findings, or that
// dump_syms rejects, for a reason that is not symkit's.
var nextExceptions = []struct {
	file   string // what path.Match takes, relative to the corpus
	says   string // part of each finding, or of the error
	reason string
}{
	{"toolchains/*-gsplit-dwarf.o", "split DWARF file (.dwo, .dwp) was not found", "the .dwo files are not in the corpus"},
}

// TestNextOwn checks that our own output for each ELF file of the next corpus,
// with and without inlined calls, has no findings. Only a file without symbols
// may be rejected.
func TestNextOwn(t *testing.T) {
	root := os.Getenv("SYMKIT_CORPUS_NEXT")
	if root == "" {
		t.Fatal("SYMKIT_CORPUS_NEXT is not set; see scripts/corpus-next.sh")
	}
	groups, err := filepath.Glob(filepath.Join(root, "[a-z]*"))
	if err != nil || len(groups) == 0 {
		t.Fatalf("nothing in %s: %v", root, err)
	}
	for _, group := range groups {
		debugDirs, err := filepath.Glob(filepath.Join(group, "*-dbg", companion.DefaultDebugDir))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(group), func(t *testing.T) { nextGroup(t, root, group, debugDirs) })
	}
}

// nextGroup checks the ELF files below dir, those of one release and machine,
// for instance.
func nextGroup(t *testing.T, root, dir string, debugDirs []string) {
	checked, empty := 0, 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := elfx.Open(path)
		if err != nil {
			return nil // no ELF file
		}
		defer f.Close()

		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if nextFile(t, f, name, path, debugDirs) {
			checked++
		} else {
			empty++
		}
		return nil
	})
	if err != nil || checked == 0 {
		t.Errorf("%d files: %v", checked, err)
	}
	t.Logf("%d files; %d have no symbols", checked, empty)
}

// nextFile checks the output for one file. It returns false for a file without
// symbols.
func nextFile(t *testing.T, f *elfx.File, name, path string, debugDirs []string) bool {
	t.Helper()
	places := companion.Search{DebugDirs: debugDirs}
	debug, _ := places.FindDebug(t.Context(), f)
	if debug != nil {
		defer debug.Close()
	}
	img, err := elfx.Join(f, debug)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return true
	}
	others := companion.Find(t.Context(), img, companion.Search{})
	defer others.Close()

	args := []string{path}
	for _, dir := range debugDirs {
		args = append(args, "--debug-dir="+dir)
	}
	if img.BuildID() == nil {
		args = append(args, "--id="+objectID)
	}
	for _, flags := range [][]string{nil, {"--inlines"}} {
		var stdout, stderr bytes.Buffer
		cmd := exec.Command(dumpSyms(t), append(flags, args...)...)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		if err != nil && strings.Contains(stderr.String(), ": no symbols: ") {
			return false
		}
		if err != nil {
			if !nextExcepted(name, stderr.String()) {
				t.Errorf("%s %v: %v: %s", name, flags, err, stderr.String())
			}
			return true
		}

		rep, err := File(context.Background(), img, stdout.Bytes(), Options{Companions: others, ID: objectID, Options: report.Options{Limit: 1000}})
		if err != nil {
			t.Errorf("%s %v: %v", name, flags, err)
			continue
		}
		findings := slices.DeleteFunc(slices.Clone(rep.Findings), func(f report.Finding) bool { return nextExcepted(name, f.What) })
		gaps := slices.DeleteFunc(slices.Clone(rep.Gaps), func(g report.Gap) bool { return g.Allowed || nextExcepted(name, g.What) })
		if len(findings)+len(gaps) > 0 {
			t.Errorf("%s %v: %d findings, %d gaps\n%s", name, flags, rep.Total(), len(gaps), text(t, rep))
		}
	}
	return true
}

// nextExcepted reports whether one of the exceptions covers message.
func nextExcepted(name, message string) bool {
	for _, e := range nextExceptions {
		match, err := filepath.Match(e.file, name)
		if err != nil {
			panic(err)
		}
		if match && strings.Contains(message, e.says) {
			return true
		}
	}
	return false
}
