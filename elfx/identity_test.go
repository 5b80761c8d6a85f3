package elfx

import (
	"bytes"
	"debug/elf"
	"errors"
	"strings"
	"testing"

	"symkit/internal/wire"
	"symkit/test/elftest"
)

var buildID = []byte{0xb4, 0xe1, 0x8c, 0x28, 0xe2, 0xc1, 0xbd, 0x0f, 0xed, 0xad, 0x40, 0x59, 0x4b, 0xc2, 0x85, 0x98, 0xa7, 0x75, 0x90, 0x2f}

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

// gABI, "Note Section": names are checked, so that Xen's note of type 3 does
// not win (Breakpad gives every x86-64 kernel one id), and both paddings are
// read.
func TestBuildID(t *testing.T) {
	elftest.EveryKind(t, func(t *testing.T, class elf.Class, big bool) {
		s := &elftest.Spec{Class: class, Big: big}
		xen := s.NoteBytes("Xen", 3, []byte{0, 0, 0, 0x80, 0xff, 0xff, 0xff, 0xff}, 4)
		gnu := s.NoteBytes("GNU", 3, buildID, 4)
		other := s.NoteBytes("GNU", 3, []byte("other"), 4)
		wide := append(s.NoteBytes("GNU", 5, make([]byte, 4), 8), s.NoteBytes("GNU", 3, buildID, 8)...)
		notes := func(name string, align uint64, data ...[]byte) elftest.Sec {
			return elftest.Sec{Name: name, Kind: elf.SHT_NOTE, Flags: elf.SHF_ALLOC, Align: align, Data: bytes.Join(data, nil)}
		}
		gnuSegment := []elftest.Seg{{Kind: elf.PT_LOAD}, {Kind: elf.PT_NOTE, Section: ".n"}}
		for name, test := range map[string]struct {
			sections   []elftest.Sec
			segments   []elftest.Seg
			noSections bool
			want       []byte
		}{
			"xen first":       {[]elftest.Sec{notes(".notes", 4, xen, gnu)}, nil, false, buildID},
			"8-byte aligned":  {[]elftest.Sec{notes(".note.gnu.property", 8, wide)}, nil, false, buildID},
			"named wins":      {[]elftest.Sec{notes(".note.a", 4, other), notes(".note.gnu.build-id", 4, gnu)}, nil, false, buildID},
			"no last padding": {[]elftest.Sec{notes(".note", 4, s.NoteBytes("GNU", 3, []byte("odd"), 1))}, nil, false, []byte("odd")},
			"segment":         {[]elftest.Sec{notes(".n", 4, xen, gnu)}, gnuSegment, true, buildID},
			"none":            {[]elftest.Sec{notes(".note", 4, xen, s.NoteBytes("Go", 3, buildID, 4))}, nil, false, nil},
			"empty":           {[]elftest.Sec{notes(".note", 4, s.NoteBytes("GNU", 3, nil, 4))}, nil, false, nil},
		} {
			file := &elftest.Spec{Class: class, Big: big, Sections: test.sections, Segments: test.segments, NoSections: test.noSections}
			f := mustFile(t, file.Build())
			if !bytes.Equal(f.BuildID(), test.want) || len(f.Losses()) != 0 {
				t.Errorf("%s: %x, losses %v", name, f.BuildID(), f.Losses())
			}
		}
	})
}

func TestCodeID(t *testing.T) {
	f := mustFile(t, elftest.Plain(elf.ELFCLASS64, false).Build())
	if got := f.CodeID(); got != "303132333435363738396162636465666768696A" {
		t.Errorf("code id %s", got)
	}
	if id, err := f.ModuleID(); id != "33323130353437363839616263646566"+"0" || err != nil {
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
	if id, err := f.ModuleID(); id != ModuleID(want[:], false) || err != nil {
		t.Errorf("id %s, %v, want %s", id, err, ModuleID(want[:], false))
	}
	if f.CodeID() != "" {
		t.Errorf("code id %q", f.CodeID())
	}
}

func TestHashTextEnds(t *testing.T) {
	hash := func(spec *elftest.Spec, name string) string {
		t.Helper()
		f := mustFile(t, spec.Build())
		// Make the section the last bytes of the file.
		s := f.named(name)
		f.data = f.data[:s.Offset+s.Size]
		id, err := f.ModuleID()
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
		id, err := mustFile(t, (&elftest.Spec{Big: true, Sections: test.sections}).Build()).ModuleID()
		if test.want == "" {
			if !errors.Is(err, ErrNoIdentity) || id != "" {
				t.Errorf("%s: %s, %v", test.name, id, err)
			}
		} else if err != nil || id != test.want+"0" {
			t.Errorf("%s: %s, %v", test.name, id, err)
		}
	}
}

func TestNoIdentity(t *testing.T) {
	s := &elftest.Spec{Sections: []elftest.Sec{{Name: ".text", Kind: elf.SHT_NOBITS, Flags: elf.SHF_ALLOC, Size: 100}}}
	_, err := mustFile(t, s.Build()).ModuleID()
	elftest.WantError(t, err, ErrNoIdentity, ".text", 0)
	if !strings.Contains(err.Error(), "--id") {
		t.Errorf("error %q", err)
	}
	s = elftest.Plain(elf.ELFCLASS64, false)
	s.Sections[1].Data = nil
	l := s.Layout()
	l.Data[l.Shoff+64+24+7] = 1 // .text outside the file
	_, err = mustFile(t, l.Data).ModuleID()
	elftest.WantError(t, err, wire.ErrTruncated, ".text", 0)
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
		if got, err := f.Arch(); got != test.want || err != nil {
			t.Errorf("%v %v: %q, %v", test.machine, test.class, got, err)
		}
	}
	for machine, want := range map[elf.Machine]string{elf.EM_LOONGARCH: "EM_LOONGARCH (258, ELFCLASS32)", elf.EM_68K: "EM_68K (4, ELFCLASS32)", 9999: "9999"} {
		_, err := mustFile(t, (&elftest.Spec{Machine: machine, Class: 1}).Build()).Arch()
		elftest.WantError(t, err, ErrMachine, "ELF header", 18)
		if !errors.Is(err, ErrMachine) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %q", err)
		}
	}
}
