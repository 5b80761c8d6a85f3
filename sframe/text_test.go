package sframe

import (
	"debug/elf"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDumpDamaged: damage is a line of the text, what is around it is there, and
// so is the second chunk.
func TestDumpDamaged(t *testing.T) {
	s := parse(t, assemble(t, `
		chunk v2 amd64 sorted
		fde 0 4 addr1
		fre 0 sp 8
		fde 0x10 4 addr1
		fre 0 sp 8
		fre 1 sp 16 -8 0
		fde 0x20 4 addr1 mask 0
		fde 0x30 4 addr1
		fre 0 sp 8
		chunk v3 amd64`), Options{Addr: 0x1000})
	const head = "    STARTPC         CFA       FP        RA           \n"
	want := `Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_2
    Flags: SFRAME_F_FDE_SORTED
    CFA fixed RA offset: -8
    Num FDEs: 4
    Num FREs: 4

  Function Index :

    func idx [0]: pc = 0x1000, size = 4 bytes
` + head + `    0000000000001000  sp+8      u         f            

    func idx [1]: pc = 0x1010, size = 4 bytes
` + head + `    0000000000001010  sp+8      u         f            
    .sframe+0x73: FRE words without a meaning

    func idx [2]: .sframe+0x55: repeating block of size 0

    func idx [3]: pc = 0x1030, size = 4 bytes
` + head + `    0000000000001030  sp+8      u         f            
Contents of the SFrame section .sframe:
  Header :

    Version: SFRAME_VERSION_3
    Flags: NONE
    CFA fixed RA offset: -8
    Num FDEs: 0
    Num FREs: 0

  Function Index :
`
	var b strings.Builder
	if err := s.dump(&b, ".sframe"); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	full := errors.New("full")
	if err := s.dump(failingWriter{full}, ".sframe"); err != full {
		t.Errorf("error %v", err)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// TestStop: every iterator ends when its loop does.
func TestStop(t *testing.T) {
	s := parse(t, assemble(t, v2+"fde 0 4 addr1 mask 0\n"+simple+v3+simple), Options{})
	for range s.FDEs() { // stops at damage
		break
	}
	n := 0
	for f, err := range s.FDEs() {
		if err != nil {
			continue
		}
		n++
		for range f.Rows() {
			break
		}
		for range f.FREs() {
			break
		}
		break
	}
	for range s.Chunks[1].FDEs() {
		n++
	}
	if n != 3 {
		t.Errorf("%d FDEs", n)
	}
}

// TestFindDamaged: Find fails where the FREs up to the PC are damaged, and only
// there.
func TestFindDamaged(t *testing.T) {
	s := parse(t, assemble(t, v2+"fde 0 16 addr1\nfre 0 sp 8\nfre 4 sp 8\nfre 2 sp 8\n"), Options{})
	f, err := s.Chunks[0].FDE(0)
	if err != nil {
		t.Fatal(err)
	}
	if e, ok, err := f.Find(3); !ok || err != nil || e.Start != 0 {
		t.Errorf("Find(3) = %+v, %v, %v", e, ok, err)
	}
	if _, ok, err := f.Find(5); ok || !errors.Is(err, errOrder) {
		t.Errorf("Find(5) = %v, %v", ok, err)
	}
	if _, ok, err := f.Find(16); ok || err != nil {
		t.Errorf("Find(16) = %v, %v", ok, err)
	}
}

// TestABIOf: SFrame V3 §2.2.1.
func TestABIOf(t *testing.T) {
	for _, c := range []struct {
		machine elf.Machine
		big     bool
		want    ABI
		name    string
	}{
		{elf.EM_X86_64, false, AMD64, "AMD64"},
		{elf.EM_AARCH64, false, AArch64LE, "AArch64 little-endian"},
		{elf.EM_AARCH64, true, AArch64BE, "AArch64 big-endian"},
		{elf.EM_S390, true, S390X, "s390x"},
		{elf.EM_386, false, 0, "unknown ABI"},
		{elf.EM_S390, false, 0, "unknown ABI"},
	} {
		if got, ok := ABIOf(c.machine, c.big); got != c.want || ok != (c.want != 0) || got.String() != c.name {
			t.Errorf("ABIOf(%v, %v) = %v, %v", c.machine, c.big, got, ok)
		}
	}
}
