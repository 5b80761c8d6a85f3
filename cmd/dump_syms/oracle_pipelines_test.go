//go:build oracle

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// recipes returns the code blocks of docs/pipelines.md in a language.
func recipes(t *testing.T, language string, want int) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/pipelines.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllSubmatch(text, -1) {
		blocks = append(blocks, string(m[1]))
	}
	if len(blocks) != want {
		t.Fatalf("%d recipes in %s, want %d", len(blocks), language, want)
	}
	return blocks
}

// workplace makes a directory with the sources that the recipes build.
func workplace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "app.c"), "static int twice(int x) { return x * 2; }\nint main(int argc, char **argv) { return twice(argc); }\n")
	write(t, filepath.Join(dir, "tool.c"), "int main(void) { return 0; }\n")
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// shell runs a script in dir; the programs of this module are on its PATH.
func shell(t *testing.T, dir, script string) string {
	t.Helper()
	sh := exec.Command("sh", "-e", "-c", script)
	sh.Dir = dir
	out, err := sh.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, script, out)
	}
	return string(out)
}

// buildPrograms puts the other programs of this module on the PATH.
func buildPrograms(t *testing.T) {
	t.Helper()
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, "symkit/cmd/symcheck").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Setenv("PATH", os.Getenv("PATH")+string(filepath.ListSeparator)+bin)
}

// wantSymbols wants a symbol file for each program in the store.
func wantSymbols(t *testing.T, store, suffix string, programs ...string) {
	t.Helper()
	files, err := readTree(store)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range programs {
		found := false
		for path := range files {
			dir, file := filepath.Split(path)
			found = found || strings.HasPrefix(dir, name+"/") && file == name+".sym"+suffix
		}
		if !found {
			t.Errorf("no %s in the store", name)
		}
	}
	if len(files) != len(programs) {
		t.Errorf("%d files in the store, want %d", len(files), len(programs))
	}
}

// TestOraclePipelines runs the recipes of docs/pipelines.md.
func TestOraclePipelines(t *testing.T) {
	buildPrograms(t)
	t.Run("make", func(t *testing.T) {
		blocks := recipes(t, "make", 2)
		dir := workplace(t)
		write(t, filepath.Join(dir, "Makefile"), blocks[0])
		shell(t, dir, "make\nhead -c 20 app.sym | grep '^MODULE Linux'\ngrep '^INLINE' app.sym\nreadelf -S app.stripped | grep debug_info && exit 1\nmake -q")
		write(t, filepath.Join(dir, "Makefile"), blocks[1])
		shell(t, dir, "make\nmake -q")
		wantSymbols(t, filepath.Join(dir, "symbols"), "", "app", "tool")
	})
	t.Run("cmake", func(t *testing.T) {
		dir := workplace(t)
		write(t, filepath.Join(dir, "CMakeLists.txt"), recipes(t, "cmake", 1)[0])
		shell(t, dir, "cmake -S . -B build\ncmake --build build\ncmake --install build --strip --prefix out\nreadelf -S out/bin/app | grep debug_info && exit 1\ntrue")
		wantSymbols(t, filepath.Join(dir, "build", "symbols"), "", "app")
	})
	t.Run("bazel", func(t *testing.T) {
		// Only the command: Bazel itself would have to be fetched.
		m := regexp.MustCompile(`cmd = "(.*)",\n`).FindStringSubmatch(recipes(t, "starlark", 1)[0])
		if m == nil {
			t.Fatal("no command")
		}
		command := strings.NewReplacer(`$(location //tools:dump_syms)`, "dump_syms", `$(location " + binary + ")`, "app", "$@", "app.sym").Replace(m[1])
		dir := workplace(t)
		shell(t, dir, "make CFLAGS=-g app\n"+command+"\ngrep '^FUNC' app.sym")
	})
	t.Run("GitHub", func(t *testing.T) {
		blocks := recipes(t, "yaml", 3)
		dir := workplace(t)
		shell(t, dir, runSteps(blocks[0]))
		wantSymbols(t, filepath.Join(dir, "symbols"), ".gz", "app", "tool")
		shell(t, dir, "make -B CFLAGS=-g app\n"+runSteps(blocks[1]))
		wantJSON(t, filepath.Join(dir, "symcheck.sarif"))
	})
	t.Run("GitLab", func(t *testing.T) {
		dir := workplace(t)
		script := ""
		for _, m := range regexp.MustCompile(`(?m)^    - (.*)$`).FindAllStringSubmatch(recipes(t, "yaml", 3)[2], -1) {
			script += m[1] + "\n"
		}
		shell(t, dir, script)
		wantSymbols(t, filepath.Join(dir, "symbols"), "", "app", "tool")
	})
	t.Run("packages", func(t *testing.T) {
		dir := workplace(t)
		shell(t, dir, packages+recipes(t, "sh", 1)[0])
		wantSymbols(t, filepath.Join(dir, "symbols"), ".gz", "app")
		manifest, err := os.ReadFile(filepath.Join(dir, "symbols.json"))
		if err != nil || !strings.Contains(string(manifest), `"input":"p.deb!/usr/bin/app","debug":"d.deb!/usr/lib/debug/.build-id/`) {
			t.Errorf("%s %v", manifest, err)
		}
	})
	t.Run("gdb", func(t *testing.T) {
		out := shell(t, workplace(t), "make CFLAGS=-g app\ndump_syms -s store/.build-id --layout=gdb --with-elf app\nstrip app\n"+
			"gdb -nx -batch -ex 'set debug-file-directory store' -ex 'file app' -ex 'info line twice'")
		if !strings.Contains(out, `Line 1 of "app.c"`) {
			t.Errorf("gdb: %s", out)
		}
	})
}

// packages makes a Debian package of app, and one of its debug file.
const packages = `
make CFLAGS=-g app
mkdir -p p/usr/bin p/DEBIAN d/DEBIAN
id=$(readelf -n app | sed -n 's/.*Build ID: //p')
debug=d/usr/lib/debug/.build-id/$(echo $id | cut -c1-2)
mkdir -p $debug
objcopy --only-keep-debug app $debug/$(echo $id | cut -c3-).debug
strip -o p/usr/bin/app app
for name in p d; do
	printf 'Package: %s\nVersion: 1\nArchitecture: all\nMaintainer: me <me@example.org>\nDescription: test\n' $name > $name/DEBIAN/control
	dpkg-deb --root-owner-group -b $name $name.deb
done
rm app
`

// runSteps joins the commands of the steps of a GitHub workflow.
func runSteps(workflow string) (script string) {
	for _, m := range regexp.MustCompile(`(?m)^( *)run: \|\n((?:[^\n]*\n)*?)(?: {0,8}- |\z)`).FindAllStringSubmatch(workflow, -1) {
		script += m[2]
	}
	return script
}

func wantJSON(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || !json.Valid(text) {
		t.Errorf("%s: no JSON, %v", path, err)
	}
}
