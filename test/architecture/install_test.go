//go:build unix

package architecture

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestInstall: make install puts programs, links, pages and completions where man and the shells
// look, and make uninstall removes them. Without Go, what was built is installed: root's PATH often
// lacks it.
func TestInstall(t *testing.T) {
	t.Chdir(top)
	dir, dest := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"Makefile": "", "packaging/links": "", "bin/dump_syms": "d", "bin/symcheck": "c", "bin/stackwalk": "w", "bin/symaddr": "a", "bin/symserve": "s",
		"bin/share/man/man1/symcheck-lint.1": "m", "bin/share/bash-completion/completions/symcheck": "b",
		"bin/share/zsh/site-functions/_symcheck": "z", "bin/share/fish/vendor_completions.d/symcheck.fish": "f"} {
		if text == "" {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			text = string(data)
		}
		path := filepath.Join(dir, name)
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o777))
		if err != nil {
			t.Fatal(err)
		}
	}

	run := func(args ...string) (installed []string) {
		t.Helper()
		cmd := exec.Command("make", append(args, "GO=no-such-go", "DESTDIR="+dest, "PREFIX=/opt/symkit", "ZSHDIR=/usr/share/zsh/vendor-completions")...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("make %s: %v: %s", args, err, out)
		}
		err = filepath.WalkDir(dest, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				installed = append(installed, strings.TrimPrefix(filepath.ToSlash(path), filepath.ToSlash(dest)))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return installed
	}

	got := run("install")
	want := []string{"/opt/symkit/bin/dump_syms", "/opt/symkit/bin/microdump_stackwalk", "/opt/symkit/bin/minidump-stackwalk",
		"/opt/symkit/bin/minidump_stackwalk", "/opt/symkit/bin/stackwalk", "/opt/symkit/bin/symaddr", "/opt/symkit/bin/symcheck", "/opt/symkit/bin/symserve",
		"/opt/symkit/lib/symkit/bin/addr2line", "/opt/symkit/lib/symkit/bin/llvm-addr2line", "/opt/symkit/lib/symkit/bin/llvm-symbolizer",
		"/opt/symkit/share/bash-completion/completions/symcheck", "/opt/symkit/share/fish/vendor_completions.d/symcheck.fish",
		"/opt/symkit/share/man/man1/symcheck-lint.1", "/usr/share/zsh/vendor-completions/_symcheck"}
	if !slices.Equal(got, want) {
		t.Errorf("installed: %q, want %q", got, want)
	}
	if left := run("uninstall"); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}
