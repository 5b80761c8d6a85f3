//go:build oracle

package cfi

import (
	"bufio"
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"symkit/test/testfile"
)

// The oracle is readelf -wF (binutils 2.40): every FDE and every row. Where it
// is not followed:
//   - "u" stands for undefined and for no rule alike, so these are equal here;
//   - "exp" and "vexp" say only that there is an expression;
//   - an FDE whose instructions leave every rule alone is printed without a
//     row; here it has one, its CIE's;
//   - a row is printed that starts at the end of the FDE when the last advance
//     leads there; here it has no PCs and is left out.

// corpusFile is a file of the corpus, and what readelf prints of it; 0 is not
// asserted.
type corpusFile struct {
	glob       string
	fdes, rows int
}

func TestOracleCorpus(t *testing.T) {
	compareCorpus(t, []corpusFile{
		{"python3.11-dbg/usr/bin/python3.11d", 11319, 91458}, // rows that readelf prints
		{"libc6/lib/x86_64-linux-gnu/libc.so.6", 0, 0},
		{"libc6/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", 0, 0},
		{"libstdc++6/usr/lib/x86_64-linux-gnu/libstdc++.so.6.*", 0, 0},
	})
}

func TestCorpusReadelf(t *testing.T) {
	compareCorpus(t, []corpusFile{{"linux-image-*-cloud-amd64-dbg/usr/lib/debug/boot/vmlinux-*", 0, 0}})
}

func compareCorpus(t *testing.T, files []corpusFile) {
	dir := os.Getenv("SYMKIT_CORPUS")
	if dir == "" {
		t.Fatal("SYMKIT_CORPUS is not set")
	}
	for _, c := range files {
		t.Run(filepath.Base(c.glob), func(t *testing.T) {
			files, _ := filepath.Glob(filepath.Join(dir, c.glob))
			if len(files) == 0 {
				t.Fatalf("no %s", c.glob)
			}
			fdes, rows := compareReadelf(t, files[0])
			if c.fdes != 0 && (fdes != c.fdes || rows != c.rows) {
				t.Errorf("%d FDEs, %d rows; want %d, %d", fdes, rows, c.fdes, c.rows)
			}
			t.Logf("%d FDEs, %d rows", fdes, rows)
		})
	}
}

const oracleC = `
int ext(int, void *);
int f(int n) { char b[100]; return ext(n, b) + ext(n + 1, b) * n; }
double k(double a, double b) { int i = ext(3, &a); double c = a * b; ext(4, &b); return c + a * b + i; }
int g(int n) { return n ? f(n) + ext(n, &n) : 0; }
int big(int n) { char b[70000]; ext(n, b); return g(n) * ext(n, b); }
int var(int n) { char b[n]; ext(n, b); return g(n) * ext(n, b); }
int leaf(int a) { return a * 3; }
`

const oracleCC = `
#include <stdexcept>
#include <string>
int ext(int, void *);
struct S { std::string s; ~S() { ext(1, this); } };
int f(int n) { S s; if (n > 3) throw std::runtime_error("x"); return ext(n, &s) + 1; }
int g(int n) { char *p = (char *)__builtin_alloca(n); return ext(n, p) + f(n); }
int h(int n) { try { return f(n) + g(n); } catch (const std::exception &e) { return ext(2, (void *)e.what()); } }
`

func TestOracleCompilers(t *testing.T) {
	targets := []string{"x86_64-linux-gnu", "aarch64-linux-gnu", "arm-linux-gnueabihf", "riscv64-linux-gnu",
		"s390x-linux-gnu", "powerpc64le-linux-gnu", "mips-linux-gnu", "i686-linux-gnu"}
	debugFrame := []string{"-g", "-fno-asynchronous-unwind-tables", "-fno-exceptions"}
	for _, target := range targets {
		for _, c := range []struct {
			name, lang, source string
			flags              []string
		}{
			// (arm unwinds by .ARM.exidx and has no .eh_frame)
			{"eh_frame", "c++", oracleCC, []string{"-fasynchronous-unwind-tables"}},
			{"eh_frame_os", "c++", oracleCC, []string{"-Os", "-fasynchronous-unwind-tables"}},
			{"pac", "c", oracleC, []string{"-mbranch-protection=standard", "-fasynchronous-unwind-tables"}},
			{"gdwarf-2", "c", oracleC, append([]string{"-gdwarf-2", "-gstrict-dwarf"}, debugFrame...)},
			{"gdwarf-4", "c", oracleC, append([]string{"-gdwarf-4"}, debugFrame...)},
			{"gdwarf-5", "c", oracleC, append([]string{"-gdwarf-5"}, debugFrame...)},
		} {
			if c.lang == "c++" && strings.HasPrefix(target, "arm") {
				continue
			}
			if c.name == "pac" && !strings.HasPrefix(target, "aarch64") {
				continue
			}
			t.Run(target+"/"+c.name, func(t *testing.T) {
				out := filepath.Join(t.TempDir(), "a.so")
				args := append([]string{"-x", c.lang, "-O2", "-fPIC", "-shared", "-nostdlib"}, c.flags...)
				cmd := exec.Command(target+"-g++", append(args, "-o", out, "-")...)
				cmd.Stdin = strings.NewReader(c.source)
				if msg, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, msg)
				}
				if fdes, rows := compareReadelf(t, out); fdes == 0 {
					t.Error("no FDE")
				} else {
					t.Logf("%d FDEs, %d rows", fdes, rows)
				}
			})
		}
	}
}

// oracleFDE is one FDE as readelf prints it.
type oracleFDE struct {
	section    string
	begin, end uint64
	columns    []string
	rows       [][]string // address, CFA, then one per column
}

func readelfFrames(t *testing.T, file string) []oracleFDE {
	t.Helper()
	cmd := exec.Command("readelf", "-wFN", file) // N: not its debug file's
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out := parseFrames(t, pipe)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("readelf: %v: %s", err, stderr.Bytes())
	}
	return out
}

func parseFrames(t *testing.T, r io.Reader) (out []oracleFDE) {
	section, inFDE := "", false
	for sc := bufio.NewScanner(r); sc.Scan(); {
		line := sc.Text()
		f := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "Contents of the "):
			section = f[3]
		case len(f) == 0:
			inFDE = false
		case len(f) > 3 && f[3] == "FDE":
			e := oracleFDE{section: section}
			if _, err := fmt.Sscanf(line[strings.Index(line, "pc="):], "pc=%x..%x", &e.begin, &e.end); err != nil {
				t.Fatal(line, err)
			}
			out, inFDE = append(out, e), true
		case !inFDE:
		case f[0] == "LOC":
			out[len(out)-1].columns = f[2:]
		default:
			// A register is printed as "r1 (rdx)".
			f = slices.DeleteFunc(f, func(s string) bool { return s[0] == '(' })
			e := &out[len(out)-1]
			e.rows = append(e.rows, f)
		}
	}
	return out
}

// elfSections returns the call frame sections of an ELF file, .eh_frame first.
func elfSections(t testing.TB, file string) (*elf.File, []*Section) {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	var out []*Section
	for _, kind := range []SectionKind{EHFrame, DebugFrame} {
		es := f.Section(kind.String())
		if es == nil || es.Type == elf.SHT_NOBITS {
			continue
		}
		data, err := es.Data()
		if err != nil {
			t.Fatal(err)
		}
		s := &Section{Kind: kind, Data: data, Addr: es.Addr, AddrSize: 8, Machine: f.Machine,
			BigEndian: f.Data == elf.ELFDATA2MSB}
		if f.Class == elf.ELFCLASS32 {
			s.AddrSize = 4
		}
		if got := f.Section(".got"); got != nil {
			s.DataBase = got.Addr
		}
		if text := f.Section(".text"); text != nil {
			s.TextBase = text.Addr
		}
		out = append(out, s)
	}
	return f, out
}

func compareReadelf(t *testing.T, file string) (fdes, rows int) {
	f, sections := elfSections(t, file)
	arch := ArchOf(f.Machine, f.Class)
	want := readelfFrames(t, file)
	for _, s := range sections {
		for fde, err := range s.FDEs() {
			if err != nil {
				t.Errorf("FDE: %v", err)
				continue
			}
			for len(want) > 0 && want[0].section != s.name() {
				t.Fatalf("readelf has an FDE more in %s: %#x", want[0].section, want[0].begin)
			}
			if len(want) == 0 {
				t.Fatalf("readelf has no FDE for %#x", fde.Begin)
			}
			n := compareFDE(t, arch, &fde, &want[0])
			if len(want[0].rows) == 0 {
				n = 0
			}
			fdes, rows, want = fdes+1, rows+n, want[1:]
			if t.Failed() {
				t.FailNow()
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("readelf has %d FDEs more", len(want))
	}
	return fdes, rows
}

func compareFDE(t *testing.T, arch *Arch, f *FDE, want *oracleFDE) (n int) {
	if f.Begin != want.begin || f.End != want.end {
		t.Errorf("FDE %#x–%#x, want %#x–%#x", f.Begin, f.End, want.begin, want.end)
		return 0
	}
	rows := want.rows
	if k := len(rows); k > 0 && parseHex(rows[k-1][0]) == f.End && f.Begin != f.End {
		rows = rows[:k-1]
	}
	for row, err := range f.Rows() {
		if err != nil {
			t.Errorf("FDE %#x: %v", f.Begin, err)
			return n
		}
		n++
		if len(want.rows) == 0 && n == 1 {
			continue
		}
		if n > len(rows) {
			t.Errorf("FDE %#x: row %#x is one too many", f.Begin, row.Begin)
			return n
		}
		compareRow(t, arch, f, row, want.columns, rows[n-1])
	}
	if n < len(rows) {
		t.Errorf("FDE %#x: %d rows, want %d", f.Begin, n, len(rows))
	}
	return n
}

func parseHex(s string) uint64 {
	v, _ := strconv.ParseUint(s, 16, 64)
	return v
}

func compareRow(t *testing.T, arch *Arch, f *FDE, row *Row, columns, want []string) {
	if got := oracleCFA(arch, row.CFA); row.Begin != parseHex(want[0]) || got != want[1] {
		t.Errorf("FDE %#x row %#x: CFA %s, want %v", f.Begin, row.Begin, got, want)
	}
	left := len(row.Regs)
	for i, name := range columns {
		reg := f.CIE.RA
		if name != "ra" {
			reg = oracleReg(t, arch, name)
		}
		rule := row.Rule(reg)
		if rule.Kind != KindNone {
			left--
		}
		if got := oracleRule(rule); got != want[2+i] {
			t.Errorf("FDE %#x row %#x: %s is %s, want %s", f.Begin, row.Begin, name, got, want[2+i])
		}
	}
	if left != 0 {
		t.Errorf("FDE %#x row %#x: %d rules more than readelf: %v", f.Begin, row.Begin, left, row.Regs)
	}
}

func oracleReg(t *testing.T, arch *Arch, name string) Reg {
	if arch.Name == "riscv64" {
		for i, n := range riscvFloats {
			if n == name {
				return Reg(32 + i)
			}
		}
	}
	for _, n := range []string{"$" + name, name} {
		if r, ok := arch.Reg(n); ok {
			return r
		}
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(name, "r"), 10, 32)
	if err != nil {
		t.Fatalf("register %q", name)
	}
	return Reg(n)
}

// riscvFloats are the ABI's names, which readelf prints, of DWARF 32–63.
var riscvFloats = names("ft0-7 fs0 fs1 fa0-7 fs2-11 ft8-11")

// oracleName: readelf knows names for these machines only.
func oracleName(arch *Arch, r Reg) string {
	switch arch.Name {
	case "x86", "x86_64", "arm64", "riscv64", "s390x":
		if n := arch.RegName(r); n != "" {
			return strings.TrimPrefix(n, "$")
		}
	}
	return fmt.Sprintf("r%d", r)
}

func oracleCFA(arch *Arch, r Rule) string {
	if r.Kind == KindExpr {
		return "exp"
	}
	return fmt.Sprintf("%s%+d", oracleName(arch, r.Reg), r.Off)
}

func oracleRule(r Rule) string {
	switch r.Kind {
	case KindNone, KindUndefined:
		return "u"
	case KindSame:
		return "s"
	case KindMemCFA:
		return fmt.Sprintf("c%+d", r.Off)
	case KindCFA:
		return fmt.Sprintf("v%+d", r.Off)
	case KindReg:
		return fmt.Sprintf("r%d", r.Reg)
	case KindExpr:
		return "vexp"
	case KindMemExpr:
		return "exp"
	}
	return "?"
}

// TestOracleBreakpad compares the text with what Breakpad's dump_syms wrote of
// the same file (python3.11d.breakpad.sym.xz in the directory SYMKIT_EXPECTED),
// line for line, the rules of a line in any order: Breakpad sorts `$rbp` before
// `.cfa`. Two records are wrong there: the CFA of the PLT, an
// expression, and the return address of _start, which is undefined.
func TestOracleBreakpad(t *testing.T) {
	corpus := os.Getenv("SYMKIT_CORPUS")
	if corpus == "" {
		t.Fatal("SYMKIT_CORPUS is not set")
	}
	sym := testfile.Expected(t, "python3.11d.breakpad.sym")
	want := map[string]bool{}
	for line := range strings.Lines(string(sym)) {
		if strings.HasPrefix(line, "STACK CFI ") {
			want[sortRules(strings.TrimSpace(line))] = true
		}
	}
	_, sections := elfSections(t, filepath.Join(corpus, "python3.11-dbg/usr/bin/python3.11d"))
	wrong := map[string]bool{
		"STACK CFI INIT 20f00 22 .cfa: $rsp 8 + .ra: 1":       true,
		"STACK CFI 1f030 .cfa: $rsp 8 + $rip 16 % 11 / 8 * +": true,
	}
	inits := 0
	for _, line := range textOf(t, sections[0], &x86_64, 0x400000) {
		if strings.HasPrefix(line, "STACK CFI INIT") {
			inits++
		}
		switch {
		case want[sortRules(line)]:
			delete(want, sortRules(line))
		case wrong[line]:
			delete(wrong, line)
		default:
			t.Errorf("not in Breakpad's output: %s", line)
		}
	}
	delete(want, "STACK CFI INIT 20f00 22 .cfa: $rsp 8 + .ra: .cfa -8 + ^")
	for line := range want {
		t.Errorf("only in Breakpad's output: %s", line)
	}
	for line := range wrong {
		t.Errorf("missing: %s", line)
	}
	if inits != 11319 {
		t.Errorf("%d INIT records, want 11319", inits)
	}
}

// sortRules puts the rules of a line in order.
func sortRules(line string) string {
	i := strings.IndexAny(line, ".$")
	var rules []string
	for _, f := range strings.Fields(line[i:]) {
		if strings.HasSuffix(f, ":") {
			rules = append(rules, f)
		} else {
			rules[len(rules)-1] += " " + f
		}
	}
	slices.Sort(rules)
	return line[:i] + strings.Join(rules, " ")
}

// textOf turns a whole section into STACK CFI lines, addresses less load.
func textOf(t testing.TB, s *Section, arch *Arch, load uint64) (lines []string) {
	t.Helper()
	text := NewText(arch)
	text.BigEndian = s.BigEndian
	for f, err := range s.FDEs() {
		if err != nil {
			t.Error(err)
			continue
		}
		text.Reset()
		text.Begin(f.CIE.RA)
		for row, err := range f.Rows() {
			if err != nil {
				t.Error(err)
				break
			}
			text.Add(row)
		}
		lines = append(lines, linesOf(text, load)...)
	}
	return lines
}
