//go:build oracle

package cfi

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const exidxSource = `
#include <stdexcept>
#include <string>
#include <vector>
#include <map>
#include <iostream>
struct guard { std::string s; guard(int n) : s(n, 'x') {} ~guard() { std::cout << s; } };
__attribute__((noinline)) int deep(std::map<int, std::string> &m, int n) {
	guard g(n);
	if (n > 5) throw std::runtime_error(m[n]);
	return deep(m, n + 1) + (int)g.s.size();
}
__attribute__((noinline)) double floats(double a, double b, double c, int n) {
	double x = a, y = b, z = c;
	for (int i = 0; i < n; i++) { std::cout << x; x += y * z; y -= x; z += 1; }
	return x + y + z;
}
__attribute__((noinline)) int frame(int n) {
	char *p = (char *)__builtin_alloca(n); std::cin.read(p, n); return p[n / 2];
}
int main(int argc, char **argv) {
	std::map<int, std::string> m;
	try { return deep(m, argc) + frame(argc) + (int)floats(1, 2, 3, argc); }
	catch (std::exception &e) { std::cerr << e.what(); }
}
`

// exidxFile reads the unwind tables of an ARM file.
func exidxFile(t *testing.T, path string) (*Exidx, *elf.File) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	x := &Exidx{BigEndian: f.Data == elf.ELFDATA2MSB}
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 {
			x.End = max(x.End, s.Addr+s.Size)
		}
		if s.Name != exidxName && s.Name != extabName {
			continue
		}
		data, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		if s.Name == exidxName {
			x.Index, x.IndexAddr = data, s.Addr
		} else {
			x.Table, x.TableAddr = data, s.Addr
		}
	}
	return x, f
}

// readelfEntry is one entry as readelf -u prints it.
type readelfEntry struct {
	addr       uint64
	cantUnwind bool
	generic    bool // a personality routine whose data readelf does not read
	ops        []string
}

var (
	exidxHead = regexp.MustCompile(`^0x([0-9a-f]+)(?: <.*>)?: (.*)$`)
	exidxOp   = regexp.MustCompile(`^  ((?:0x[0-9a-f]{2} )+) *(.*)$`)
)

func readelfUnwind(t *testing.T, path string) (out []readelfEntry) {
	t.Helper()
	cmd := exec.Command("arm-linux-gnueabihf-readelf", "-uW", path)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if m := exidxHead.FindStringSubmatch(line); m != nil {
			addr, _ := strconv.ParseUint(m[1], 16, 64)
			out = append(out, readelfEntry{addr: addr, cantUnwind: strings.Contains(m[2], "cantunwind")})
		} else if m := exidxOp.FindStringSubmatch(line); m != nil {
			e := &out[len(out)-1]
			e.ops = append(e.ops, strings.TrimSpace(m[1])+"|"+strings.TrimSpace(m[2]))
		} else if strings.HasPrefix(line, "  Personality routine") {
			out[len(out)-1].generic = true
		}
	}
	return out
}

// simulate runs readelf's text on a stack of numbered words: what each
// register is restored to, and the stack pointer at the end.
func (e *readelfEntry) simulate(t *testing.T) (cfa string, saved map[string]string) {
	t.Helper()
	base, off := "r13", 0
	at := map[string]string{}
	for _, op := range e.ops {
		code, text, _ := strings.Cut(op, "|")
		switch {
		case text == "finish":
		case strings.HasPrefix(text, "vsp = vsp + "):
			n, err := strconv.Atoi(strings.TrimPrefix(text, "vsp = vsp + "))
			if err != nil {
				t.Fatal(op)
			}
			off += n
		case strings.HasPrefix(text, "vsp = vsp - "):
			n, err := strconv.Atoi(strings.TrimPrefix(text, "vsp = vsp - "))
			if err != nil {
				t.Fatal(op)
			}
			off -= n
		case strings.HasPrefix(text, "vsp = r"):
			base, off = strings.TrimPrefix(text, "vsp = "), 0
		case strings.HasPrefix(text, "pop {"):
			list := strings.TrimSuffix(strings.TrimPrefix(text, "pop {"), "}")
			for _, r := range popped(list) {
				at[r] = fmt.Sprintf("%s%+d", base, off)
				off += 4
			}
			if sp := at["r13"]; sp != "" { // loaded, with all the rest relative to the old one
				delete(at, "r13")
				cfa = "[" + sp + "]"
			}
			if strings.HasPrefix(code, "0xb") && strings.Contains(list, "D") {
				off += 4 // FSTMFDX
			}
		default:
			t.Fatalf("%#x: %s", e.addr, op)
		}
	}
	if at["r15"] != "" {
		at["r14"] = at["r15"]
		delete(at, "r15")
	}
	if cfa == "" {
		cfa = fmt.Sprintf("%s%+d", base, off)
	}
	return cfa, at
}

// popped expands readelf's list of registers: "r4, r14", "D8-D10", the double
// ones into their halves.
func popped(list string) (out []string) {
	for _, w := range strings.Split(list, ", ") {
		first, last, ok := strings.Cut(w, "-")
		if !ok {
			last = first
		}
		from, _ := strconv.Atoi(first[1:])
		to, _ := strconv.Atoi(last[1:])
		for i := from; i <= to; i++ {
			if w[0] == 'D' {
				out = append(out, fmt.Sprintf("s%d", 2*i), fmt.Sprintf("s%d", 2*i+1))
			} else {
				out = append(out, fmt.Sprintf("r%d", i))
			}
		}
	}
	return out
}

// compareExidx compares every entry with readelf's. An entry whose personality
// routine readelf has no name for has no text to compare with.
func compareExidx(t *testing.T, path string) (compared, unread int) {
	t.Helper()
	x, _ := exidxFile(t, path)
	want := readelfUnwind(t, path)
	i := 0
	for r, err := range x.Rows() {
		if err != nil {
			t.Error(err)
			continue
		}
		for i < len(want) && want[i].addr&^1 < r.Begin {
			i++ // an empty range
		}
		if i == len(want) || want[i].addr&^1 != r.Begin {
			t.Fatalf("%s: row at %#x, readelf has none", path, r.Begin)
		}
		e := &want[i]
		dead := r.Rule(armLR).Kind == KindUndefined
		if e.cantUnwind || dead {
			if e.cantUnwind != dead {
				t.Errorf("%#x: %s, readelf: cantunwind %v", r.Begin, exidxText(r), e.cantUnwind)
			}
			compared++
			continue
		}
		if e.generic && len(e.ops) == 0 {
			unread++
			continue
		}
		compared++
		cfa, saved := e.simulate(t)
		got := fmt.Sprintf("r%d%+d", r.CFA.Reg, r.CFA.Off)
		if r.CFA.Kind == KindMemReg {
			got = "[" + got + "]"
		}
		if got != cfa || len(saved) != len(r.Regs) {
			t.Errorf("%s: %s, readelf: %s %v", path, exidxText(r), cfa, saved)
		}
		for _, g := range r.Regs {
			name := exidxRegName(g.Reg)
			place := fmt.Sprintf("r%d%+d", g.Rule.Reg, g.Off)
			if g.Kind == KindMemCFA {
				place = fmt.Sprintf("r%d%+d", r.CFA.Reg, r.CFA.Off+g.Off)
			}
			if saved[name] != place {
				t.Errorf("%s: %#x: %s at %s, readelf: %s", path, r.Begin, name, place, saved[name])
			}
		}
	}
	return compared, unread
}

func TestOracleExidxLibraries(t *testing.T) {
	for _, name := range []string{"libc.so.6", "libstdc++.so.6", "libgcc_s.so.1"} {
		out, err := exec.Command("arm-linux-gnueabihf-gcc", "-print-file-name="+name).Output()
		if err != nil {
			t.Fatal(err)
		}
		n, unread := compareExidx(t, strings.TrimSpace(string(out)))
		if n < 20 {
			t.Errorf("%s: only %d entries", name, n)
		}
		t.Logf("%s: %d entries, %d more that readelf does not read", name, n, unread)
	}
}

// TestOracleExidxCompilers links C++ programs statically, so that readelf knows
// the personality routines, and compares with readelf and with .debug_frame.
func TestOracleExidxCompilers(t *testing.T) {
	for _, flags := range [][]string{
		{"-O2", "-mthumb"}, {"-O2", "-marm"}, {"-O0", "-mthumb"}, {"-O0", "-marm"}, {"-Os", "-marm", "-fno-omit-frame-pointer"},
	} {
		dir := t.TempDir()
		source, out := filepath.Join(dir, "a.cc"), filepath.Join(dir, "a")
		if err := os.WriteFile(source, []byte(exidxSource), 0o644); err != nil {
			t.Fatal(err)
		}
		args := append(flags[:len(flags):len(flags)], "-g", "-static", "-o", out, source)
		if text, err := exec.Command("arm-linux-gnueabihf-g++", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		n, unread := compareExidx(t, out)
		same, other := compareDebugFrame(t, out)
		t.Logf("%v: %d entries, %d unread; %d FDEs have the row, %d have not", flags, n, unread, same, other)
		if n < 1000 || unread > 0 || same == 0 || other > 0 {
			t.Errorf("%v: %d entries, %d unread, %d FDEs, %d differ", flags, n, unread, same, other)
		}
	}
}

// compareDebugFrame looks for each function's row among those that .debug_frame
// has for it.
func compareDebugFrame(t *testing.T, path string) (same, other int) {
	t.Helper()
	x, _ := exidxFile(t, path)
	rows := map[uint64]string{}
	dead := map[uint64]bool{}
	for r, err := range x.Rows() {
		if err == nil {
			rows[r.Begin] = exidxText(r)[strings.Index(exidxText(r), "cfa="):]
			dead[r.Begin] = r.Rule(armLR).Kind == KindUndefined
		}
	}
	_, sections := elfSections(t, path)
	for _, s := range sections {
		for f, err := range s.FDEs() {
			if err != nil {
				t.Fatal(err)
			}
			want, ok := rows[f.Begin]
			if !ok || dead[f.Begin] {
				continue
			}
			found := false
			var all []string
			for r, err := range f.Rows() {
				if err != nil {
					t.Fatal(err)
				}
				text := exidxText(r)
				text = text[strings.Index(text, "cfa="):]
				all = append(all, text)
				found = found || text == want
			}
			if found {
				same++
			} else if other++; other <= 3 {
				t.Logf("%#x: %s not among\n%s", f.Begin, want, strings.Join(all, "\n"))
			}
		}
	}
	return same, other
}
