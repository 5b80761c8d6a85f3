//go:build oracle

package elfx

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"symkit/test/elftest"
)

// run runs a program, which must be installed and succeed.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(out)
}

var (
	readelfID     = regexp.MustCompile(`Build ID: ([0-9a-f]+)`)
	readelfSoname = regexp.MustCompile(`Library soname: \[(.*)\]`)
)

// compareReadelf compares the build id and the soname with readelf's. A file
// that holds nothing loaded has its dynamic section elsewhere.
func compareReadelf(t *testing.T, path string, f *File) {
	t.Helper()
	var id, soname string
	if m := readelfID.FindStringSubmatch(run(t, "readelf", "-nW", path)); m != nil {
		id = m[1]
	}
	if got := hex.EncodeToString(f.BuildID()); got != id {
		t.Errorf("%s: build id %s, readelf has %s", path, got, id)
	}
	if !f.HoldsLoaded() {
		return
	}
	if m := readelfSoname.FindStringSubmatch(run(t, "readelf", "-dW", path)); m != nil {
		soname = m[1]
	}
	if got, err := Soname(f); got != soname || err != nil {
		t.Errorf("%s: soname %q, %v, readelf has %q", path, got, err, soname)
	}
}

// TestOracleCorpus compares Debian's files with debug/elf and readelf. Of the
// kernel's thousand modules every tenth is read, and of files above 16 MB only
// what is not inflated.
func TestOracleCorpus(t *testing.T) {
	root := os.Getenv("SYMKIT_CORPUS")
	if root == "" {
		t.Fatal("SYMKIT_CORPUS is not set")
	}
	files, modules := 0, 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if strings.HasSuffix(path, ".ko") {
			if modules++; modules%10 != 0 {
				return nil
			}
		}
		f, err := Open(path)
		if err != nil {
			return nil // documentation, scripts
		}
		defer f.Close()
		files++
		compareReadelf(t, path, f)
		if f.Size() <= 16<<20 {
			compareDebugELF(t, path, f.data)
		} else {
			compareLarge(t, path, f)
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Fatalf("%d files, %v", files, err)
	}
	t.Logf("%d ELF files", files)
}

func compareLarge(t *testing.T, path string, f *File) {
	t.Helper()
	want, err := elf.NewFile(bytes.NewReader(f.data))
	if err != nil {
		t.Fatal(err)
	}
	compareSymbols(t, path, f, want)
	abbrev := want.Section(".debug_abbrev")
	if abbrev == nil {
		return // a stripped program
	}
	theirs, err := abbrev.Data()
	if err != nil {
		t.Fatal(err)
	}
	if ours, err := f.SectionData(".debug_abbrev"); !bytes.Equal(ours, theirs) || err != nil {
		t.Errorf("%s: .debug_abbrev: %d bytes, %v", path, len(ours), err)
	}
}

const oracleSource = `
int counter; static int twice(int x) { return 2 * x; }
int visible(int x) { return twice(x) + counter; }
int main(void) { return visible(3); }
`

// compilers are the cross compilers, their objcopy's prefix and Arch.
var compilers = []struct{ prefix, arch string }{
	{"x86_64-linux-gnu-", "x86_64"}, {"i686-linux-gnu-", "x86"}, {"aarch64-linux-gnu-", "arm64"}, {"arm-linux-gnueabihf-", "arm"},
	{"riscv64-linux-gnu-", "riscv64"}, {"s390x-linux-gnu-", "s390x"}, {"powerpc64le-linux-gnu-", "ppc64"}, {"mips-linux-gnu-", "mips"},
}

// TestOracleCompilers compares what each toolchain writes: shared library,
// object, stripped, without section headers, compressed, split in two.
func TestOracleCompilers(t *testing.T) {
	for _, c := range compilers {
		t.Run(c.arch, func(t *testing.T) {
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			elftest.Write(t, at("a.c"), []byte(oracleSource))
			gcc, objcopy := c.prefix+"gcc", c.prefix+"objcopy"
			run(t, gcc, "-g", "-O1", "-fPIC", "-shared", "-Wl,-soname,liba.so.7", "-Wl,--build-id", "-o", at("liba.so"), at("a.c"))
			run(t, gcc, "-g", "-O1", "-c", "-ffunction-sections", "-o", at("a.o"), at("a.c"))
			run(t, gcc, "-g", "-O1", "-shared", "-fPIC", "-Wl,--build-id=none", "-o", at("noid.so"), at("a.c"))
			run(t, objcopy, "--only-keep-debug", at("liba.so"), at("liba.debug"))
			run(t, objcopy, "--strip-all", "--add-gnu-debuglink="+at("liba.debug"), at("liba.so"), at("stripped.so"))
			run(t, "llvm-objcopy", "--strip-sections", at("liba.so"), at("headerless.so"))
			for _, kind := range []string{"zlib", "zlib-gnu", "zstd"} {
				run(t, objcopy, "--compress-debug-sections="+kind, at("liba.so"), at(kind+".so"))
				compareSections(t, openFile(t, at("liba.so")), openFile(t, at(kind+".so")))
			}
			for _, name := range []string{"liba.so", "a.o", "noid.so", "liba.debug", "stripped.so", "zlib.so", "zlib-gnu.so", "zstd.so"} {
				f := openFile(t, at(name))
				compareReadelf(t, at(name), f)
				if name != "zstd.so" && name != "zlib-gnu.so" {
					compareDebugELF(t, name, f.data)
				}
				compareRelocs(t, at(name), f, c.prefix+"readelf")
			}
			checkPair(t, openFile(t, at("stripped.so")))
			compareHeaderless(t, openFile(t, at("liba.so")), openFile(t, at("headerless.so")))
		})
	}
}

func compareSections(t *testing.T, plain, packed *File) {
	t.Helper()
	n := 0
	for i := range plain.Sections {
		s := &plain.Sections[i]
		if !strings.HasPrefix(s.Name, ".debug_") {
			continue
		}
		want, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		if packed.Section(s.Name).compressed() {
			n++
		}
		if got, err := packed.SectionData(s.Name); !bytes.Equal(got, want) || err != nil {
			t.Errorf("%s: %s: %d bytes, %v, want %d", packed.path, s.Name, len(got), err, len(want))
		}
	}
	if n == 0 {
		t.Errorf("%s: nothing is compressed", packed.path)
	}
}

func checkPair(t *testing.T, stripped *File) {
	t.Helper()
	debug := openFile(t, filepath.Join(filepath.Dir(stripped.Path()), "liba.debug"))
	if m, err := Join(debug, stripped); err != nil || m.Main != stripped || debug.HoldsLoaded() {
		t.Errorf("%v, debug file holds code: %v", err, debug.HoldsLoaded())
	}
}

// compareHeaderless compares a file with its twin without section headers.
func compareHeaderless(t *testing.T, full, headerless *File) {
	t.Helper()
	if len(headerless.Sections) != 0 || !bytes.Equal(headerless.buildID, full.buildID) || len(headerless.Losses()) != 0 {
		t.Errorf("%d sections, build id %x, losses %v", len(headerless.Sections), headerless.buildID, headerless.Losses())
	}
	want, err := Soname(full)
	if got, gotErr := Soname(headerless); got != want || want == "" || err != nil || gotErr != nil {
		t.Errorf("soname %q, %v, want %q, %v", got, gotErr, want, err)
	}
	a, err := full.Dynsym()
	b, headerlessErr := headerless.Dynsym()
	if err != nil || headerlessErr != nil || b == nil || len(a.Symbols) != len(b.Symbols) {
		t.Fatalf(".dynsym: %v, %v, %v", b, err, headerlessErr)
	}
	for i := range a.Symbols {
		if x, y := &a.Symbols[i], &b.Symbols[i]; *x != *y || string(a.NameOf(x)) != string(b.NameOf(y)) {
			t.Errorf("symbol %d: %+v, %+v", i, x, y)
		}
	}
	if full.Section(".eh_frame_hdr") == nil {
		return
	}
	wantEH, err := full.SectionData(".eh_frame")
	gotEH, headerlessErr := headerless.SectionData(".eh_frame")
	if !bytes.Equal(gotEH, wantEH) || err != nil || headerlessErr != nil {
		t.Errorf(".eh_frame: %d bytes, %v, want %d, %v", len(gotEH), headerlessErr, len(wantEH), err)
	}
}

// compareRelocs compares the number of relocations, and each one's offset and
// symbol, with readelf's.
func compareRelocs(t *testing.T, path string, f *File, readelf string) {
	t.Helper()
	out := run(t, readelf, "-rW", path)
	if strings.HasSuffix(path, ".debug") {
		return // NOBITS
	}
	lines := regexp.MustCompile(`(?m)^([0-9a-f]{8,16})  ?[0-9a-f]{8,16} (R_\S+)`).FindAllStringSubmatch(out, -1)
	var got []string
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Type != elf.SHT_REL && s.Type != elf.SHT_RELA {
			continue
		}
		relocs, err := s.Relocs()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range relocs {
			got = append(got, fmt.Sprintf("%0*x", 2*f.AddrSize(), r.Offset))
		}
	}
	if len(got) != len(lines) {
		t.Errorf("%s: %d relocations, readelf has %d", path, len(got), len(lines))
		return
	}
	for i, line := range lines {
		if got[i] != line[1] {
			t.Errorf("%s: relocation %d at %s, readelf has %s", path, i, got[i], line[1])
		}
	}
}

// TestOracleLinkers reads what gold and lld write.
func TestOracleLinkers(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "a.c")
	elftest.Write(t, source, []byte(oracleSource))
	for _, linker := range []string{"bfd", "gold", "lld"} {
		for _, kind := range []string{"none", "zlib"} {
			out := filepath.Join(dir, linker+kind)
			run(t, "clang", "-g", "-fuse-ld="+linker, "-Wl,--build-id", "-Wl,--compress-debug-sections="+kind, "-o", out, source)
			f := openFile(t, out)
			compareReadelf(t, out, f)
			compareDebugELF(t, out, f.data)
			if s := f.Section(".eh_frame"); s == nil || !s.Present() || s.Size == 0 {
				t.Errorf("%s: .eh_frame %+v", out, s)
			}
		}
	}
}

// TestOraclePackedRelocs: a library with Android's packed relocations has those of
// the same library without.
func TestOraclePackedRelocs(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "a.c")
	elftest.Write(t, source, []byte(`
		extern int e(void), f(int);
		int a, b;
		void *table[] = { &a, &b, e, f, &a, (char *)&b + 2, table, table + 1, table + 2, table + 3 };
		int g(void) { return e() + f(3); }`))
	for _, target := range []string{"x86_64-linux-gnu", "i386-linux-gnu", "aarch64-linux-gnu", "arm-linux-gnueabihf"} {
		relocs := map[string][]Reloc{}
		for _, pack := range []string{"none", "android"} {
			out := filepath.Join(dir, target+pack)
			run(t, "clang", "--target="+target, "-O2", "-fPIC", "-shared", "-nostdlib", "-fuse-ld=lld", "-Wl,--pack-dyn-relocs="+pack, "-o", out, source)
			file := openFile(t, out)
			var names []string
			for i := range file.Sections {
				s := &file.Sections[i]
				if s.Name != ".rela.dyn" && s.Name != ".rel.dyn" {
					continue
				}
				names = append(names, s.Name)
				list, err := s.Relocs()
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range list {
					r.Offset -= file.Section(".data").Addr
					if r.Sym == 0 {
						r.Addend = 0 // an address, which the other layout moves
					}
					relocs[pack] = append(relocs[pack], r)
				}
			}
			if len(names) != 1 || len(relocs[pack]) < 10 {
				t.Errorf("%s: %v, %d relocations", out, names, len(relocs[pack]))
			}
			slices.SortFunc(relocs[pack], func(a, b Reloc) int { return cmp.Compare(a.Offset, b.Offset) })
		}
		if !slices.Equal(relocs["none"], relocs["android"]) {
			t.Errorf("%s: %+v, unpacked %+v", target, relocs["android"], relocs["none"])
		}
	}
}

// openFile opens the file at path until the test ends.
func openFile(t *testing.T, path string) *File {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
