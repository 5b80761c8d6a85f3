package identity

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"symkit/elfx"
	"symkit/located"
	"symkit/test/elftest"
	"symkit/test/testfile"
)

var buildID = []byte{0xb4, 0xe1, 0x8c, 0x28, 0xe2, 0xc1, 0xbd, 0x0f, 0xed, 0xad, 0x40, 0x59, 0x4b, 0xc2, 0x85, 0x98, 0xa7, 0x75, 0x90, 0x2f}

// mustFile parses a file that has to be good.
func mustFile(t testing.TB, data []byte) *elfx.File {
	t.Helper()
	f, err := elfx.NewFile("test.elf", data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// id returns the id of the MODULE record of f.
func id(f *elfx.File) (string, error) {
	id, err := Of(&elfx.Image{Main: f})
	if err != nil {
		return "", err
	}
	return ModuleID(id, f.BigEndian), nil
}

func TestModuleID(t *testing.T) {
	for _, test := range []struct {
		id   []byte
		big  bool
		want string
	}{
		{buildID, false, "288CE1B4C1E20FBDEDAD40594BC285980"},
		{buildID, true, "B4E18C28E2C1BD0FEDAD40594BC285980"},
		{[]byte{1, 2, 3, 4, 5, 6, 7, 8}, false, "040302010605080700000000000000000"},
		{[]byte{1, 2, 3, 4, 5, 6, 7, 8}, true, "010203040506070800000000000000000"},
		{[]byte{0xab}, false, "000000AB0000000000000000000000000"},
		{nil, false, "000000000000000000000000000000000"},
	} {
		if got := ModuleID(test.id, test.big); got != test.want {
			t.Errorf("%x, big %v: %s, want %s", test.id, test.big, got, test.want)
		}
	}
}

func TestOf(t *testing.T) {
	f := mustFile(t, elftest.Plain(elf.ELFCLASS64, false).Build())
	if id, err := id(f); id != "33323130353437363839616263646566"+"0" || err != nil {
		t.Errorf("module id %s, %v", id, err)
	}
}

// breakpad.md §2.3: the last block is read past the end of .text.
func TestHashText(t *testing.T) {
	text := make([]byte, 20)
	for i := range text {
		text[i] = byte(i + 1)
	}
	s := &elftest.Spec{Sections: []elftest.Sec{
		{Name: ".text", Kind: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC, Data: text},
	}}
	l := s.Layout()
	// What follows: padding, then the section name table.
	over := l.Data[l.Offset[".text"]:][:32]
	var want [16]byte
	for i, b := range over {
		want[i%16] ^= b
	}
	if want[0] != 1^17 || want[4] != 5 {
		t.Fatal("the test is wrong")
	}
	copy(over[20:], "following bytes!"[:12])
	for i := range 12 {
		want[4+i] ^= "following bytes!"[i]
	}
	f := mustFile(t, l.Data)
	if id, err := id(f); id != ModuleID(want[:], false) || err != nil {
		t.Errorf("id %s, %v, want %s", id, err, ModuleID(want[:], false))
	}
}

func TestHashTextEnds(t *testing.T) {
	hash := func(spec *elftest.Spec, name string) string {
		t.Helper()
		// The bytes of the section are the last ones of the file.
		l := spec.Layout()
		s := mustFile(t, l.Data).Section(name)
		data := append(bytes.Clone(l.Data), l.Data[s.Offset:s.Offset+s.Size]...)
		binary.BigEndian.PutUint64(data[l.Shoff+s.Index*l.Shentsize+24:], uint64(len(l.Data)))
		id, err := id(mustFile(t, data))
		if err != nil {
			t.Error(err)
		}
		return id
	}
	one := func(name string, n int) *elftest.Spec {
		return &elftest.Spec{Big: true, Sections: []elftest.Sec{{Name: name, Kind: elf.SHT_PROGBITS, Data: bytes.Repeat([]byte{1}, n)}}}
	}
	for _, test := range []struct {
		name string
		size int
		want string
	}{
		{".text", 17, "00" + strings.Repeat("01", 15)}, // zeros past the file's end
		{"text", 16, strings.Repeat("01", 16)},
		{".text", 4096 + 16, strings.Repeat("00", 16)}, // 256 blocks, not 257
		{".text", 4096 - 16 + 1, "00" + strings.Repeat("01", 15)},
	} {
		if id := hash(one(test.name, test.size), test.name); id != test.want+"0" {
			t.Errorf("%s of %d bytes: %s", test.name, test.size, id)
		}
	}
}

// TestHashCode: a file with code, but none in .text.
func TestHashCode(t *testing.T) {
	const exec = elf.SHF_ALLOC | elf.SHF_EXECINSTR
	code := func(name string, flags elf.SectionFlag, b byte, n int) elftest.Sec {
		return elftest.Sec{Name: name, Kind: elf.SHT_PROGBITS, Flags: flags, Data: bytes.Repeat([]byte{b}, n)}
	}
	for _, test := range []struct {
		name     string
		sections []elftest.Sec
		want     string // id, or none
	}{
		{"startup", []elftest.Sec{code(".text", exec, 0, 0), code(".data", elf.SHF_ALLOC, 9, 7), code(".text.startup", exec, 1, 16)}, strings.Repeat("01", 16)},
		{"no gaps", []elftest.Sec{code(".text.a", exec, 1, 10), code(".text.b", exec, 2, 6)}, strings.Repeat("01", 10) + strings.Repeat("02", 6)},
		{"first 4096", []elftest.Sec{code(".text.a", exec, 1, 4096-16), code(".text.b", exec, 2, 100)}, strings.Repeat("03", 16)},
		{"not loaded", []elftest.Sec{code(".text.a", elf.SHF_EXECINSTR, 1, 16)}, ""},
		{"elsewhere", []elftest.Sec{code(".a", exec, 1, 16), {Name: ".text", Kind: elf.SHT_NOBITS, Flags: exec, Size: 100}}, ""},
	} {
		id, err := id(mustFile(t, (&elftest.Spec{Big: true, Sections: test.sections}).Build()))
		if test.want == "" {
			if !errors.Is(err, ErrNone) || id != "" {
				t.Errorf("%s: %s, %v", test.name, id, err)
			}
		} else if err != nil || id != test.want+"0" {
			t.Errorf("%s: %s, %v", test.name, id, err)
		}
	}
}

func TestNoIdentity(t *testing.T) {
	s := &elftest.Spec{Sections: []elftest.Sec{{Name: ".text", Kind: elf.SHT_NOBITS, Flags: elf.SHF_ALLOC, Size: 100}}}
	_, err := id(mustFile(t, s.Build()))
	elftest.WantError(t, err, ErrNone, ".text", 0)
	s = elftest.Plain(elf.ELFCLASS64, false)
	s.Sections[1].Data = nil
	l := s.Layout()
	l.Data[l.Shoff+64+24+7] = 1 // .text outside the file
	_, err = id(mustFile(t, l.Data))
	elftest.WantError(t, err, located.ErrTruncated, ".text", 0)
}

func TestArch(t *testing.T) {
	for _, test := range []struct {
		machine elf.Machine
		class   elf.Class
		flags   uint32
		want    string
	}{
		{elf.EM_386, 1, 0, "x86"}, {elf.EM_X86_64, 2, 0, "x86_64"}, {elf.EM_X86_64, 1, 0, "x86_64"},
		{elf.EM_ARM, 1, 0, "arm"}, {elf.EM_AARCH64, 2, 0, "arm64"}, {elf.EM_PPC, 1, 0, "ppc"}, {elf.EM_PPC64, 2, 0, "ppc64"},
		{elf.EM_MIPS, 1, 0, "mips"}, {elf.EM_MIPS, 2, 0, "mips64"}, {elf.EM_MIPS, 1, efMIPSABI2, "mips64"},
		{elf.EM_RISCV, 1, 0, "riscv"}, {elf.EM_RISCV, 2, 0, "riscv64"}, {elf.EM_S390, 1, 0, "s390"}, {elf.EM_S390, 2, 0, "s390x"},
		{elf.EM_SPARC, 1, 0, "sparc"}, {elf.EM_SPARC32PLUS, 1, 0, "sparc"}, {elf.EM_SPARCV9, 2, 0, "sparcv9"}, {elf.EM_LOONGARCH, 2, 0, "loongarch64"},
	} {
		f := mustFile(t, (&elftest.Spec{Machine: test.machine, Class: test.class, Flags: test.flags}).Build())
		if got, err := Arch(f); got != test.want || err != nil {
			t.Errorf("%v %v: %q, %v", test.machine, test.class, got, err)
		}
	}
	for machine, want := range map[elf.Machine]string{elf.EM_LOONGARCH: "EM_LOONGARCH (258, ELFCLASS32)", elf.EM_68K: "EM_68K (4, ELFCLASS32)", 9999: "9999"} {
		_, err := Arch(mustFile(t, (&elftest.Spec{Machine: machine, Class: 1}).Build()))
		elftest.WantError(t, err, ErrMachine, "ELF header", 18)
		if !errors.Is(err, ErrMachine) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %q", err)
		}
	}
}

// The MODULE and INFO CODE_ID records that Breakpad's dump_syms wrote.
func TestRealIdentity(t *testing.T) {
	for name, want := range map[string][3]string{
		"nest.elf": {"288CE1B4C1E20FBDEDAD40594BC285980", "B4E18C28E2C1BD0FEDAD40594BC28598A775902F", "x86_64"},
		"drap.elf": {"224FE12342105005ADB11DF70E320E960", "23E14F2210420550ADB11DF70E320E96F9C5D911", "x86_64"},
		"g5.elf":   {"C5B799D9D06F8B8F8F47D9129EFF32E30", "D999B7C56FD08F8B8F47D9129EFF32E3DFDDAD26", "x86_64"},
	} {
		data, err := testfile.Read("../testdata/" + name + ".xz")
		if err != nil {
			t.Fatal(err)
		}
		f := mustFile(t, data)
		module, err := id(f)
		arch, archErr := Arch(f)
		if got := [3]string{module, strings.ToUpper(hex.EncodeToString(f.BuildID())), arch}; got != want || err != nil || archErr != nil {
			t.Errorf("%s: %s, %v, %v", name, got, err, archErr)
		}
	}
}
