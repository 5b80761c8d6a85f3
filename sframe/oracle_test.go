//go:build oracle

package sframe

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"symkit/cfi"

	"github.com/google/go-cmp/cmp"
)

// tool is one of the wrappers that scripts/fixtures-sframe.sh leaves in
// WORKDIR/bin, which SYMKIT_SFRAME_TOOLS names.
func tool(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(os.Getenv("SYMKIT_SFRAME_TOOLS"), name)
	if _, err := os.Stat(path); err != nil || !filepath.IsAbs(path) {
		t.Fatalf("SYMKIT_SFRAME_TOOLS must name the bin folder of scripts/fixtures-sframe.sh: %v", err)
	}
	return path
}

// wrapELF makes a shared object with nothing but data as its .sframe at addr.
func wrapELF(data []byte, addr uint64, abi ABI) []byte {
	var order binary.ByteOrder = binary.LittleEndian
	ident := [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1}
	if abi.isBigEndian() {
		order, ident[elf.EI_DATA] = binary.BigEndian, byte(elf.ELFDATA2MSB)
	}
	machine := map[ABI]elf.Machine{AMD64: elf.EM_X86_64, S390X: elf.EM_S390, AArch64BE: elf.EM_AARCH64, AArch64LE: elf.EM_AARCH64}[abi]
	const names = "\x00.sframe\x00.shstrtab\x00"
	body := append(append([]byte{}, data...), names...)
	body = append(body, make([]byte, -len(body)&7)...)
	var b bytes.Buffer
	put := func(v any) { _ = binary.Write(&b, order, v) } // a Buffer does not fail
	put(elf.Header64{Ident: ident, Type: uint16(elf.ET_DYN), Machine: uint16(machine), Version: 1,
		Shoff: uint64(64 + len(body)), Ehsize: 64, Shentsize: 64, Shnum: 3, Shstrndx: 2})
	b.Write(body)
	put(elf.Section64{})
	put(elf.Section64{Name: 1, Type: 0x6ffffff4, Flags: uint64(elf.SHF_ALLOC), Addr: addr, Off: 64, Size: uint64(len(data)), Addralign: 8})
	put(elf.Section64{Name: 9, Type: uint32(elf.SHT_STRTAB), Off: 64 + uint64(len(data)), Size: uint64(len(names)), Addralign: 1})
	return b.Bytes()
}

// readelf is the text of data as readelf prints it, and whether it was content.
func readelf(t *testing.T, data []byte, addr uint64, abi ABI, version uint8) (string, bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.so")
	if err := os.WriteFile(path, wrapELF(data, addr, abi), 0o666); err != nil {
		t.Fatal(err)
	}
	name := "v3-readelf"
	if version == 1 {
		name = "v1-readelf"
	}
	cmd := exec.Command(tool(t, name), "--sframe", path)
	var diag bytes.Buffer
	cmd.Stderr = &diag
	out, err := cmd.Output()
	return string(out), err == nil && diag.Len() == 0
}

// sound reads a section of one chunk, and reports whether the decoder finds no damage in it.
func sound(data []byte, opts Options) (*Section, bool) {
	s, err := Parse(data, opts)
	if err != nil || len(s.Chunks) == 0 {
		return s, false
	}
	for f, err := range s.Chunks[0].FDEs() {
		if err != nil {
			return s, false
		}
		for _, err := range f.FREs() {
			if err != nil {
				return s, false
			}
		}
	}
	return s, true
}

// TestToolsHandMade shows readelf what no producer at hand writes.
func TestToolsHandMade(t *testing.T) {
	for name, text := range handMade {
		t.Run(name, func(t *testing.T) {
			data := assemble(t, text)
			s, ok := sound(data, Options{Addr: 0x4000})
			if !ok {
				t.Fatal("damaged")
			}
			c := &s.Chunks[0]
			want, ok := readelf(t, data, 0x4000, c.ABI, c.Version)
			got := string(c.appendText(nil, ".sframe"))
			if d := cmp.Diff(want, got); d != "" || !ok {
				t.Errorf("content %v, -readelf +got:\n%s", ok, d)
			}
		})
	}
}

// TestToolsMutated changes bytes of the fixtures. Where the decoder finds
// nothing wrong, and readelf neither, the texts are equal.
func TestToolsMutated(t *testing.T) {
	const perFixture = 12
	rnd := rand.New(rand.NewPCG(1, 2))
	compared := 0
	for _, f := range fixtures(t) {
		if f.opts.Relocatable {
			continue
		}
		for range perFixture {
			data := bytes.Clone(f.data)
			for range 1 + rnd.IntN(3) {
				data[4+rnd.IntN(len(data)-4)] ^= byte(1 << rnd.IntN(8))
			}
			s, ok := sound(data, f.opts)
			if !ok {
				continue
			}
			c := &s.Chunks[0]
			want, ok := readelf(t, data, f.opts.Addr, c.ABI, c.Version)
			if !ok || unlike(c) {
				continue
			}
			compared++
			if d := cmp.Diff(want, string(c.appendText(nil, ".sframe"))); d != "" {
				t.Errorf("%s: %x\n-readelf +got:\n%s", f.name, data, d)
			}
		}
	}
	t.Logf("%d compared", compared)
	if compared < 100 {
		t.Error("too few")
	}
}

// unlike reports whether readelf prints other text for a chunk, because it gets such chunks wrong.
func unlike(c *Chunk) bool {
	return c.Flags&(fdeSorted|funcStartPCRel) == 0
}

// TestToolsEHFrame compiles zlib and basic.c for each machine and compares the
// rows with those of .eh_frame, which describes the same functions, PC by PC.
func TestToolsEHFrame(t *testing.T) {
	bin := filepath.Dir(tool(t, "v3-readelf"))
	sources, err := filepath.Glob(filepath.Join(bin, "..", "zlib", "*.c"))
	if err != nil || len(sources) < 10 {
		t.Fatalf("zlib beside the tools: %d files, %v", len(sources), err)
	}
	basic, err := filepath.Abs("testdata/src/basic.c")
	if err != nil {
		t.Fatal(err)
	}
	sources = append(sources, basic)
	for _, c := range []struct {
		machine  string
		flags    []string
		versions []string
	}{
		{"x86_64", nil, []string{"v2", "v3"}},
		{"x86_64", []string{"-fno-omit-frame-pointer", "-mavx2", "-fstack-clash-protection"}, []string{"v3"}},
		{"aarch64", []string{"-mbranch-protection=pac-ret"}, []string{"v2", "v3"}},
		{"aarch64", []string{"-mbranch-protection=pac-ret+b-key", "-fno-omit-frame-pointer"}, []string{"v3"}},
		{"s390x", []string{"-march=z13"}, []string{"v3"}},
		{"s390x", []string{"-march=z10", "-mbackchain"}, []string{"v3"}},
	} {
		dir := t.TempDir()
		var asm []string
		for _, source := range sources {
			out := filepath.Join(dir, filepath.Base(source)+".s")
			args := append([]string{"-O2", "-fPIC", "-w", "-S", "-o", out, source}, c.flags...)
			command(t, c.machine+"-linux-gnu-gcc", args...)
			asm = append(asm, out)
		}
		for _, v := range c.versions {
			t.Run(fmt.Sprint(c.machine, c.flags, v), func(t *testing.T) {
				var objects []string
				for _, s := range asm {
					o := s + "." + v + ".o"
					command(t, filepath.Join(bin, v+"-"+c.machine+"-as"), "--gsframe", "-o", o, s)
					objects = append(objects, o)
				}
				so := filepath.Join(dir, v+".so")
				command(t, filepath.Join(bin, v+"-"+c.machine+"-ld"), append([]string{"-shared", "-o", so}, objects...)...)
				compareEHFrame(t, so)
			})
		}
	}
}

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// pcRules has the rules that both tables can have for a PC.
type pcRules struct {
	cfa, ra, fp string
	signed      bool
}

func compareEHFrame(t *testing.T, path string) {
	t.Helper()
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	abi, _ := ABIOf(file.Machine, file.Data == elf.ELFDATA2MSB)
	dwarf := ehFrameRules(t, file, abi)
	section := file.Section(".sframe")
	data, err := section.Data()
	if err != nil {
		t.Fatal(err)
	}
	s := parse(t, data, Options{Addr: section.Addr, ABI: abi})
	both, equal, differ := 0, 0, 0
	for f, err := range s.FDEs() {
		if err != nil {
			t.Fatal(err)
		}
		for row, err := range f.Rows() {
			if err != nil {
				t.Fatal(err)
			}
			got := pcRules{ruleText(row.CFA), same(row.Rule(abi.RA())), same(row.Rule(abi.FP())), row.RASigned}
			if e := f.Current(); e.Outermost() {
				got.cfa = ""
			}
			for pc := row.Begin; pc < row.End; pc++ {
				want, ok := dwarf[pc]
				if !ok {
					continue
				}
				if both++; want == got {
					equal++
				} else if differ++; differ < 10 {
					t.Errorf("%#x: .eh_frame %v, .sframe %v", pc, want, got)
				}
			}
		}
	}
	t.Logf("%d PCs in both, %d equal, %d differ; .eh_frame has %d", both, equal, differ, len(dwarf))
	if both < 5000 || both < len(dwarf)*9/10 {
		t.Error("too few")
	}
}

// same returns the text of a rule. A rule for an unchanged register has the text of no rule.
func same(r cfi.Rule) string {
	if r.Kind == cfi.KindSame {
		r = cfi.Rule{}
	}
	return ruleText(r)
}

func ehFrameRules(t *testing.T, file *elf.File, abi ABI) map[uint64]pcRules {
	t.Helper()
	section := file.Section(".eh_frame")
	data, err := section.Data()
	if err != nil {
		t.Fatal(err)
	}
	s := cfi.Section{Kind: cfi.EHFrame, Data: data, Addr: section.Addr, AddrSize: 8, BigEndian: abi.isBigEndian(), Machine: file.Machine}
	all := map[uint64]pcRules{}
	for f, err := range s.FDEs() {
		if err != nil {
			t.Fatal(err)
		}
		for row, err := range f.Rows() {
			if err != nil {
				t.Fatal(err)
			}
			r := pcRules{ruleText(row.CFA), same(row.Rule(abi.RA())), same(row.Rule(abi.FP())), row.RASigned}
			if row.Rule(abi.RA()).Kind == cfi.KindUndefined {
				r = pcRules{"", "undefined", "none", false}
			}
			for pc := row.Begin; pc < row.End; pc++ {
				if row.CFA.Kind == cfi.KindExpr {
					r.cfa = pltCFA(t, row.Expr(row.CFA), pc)
				}
				r.fp = expandFP(r.fp, row, row.Rule(abi.FP()))
				all[pc] = r
			}
		}
	}
	return all
}

// pltCFA evaluates the two CFA expressions that occur: ld's for PLT entries,
// rsp+8, or +16 where pc & 15 reaches a constant, and the word at rN+k.
func pltCFA(t *testing.T, expr []byte, pc uint64) string {
	t.Helper()
	const breg0, deref, lit0 = 0x70, 0x06, 0x30
	if len(expr) == 3 && expr[2] == deref && expr[1] < 0x80 {
		return fmt.Sprintf("(r%d%+d)", expr[0]-breg0, int8(expr[1]<<1)>>1)
	}
	if len(expr) != 11 || expr[0] != breg0+7 || expr[1] != 8 {
		t.Fatalf("CFA expression %x at %#x", expr, pc)
	}
	if pc&15 >= uint64(expr[6]-lit0) {
		return "r7+16"
	}
	return "r7+8"
}

// expandFP spells the memory at rN+k, as DWARF has it an expression.
func expandFP(text string, row *cfi.Row, r cfi.Rule) string {
	const breg0 = 0x70
	if r.Kind != cfi.KindMemExpr {
		return text
	}
	if e := row.Expr(r); len(e) == 2 && e[1] < 0x80 {
		return fmt.Sprintf("(r%d%+d)", e[0]-breg0, int8(e[1]<<1)>>1)
	}
	return text
}
