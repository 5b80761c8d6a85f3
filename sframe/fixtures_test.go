package sframe

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fixture is a line of testdata/index.txt: files of one name.
type fixture struct {
	name string
	data []byte
	opts Options
}

// fixtures loads what scripts/fixtures-sframe.sh has built.
func fixtures(t testing.TB) (all []fixture) {
	t.Helper()
	index, err := os.ReadFile("testdata/index.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(index)) {
		var f fixture
		if _, err := fmt.Sscan(line, &f.name, &f.opts.Addr); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", f.name)
		if f.data, err = os.ReadFile(path + ".bin"); err != nil {
			f.data, f.opts = relocated(t, path+".o")
		}
		all = append(all, f)
	}
	return all
}

// relocated reads .sframe from a relocatable file and applies its relocations,
// all sections lying at 0, as readelf does.
func relocated(t testing.TB, path string) ([]byte, Options) {
	t.Helper()
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	abi, ok := ABIOf(file.Machine, file.Data == elf.ELFDATA2MSB)
	if !ok {
		t.Fatalf("%s: machine %v", path, file.Machine)
	}
	data, err := file.Section(".sframe").Data()
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := file.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	rela, err := file.Section(".rela.sframe").Data()
	if err != nil {
		t.Fatal(err)
	}
	for ; len(rela) >= 24; rela = rela[24:] {
		place := file.ByteOrder.Uint64(rela)
		info := file.ByteOrder.Uint64(rela[8:])
		v := symbols[info>>32-1].Value + file.ByteOrder.Uint64(rela[16:]) - place
		switch typ := uint32(info); {
		case abi == AMD64 && typ == uint32(elf.R_X86_64_PC32), abi == AArch64LE && typ == uint32(elf.R_AARCH64_PREL32):
			binary.LittleEndian.PutUint32(data[place:], uint32(v))
		case abi == AMD64 && typ == uint32(elf.R_X86_64_PC64), abi == AArch64LE && typ == uint32(elf.R_AARCH64_PREL64), abi == S390X && typ == uint32(elf.R_390_PC64):
			file.ByteOrder.PutUint64(data[place:], v)
		default:
			t.Fatalf("%s: relocation type %d", path, typ)
		}
	}
	return data, Options{ABI: abi, Relocatable: true}
}

// abiOf is the ABI that a fixture's name promises.
func abiOf(name string) ABI {
	return map[string]ABI{"amd64": AMD64, "aarch64": AArch64LE, "aarch64be": AArch64BE, "s390x": S390X}[strings.Split(name, "-")[1]]
}

// TestReadelfText compares the text of real sections, byte for byte, with that
// of readelf, which prints the first chunk.
func TestReadelfText(t *testing.T) {
	lines := 0
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			f.opts.ABI = abiOf(f.name)
			s, err := Parse(f.data, f.opts)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(filepath.Join("testdata", f.name+".txt"))
			if strings.HasSuffix(f.name, "v2-amd64-concat") && os.IsNotExist(err) {
				return // readelf misreads it: see TestConcatenated
			}
			if err != nil {
				t.Fatal(err)
			}
			got := s.Chunks[0].appendText(nil, ".sframe")
			if d := cmp.Diff(string(want), string(got)); d != "" {
				t.Errorf("-readelf +got:\n%s", d)
			}
			lines += bytes.Count(got, []byte("\n"))
		})
	}
	t.Logf("%d lines", lines)
}

// TestRowsAgreeWithFREs holds Rows against FREs and Find for every fixture: each
// PC's row is that of the FRE that Find gives, and no PC is left out.
func TestRowsAgreeWithFREs(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			s, err := Parse(f.data, f.opts)
			if err != nil {
				t.Fatal(err)
			}
			for fde, err := range s.FDEs() {
				if err != nil {
					t.Fatal(err)
				}
				checkRows(t, fde)
			}
		})
	}
}

func checkRows(t *testing.T, f *FDE) {
	t.Helper()
	next := f.Start
	for row, err := range f.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		if row.Begin != next || row.End <= row.Begin {
			t.Fatalf("row [%#x, %#x) does not follow %#x", row.Begin, row.End, next)
		}
		next = row.End
		for _, pc := range []uint64{row.Begin, row.End - 1} {
			e, ok, err := f.Find(pc)
			if !ok || err != nil || e != f.Current() {
				t.Fatalf("Find(%#x) = %+v, %v, %v; the row's is %+v", pc, e, ok, err, f.Current())
			}
		}
		e := f.Current()
		cfa, ra, fp := f.Rules(&e)
		abi := f.chunk.ABI
		if d := cmp.Diff(cfa, row.CFA) + cmp.Diff(ra, row.Rule(abi.RA())) + cmp.Diff(fp, row.Rule(abi.FP())); d != "" {
			t.Fatalf("row at %#x: %s", row.Begin, d)
		}
	}
	if next != f.End() && f.NumFREs != 0 {
		t.Fatalf("rows end at %#x, function at %#x", next, f.End())
	}
}

// TestConcatenated reads sections that lld has made of three: all chunks are
// found, and every function is where the symbol table has it. The two producers
// anchor start addresses differently, though lld applies one relocation.
func TestConcatenated(t *testing.T) {
	for _, f := range fixtures(t) {
		if !strings.HasSuffix(f.name, "concat") {
			continue
		}
		symbols, err := os.ReadFile(filepath.Join("testdata", f.name+".sym"))
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(f.data, f.opts)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Chunks) != 3 {
			t.Errorf("%s: %d chunks, want 3", f.name, len(s.Chunks))
		}
		n := 0
		for fde, err := range s.FDEs() {
			if err != nil {
				t.Fatal(err)
			}
			n++
			if symbol := fmt.Sprintf("%016x %016x\n", fde.Start, fde.Size); !bytes.Contains(symbols, []byte(symbol)) {
				t.Errorf("%s: no symbol at %s", f.name, symbol)
			}
		}
		if n < 10 {
			t.Errorf("%s: %d functions", f.name, n)
		}
	}
}
