package elfx

import (
	"bytes"
	"debug/elf"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"

	"symkit/internal/limitof"
	"symkit/limits"
	"symkit/test/elftest"
)

// packXZ compresses data.
func packXZ(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := xz.WriterConfig{DictCap: 4096}.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const fixtureDir = "../testdata/elf"

// The fixture is made as Fedora makes its binaries: stripped, with the symbol
// table of its debug file in .gnu_debugdata.
func TestDebugData(t *testing.T) {
	f, err := Open(filepath.Join(fixtureDir, "cxx-x86_64-gcc12-O2-dw5-mini.elf"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if s, err := f.Symtab(); s != nil || err != nil {
		t.Errorf(".symtab %v, %v", s, err)
	}
	mini, err := DebugData(f)
	if err != nil {
		t.Fatal(err)
	}
	defer mini.Close()
	if mini.Path() != f.Path()+"!/.gnu_debugdata" || mini.Archive() != f.Path() || !bytes.Equal(mini.BuildID(), f.BuildID()) {
		t.Errorf("%s in %s, %x", mini.Path(), mini.Archive(), mini.BuildID())
	}
	full, err := Open(filepath.Join(fixtureDir, "cxx-x86_64-gcc12-O2-dw5.elf"))
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	want, err := full.Symtab()
	if err != nil {
		t.Fatal(err)
	}
	got, err := mini.Symtab()
	if err != nil {
		t.Fatal(err)
	}
	if a, b := functions(want), functions(got); a == "" || a != b {
		t.Errorf("functions:\n%s\nwant:\n%s", b, a)
	}
	if none, err := DebugData(full); none != nil || err != nil {
		t.Errorf("without .gnu_debugdata: %v, %v", none, err)
	}
}

func functions(t *SymbolTable) string {
	var b strings.Builder
	for i := range t.Symbols {
		if s := &t.Symbols[i]; s.Type == elf.STT_FUNC {
			b.Write(t.NameOf(s))
			b.WriteString(" ")
		}
	}
	return b.String()
}

func TestDebugDataErrors(t *testing.T) {
	id := func(b byte) elftest.Sec {
		s := elftest.Spec{}
		return elftest.Sec{Name: ".note.gnu.build-id", Kind: elf.SHT_NOTE, Data: s.NoteBytes("GNU", ntGNUBuildID, bytes.Repeat([]byte{b}, 20), 4)}
	}
	inner := func(s *elftest.Spec) []byte { return packXZ(t, s.Build()) }
	outer := func(data []byte) *File {
		return mustFile(t, (&elftest.Spec{Sections: []elftest.Sec{id(1), {Name: debugDataName, Kind: elf.SHT_PROGBITS, Data: data}}}).Build())
	}
	for _, test := range []struct {
		data    []byte
		err     error
		section string
		at      int
	}{
		{[]byte("nothing"), errXZ, debugDataName, 0},
		{packXZ(t, []byte("no ELF")), ErrNotELF, headerName, 0},
		{packXZ(t, make([]byte, 32<<20)), ErrUnpackedSize, debugDataName, 0},
	} {
		f, err := DebugData(outer(test.data))
		if f != nil {
			t.Error("a file")
		}
		elftest.WantError(t, err, test.err, test.section, test.at)
	}
	for _, test := range []struct {
		inner *elftest.Spec
		err   error
	}{
		{&elftest.Spec{Sections: []elftest.Sec{id(2)}}, ErrOtherBuildID},
		{&elftest.Spec{Sections: []elftest.Sec{id(1)}, Machine: elf.EM_AARCH64}, ErrOtherMachine},
		{&elftest.Spec{Sections: []elftest.Sec{id(1)}}, nil},
		{&elftest.Spec{}, nil},
	} {
		f, err := DebugData(outer(inner(test.inner)))
		if (f == nil) != (test.err != nil) {
			t.Errorf("a file: %t: %v", f != nil, err)
		}
		if test.err == nil && err == nil {
			continue
		}
		elftest.WantError(t, err, test.err, debugDataName, 0)
	}
}

// A limit on inflated bytes holds for .gnu_debugdata too.
func TestDebugDataLimit(t *testing.T) {
	s := &elftest.Spec{Sections: []elftest.Sec{{Name: debugDataName, Kind: elf.SHT_PROGBITS, Data: packXZ(t, make([]byte, 1<<20))}}}
	opt := Options{Limits: limits.Limits{}.With(limitof.Inflated, 1<<10)}
	f, err := opt.NewFile("test.elf", s.Build())
	if err != nil {
		t.Fatal(err)
	}
	_, err = DebugData(f)
	elftest.WantError(t, err, limits.ErrExceeded, debugDataName, 0)
}
