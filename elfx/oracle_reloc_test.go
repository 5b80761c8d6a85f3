//go:build oracle

package elfx

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"symkit/test/elftest"
)

// relocSource has what makes relocations: code in sections of its own, COMDAT
// groups, split ranges, thread-local and common data, exceptions.
const relocSource = `
struct base { virtual ~base(); virtual int f(int); };
struct derived : base { int f(int) override; };
template <typename T> inline T twice(T x) { static T last; last = x; return last + x; }
thread_local int local_counter = 3;
int common_counter;
extern int elsewhere(int, void (*)(int));
static void callback(int x) { common_counter += x; }
int derived::f(int x) {
	try { return elsewhere(twice(x), callback); } catch (int e) { return twice((long)e); }
}
base::~base() { local_counter++; }
int base::f(int x) { base b; return b.f(x) + local_counter; }
__attribute__((cold)) int cold(int x) { if (x > 7) return elsewhere(x, callback); return 0; }
int main(int argc, char **argv) { derived d; return d.f(argc) + cold(argc); }
`

// toolchain compiles and links for one machine.
type toolchain struct {
	name    string
	compile []string
	ld      []string
	machine elf.Machine
}

func gnu(triplet string, machine elf.Machine, flags ...string) toolchain {
	name := strings.Join(append([]string{triplet}, flags...), " ")
	return toolchain{name: name, machine: machine,
		compile: append([]string{triplet + "-g++"}, flags...), ld: []string{triplet + "-ld", "--no-relax", "--traditional-format"}}
}

func llvm(triplet string, machine elf.Machine, flags ...string) toolchain {
	return toolchain{name: "clang " + triplet, machine: machine,
		compile: append([]string{"clang++", "--target=" + triplet}, flags...), ld: []string{"ld.lld", "-O0", "--no-relax", "-z", "norelro"}}
}

var toolchains = []toolchain{
	gnu("x86_64-linux-gnu", elf.EM_X86_64, "-Wa,--gsframe"), gnu("i686-linux-gnu", elf.EM_386),
	gnu("i686-linux-gnu", elf.EM_386, "-fPIC"),
	gnu("aarch64-linux-gnu", elf.EM_AARCH64, "-Wa,--gsframe"), gnu("arm-linux-gnueabihf", elf.EM_ARM, "-mthumb"),
	gnu("arm-linux-gnueabihf", elf.EM_ARM, "-marm"),
	gnu("riscv64-linux-gnu", elf.EM_RISCV, "-mno-relax"), gnu("riscv64-linux-gnu", elf.EM_RISCV, "-Os"),
	gnu("s390x-linux-gnu", elf.EM_S390), gnu("powerpc64le-linux-gnu", elf.EM_PPC64),
	gnu("mips-linux-gnu", elf.EM_MIPS),
	llvm("mips64-linux-gnuabi64", elf.EM_MIPS), llvm("mips64el-linux-gnuabi64", elf.EM_MIPS), llvm("mipsel-linux-gnu", elf.EM_MIPS),
	llvm("powerpc64-linux-gnu", elf.EM_PPC64), llvm("powerpc-linux-gnu", elf.EM_PPC), llvm("aarch64_be-linux-gnu", elf.EM_AARCH64),
	llvm("mips64-linux-gnuabin32", elf.EM_MIPS), llvm("x86_64-linux-gnux32", elf.EM_X86_64),
	llvm("sparcv9-linux-gnu", elf.EM_SPARCV9, "-fintegrated-as"),
}

// TestOracleRelocations links each toolchain's objects with a linker script
// that puts every section where layOut does, and compares the bytes of debug
// and unwind sections.
func TestOracleRelocations(t *testing.T) {
	for _, c := range toolchains {
		for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
			t.Run(c.name+" "+version, func(t *testing.T) {
				dir := t.TempDir()
				source, object := filepath.Join(dir, "a.cc"), filepath.Join(dir, "a.o")
				elftest.Write(t, source, []byte(relocSource))
				args := append(c.compile[1:len(c.compile):len(c.compile)], "-O2", version, "-fcommon", "-ffunction-sections",
					"-fasynchronous-unwind-tables", "-c", source, "-o", object)
				if strings.Contains(c.name, "-Os") {
					args = append(args, "-Os") // the last one counts
				}
				run(t, c.compile[0], args...)
				compareLinked(t, c, object)
			})
		}
	}
}

func compareLinked(t *testing.T, c toolchain, object string) {
	t.Helper()
	// The linker must not merge strings and constants, which moves them.
	plain := object + ".plain"
	var copying []string
	merged := openFile(t, object)
	for i := range merged.Sections {
		if s := &merged.Sections[i]; s.Flags&(elf.SHF_MERGE|elf.SHF_ALLOC) == elf.SHF_MERGE {
			copying = append(copying, "--set-section-flags="+s.Name+"=readonly")
		} else if s.Flags&elf.SHF_MERGE != 0 {
			copying = append(copying, "--set-section-flags="+s.Name+"=alloc,readonly,data,contents")
		}
	}
	// The linker writes SFrame anew; not under another name.
	copying = append(copying, "--rename-section=.sframe=.sframe_kept")
	if c.ld[0] == "ld.lld" { // it drops CIEs that repeat; not under another name
		copying = append(copying, "--rename-section=.eh_frame=.eh_frame_kept")
	}
	run(t, "llvm-objcopy", append(copying, object, plain)...)
	f := openFile(t, plain)
	if f.Type != elf.ET_REL || f.Machine != c.machine {
		t.Fatalf("%v for %v", f.Type, f.Machine)
	}
	script, linked := object+".ld", object+".linked"
	elftest.Write(t, script, []byte(linkerScript(f)))
	args := append(c.ld[1:len(c.ld):len(c.ld)], "-static", "-e", "0", "--no-gc-sections", "--unresolved-symbols=ignore-all", "--no-check-sections",
		"--no-eh-frame-hdr", "-T", script, "-o", linked, plain)
	if out, err := exec.Command(c.ld[0], args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	want := openFile(t, linked)
	n := 0
	for i := range f.Sections {
		s := &f.Sections[i]
		// The linker sorts and merges ARM's unwind tables, and its TARGET2 goes
		// through a GOT.
		if s.applied() == 0 || strings.HasPrefix(s.Name, ".ARM.ex") {
			continue
		}
		got, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		w := want.Section(s.Name)
		if w == nil {
			t.Errorf("%s: not in the linked file", s.Name)
			continue
		}
		linkedData, err := w.Data()
		if err != nil {
			t.Fatal(err)
		}
		if w.Addr != s.Addr {
			t.Errorf("%s at %#x, linked at %#x", s.Name, s.Addr, w.Addr)
		}
		if s.Name == ".opd" {
			// The linker alone chooses the TOC base, the second of three words.
			linkedData = bytes.Clone(linkedData)
			for i := 8; i+8 <= len(linkedData); i += 24 {
				clear(linkedData[i : i+8])
			}
		}
		n++
		diffSection(t, s, got, linkedData)
	}
	for _, err := range f.RelocLosses() {
		t.Error(err)
	}
	if n < 5 {
		t.Errorf("%d sections compared", n)
	}
}

func diffSection(t *testing.T, s *Section, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d bytes, linked %d", s.Name, len(got), len(want))
		return
	}
	differ := 0
	for i := range got {
		if got[i] != want[i] {
			if differ++; differ <= 4 {
				from, upto := max(i-4, 0), min(i+8, len(got))
				t.Errorf("%s+%#x: % x, linked % x", s.Name, i, got[from:upto], want[from:upto])
			}
		}
	}
	t.Errorf("%s: %d of %d bytes differ", s.Name, differ, len(got))
}

// linkerScript places the sections of f where layOut did.
func linkerScript(f *File) string {
	var b strings.Builder
	b.WriteString("SECTIONS {\n")
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Type == elf.SHT_NULL || s.Type == elf.SHT_REL || s.Type == elf.SHT_RELA || !s.loaded() && !strings.HasPrefix(s.Name, ".debug") {
			continue
		}
		fmt.Fprintf(&b, "%s %#x : { *(%s) }\n", s.Name, s.Addr, s.Name)
	}
	b.WriteString("}\n")
	return b.String()
}

var atSection = regexp.MustCompile(`\(([^)]+)\)(?:\+0)?$`)

// TestCorpusLayout asks elfutils which section is at each address that layOut
// gave, in Debian's kernel modules.
func TestCorpusLayout(t *testing.T) {
	root := os.Getenv("SYMKIT_CORPUS")
	modules, err := filepath.Glob(filepath.Join(root, "linux-image-*-dbg/usr/lib/debug/lib/modules/*"))
	if root == "" || err != nil || len(modules) == 0 {
		t.Fatal("SYMKIT_CORPUS has no kernel modules")
	}
	files, sections := 0, 0
	out := run(t, "find", append(modules, "-name", "*.ko")...)
	for _, path := range strings.Fields(out) {
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		args := []string{"-e", path, "-x"}
		var want []*Section
		for i := range f.Sections {
			if s := &f.Sections[i]; s.loaded() && s.Size > 0 {
				args = append(args, fmt.Sprintf("%#x", s.Addr))
				want = append(want, s)
			}
		}
		lines := strings.Split(run(t, "eu-addr2line", args...), "\n")
		for i, s := range want {
			m := atSection.FindStringSubmatch(lines[2*i])
			// An empty section at the same address is named as well.
			if m == nil || m[1] != s.Name && !(f.named(m[1]).Size == 0 && f.named(m[1]).Addr == s.Addr) {
				t.Errorf("%s: %#x is %s, want %s", path, s.Addr, lines[2*i], s.Name)
			}
			sections++
		}
		files++
		f.Close()
	}
	t.Logf("%d modules, %d sections", files, sections)
}

// TestCorpusModules relocates every kernel module without a loss, and compares
// every fortieth with what the linker makes of it.
func TestCorpusModules(t *testing.T) {
	modules, err := filepath.Glob(filepath.Join(os.Getenv("SYMKIT_CORPUS"), "linux-image-*-dbg/usr/lib/debug/lib/modules/*"))
	if err != nil || len(modules) == 0 {
		t.Fatal("SYMKIT_CORPUS has no kernel modules")
	}
	paths := strings.Fields(run(t, "find", append(modules, "-name", "*.ko")...))
	for i, path := range paths {
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for j := range f.Sections {
			s := &f.Sections[j]
			if s.applied() == 0 {
				continue
			}
			if _, err := s.Data(); err != nil {
				t.Error(err)
			}
		}
		for _, err := range append(f.Losses(), f.RelocLosses()...) {
			t.Error(err)
		}
		f.Close()
		if i%40 == 0 {
			object := filepath.Join(t.TempDir(), "a.o")
			run(t, "cp", path, object)
			compareLinked(t, toolchains[0], object)
		}
	}
	t.Logf("%d modules", len(paths))
}
