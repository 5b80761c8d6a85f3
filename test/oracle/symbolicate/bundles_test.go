//go:build oracle

package symbolicate

import (
	"bytes"
	"cmp"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/test/programtest"
)

// bundle is what symbolic, and the zip file, say of a bundle of source files.
type bundle struct {
	Kind, Arch, CodeID, DebugID string
	Features                    []string
	Manifest                    map[string]any
	Files                       map[string]string // by path
}

// TestOraclePeerBundles: symbolic reads the bundles of --with-sources, whose ids are those of the program and whose texts
// are those that clang and rustc embedded. Of files on disk sentry-cli makes a bundle with the same manifest and texts.
// CLANG and RUSTC name the compilers.
func TestOraclePeerBundles(t *testing.T) {
	dumper := programtest.Build(t, "dump_syms")
	ask := clients(t, "bundle", "")
	read := func(path string) (b bundle) {
		t.Helper()
		ask(path, &b)
		return b
	}
	run := func(name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Env = append(os.Environ(), "RUSTC_BOOTSTRAP=1") // for flags that are not stable
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
	}
	clang, rustc := cmp.Or(os.Getenv("CLANG"), "clang"), cmp.Or(os.Getenv("RUSTC"), "rustc")
	texts := map[string]string{
		"main.c":  "#include \"part.h\"\nint main(int argc, char **argv)\n{\n\treturn part(argc) + (int)sizeof(\"é\");\n}\n",
		"part.h":  "__attribute__((noinline)) static int part(int x) { return x * 3; }\n",
		"main.rs": "mod part;\nfn main() { std::process::exit(part::part(std::env::args().len() as i32)) }\n",
		"part.rs": "#[inline(never)]\npub fn part(x: i32) -> i32 { x * 3 }\n",
	}
	for _, c := range []struct {
		name, suffix      string
		embedded, without []string
	}{
		{"clang", ".c", []string{clang, "-gdwarf-5", "-gembed-source", "-O1", "-Wl,--build-id"}, []string{clang, "-gdwarf-5", "-O1", "-Wl,--build-id"}},
		{"rustc", ".rs", []string{rustc, "-Zembed-source", "-Zdwarf-version=5", "-g", "-Clink-arg=-Wl,--build-id"}, []string{rustc, "-g", "-Clink-arg=-Wl,--build-id"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range texts {
				programtest.Write(t, filepath.Join(dir, name), []byte(text))
			}
			source := filepath.Join(dir, "main"+c.suffix)
			embedded, without, store := filepath.Join(dir, "embedded"), filepath.Join(dir, "without"), filepath.Join(dir, "store")
			run(c.embedded[0], append(c.embedded[1:], "-o", embedded, source)...)
			run(c.without[0], append(c.without[1:], "-o", without, source)...)
			run(dumper, "--store", store, "--with-sources", "--source-dir", "/=/", without)
			run(programtest.Peer(t, "sentry-cli"), "debug-files", "bundle-sources", "--output", filepath.Join(dir, "theirs"), without)
			for name := range texts {
				err := os.Remove(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
			}
			run(dumper, "--store", store, "--with-sources", embedded)

			ours := read(only(t, filepath.Join(store, "without", "*", "without.src.zip")))
			theirs := read(filepath.Join(dir, "theirs", "without.src.zip"))
			if ours.Kind != theirs.Kind || ours.Arch != theirs.Arch || ours.CodeID != theirs.CodeID || ours.DebugID != theirs.DebugID || !slices.Equal(ours.Features, theirs.Features) {
				t.Errorf("symbolic reads %+v, and of sentry-cli's bundle %+v", ours, theirs)
			}
			for _, key := range []string{"arch", "code_id", "debug_id", "object_name"} {
				if ours.Manifest[key] != theirs.Manifest[key] {
					t.Errorf("%s: %v, sentry-cli has %v", key, ours.Manifest[key], theirs.Manifest[key])
				}
			}
			if !maps.Equal(ours.Files, theirs.Files) || len(ours.Files) < 2 {
				t.Errorf("files: %q, sentry-cli has %q", slices.Sorted(maps.Keys(ours.Files)), slices.Sorted(maps.Keys(theirs.Files)))
			}

			// Library files have no text, wherever they are in which table.
			b := read(only(t, filepath.Join(store, "embedded", "*", "embedded.src.zip")))
			if len(b.Files) < 2 || !slices.Equal(b.Features, []string{"sources"}) {
				t.Errorf("%+v", b)
			}
			for path, text := range b.Files {
				want, own := texts[filepath.Base(path)], strings.HasPrefix(path, dir+"/")
				if !own {
					data, err := os.ReadFile(path) // a header of the system, which clang embeds as well
					if err != nil {
						t.Errorf("%s has a text", path)
					}
					want = string(bytes.ToValidUTF8(data, nil))
				}
				if text != want {
					t.Errorf("%s: %q, want %q", path, text, want)
				}
			}
		})
	}
}

// only returns the one file of a pattern.
func only(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %q, %v", pattern, found, err)
	}
	return found[0]
}
