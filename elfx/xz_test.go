package elfx

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"

	"symkit/internal/bounds"
	"symkit/internal/wire"
	"symkit/limits"
	"symkit/test/elftest"
)

// packXZ compresses data as one stream; every blockSize bytes begin a block.
func packXZ(t testing.TB, data []byte, config xz.WriterConfig) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := config.NewWriter(&b)
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

// unpack decodes with the package's own reader.
func unpack(data []byte) ([]byte, error) {
	s, err := openXZ(".x", data)
	if err != nil {
		return nil, err
	}
	if s.size > bounds.Inflated(limits.Limits{}, uint64(len(data))) {
		return nil, &wire.Error{Section: ".x", Err: ErrUnpackedSize}
	}
	dst := make([]byte, s.size)
	return dst, s.decode(dst)
}

func TestXZ(t *testing.T) {
	text := []byte(strings.Repeat("the quick brown fox ", 150))
	for _, check := range []byte{xz.None, xz.CRC32, xz.CRC64, xz.SHA256} {
		for _, block := range []int64{1 << 40, 1000, 299} {
			config := xz.WriterConfig{CheckSum: check, NoCheckSum: check == xz.None, BlockSize: block, DictCap: 4096}
			got, err := unpack(packXZ(t, text, config))
			if !bytes.Equal(got, text) || err != nil {
				t.Errorf("check %d, blocks of %d: %d bytes, %v", check, block, len(got), err)
			}
		}
	}
	if got, err := unpack(packXZ(t, nil, xz.WriterConfig{})); len(got) != 0 || err != nil {
		t.Errorf("empty: %d bytes, %v", len(got), err)
	}
}

// .xz file format §2–4: each kind of damage and where it is found.
func TestXZErrors(t *testing.T) {
	text := bytes.Repeat([]byte("abcdefgh"), 100)
	good := packXZ(t, text, xz.WriterConfig{CheckSum: xz.CRC32, DictCap: 4096})
	end := len(good)
	backward := int(binary.LittleEndian.Uint32(good[end-8:])+1) * 4
	index := end - xzEnds - backward
	for _, test := range []struct {
		name string
		data func(b []byte) []byte
		err  error
		at   int
	}{
		{"empty", func(b []byte) []byte { return nil }, ErrXZ, 0},
		{"§2.1.1.1 magic", func(b []byte) []byte { b[0] = 'x'; return b }, ErrXZ, 0},
		{"cut", func(b []byte) []byte { return b[:end-4] }, ErrXZ, end - 4 - xzEnds},
		{"§2.1.2 footer magic", func(b []byte) []byte { b[end-1] = 'x'; return b }, ErrXZ, end - xzEnds},
		{"§2.1.2.3 other flags in the footer", func(b []byte) []byte { b[7] = 4; return b }, ErrXZ, end - xzEnds},
		{"§2.1.2.2 index before the file", func(b []byte) []byte { b[end-6] = 0xff; return b }, ErrXZ, end - xzEnds},
		{"§4.1 no index indicator", func(b []byte) []byte { b[index] = 1; return b }, ErrXZ, index},
		{"§4.2 more records than bytes", func(b []byte) []byte { b[index+1] = 100; return b }, ErrXZ, index + 5},
		{"§4.2 no record", func(b []byte) []byte { b[index+1] = 0; return b }, ErrXZ, index},
		{"§4.3 block of no bytes", func(b []byte) []byte { b[index+2] = 0; return b }, ErrXZ, index + 2},
		{"§4.3 unending size", func(b []byte) []byte {
			for i := index + 2; i < end-xzEnds; i++ {
				b[i] = 0xff
			}
			return b
		}, wire.ErrOverflow, index + 2},
		{"§3.1.1 header longer than the block", func(b []byte) []byte { b[12] = 0xff; return b }, wire.ErrTruncated, 12},
		{"§3.1.2 two filters", func(b []byte) []byte { b[13] = 1; return b }, ErrXZ, 12},
		{"§5.3.2 a filter for x86 code", func(b []byte) []byte { b[14] = 4; return b }, ErrXZ, 12},
		{"§5.3.1 no such dictionary", func(b []byte) []byte { b[16] = 41; return b }, ErrXZ, 12},
		{"§3.4 checksum", func(b []byte) []byte { b[index-1] ^= 1; return b }, ErrXZ, 12},
		{"LZMA2 damage", func(b []byte) []byte { b[24] = 3; return b }, ErrXZ, 12},
		{"smaller in the index", func(b []byte) []byte { b[index+3]--; return b }, ErrXZ, 12},
		{"larger in the index", func(b []byte) []byte { b[index+3]++; return b }, ErrXZ, 12},
	} {
		data := test.data(bytes.Clone(good))
		_, err := unpack(data)
		t.Log(test.name)
		elftest.WantError(t, err, test.err, ".x", test.at)
	}
}

// The largest dictionary that the format knows costs nothing, and a size that
// cannot be is refused before anything is decoded.
func TestXZMemory(t *testing.T) {
	text := bytes.Repeat([]byte("abcdefgh"), 100)
	data := packXZ(t, text, xz.WriterConfig{CheckSum: xz.CRC32, DictCap: 4096})
	data[16] = 40 // 2^32 − 1
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if got, err := unpack(data); !bytes.Equal(got, text) || err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes allocated", n)
	}
	s, err := openXZ(".x", data)
	if err != nil {
		t.Fatal(err)
	}
	if s.size != uint64(len(text)) || len(s.blocks) != 1 {
		t.Errorf("%d bytes in %d blocks", s.size, len(s.blocks))
	}
}

func FuzzXZ(f *testing.F) {
	for _, block := range []int64{1 << 40, 99} {
		f.Add(packXZ(f, bytes.Repeat([]byte("abcdefgh"), 50), xz.WriterConfig{CheckSum: xz.CRC32, DictCap: 4096, BlockSize: block}))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := openXZ(".x", data)
		if err != nil {
			elftest.WantPlace(t, err, len(data))
			return
		}
		if s.size > 1<<20 {
			return
		}
		got := make([]byte, s.size)
		if err := s.decode(got); err != nil {
			elftest.WantPlace(t, err, len(data))
			return
		}
		// What we decode, the library that reads front to back decodes alike.
		r, err := xz.ReaderConfig{SingleStream: true}.NewReader(bytes.NewReader(data))
		if err != nil {
			return // it looks at checksums of headers, too
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(r); err == nil && !bytes.Equal(b.Bytes(), got) {
			t.Fatalf("%d bytes, xz has %d", len(got), b.Len())
		}
	})
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
	mini, err := f.DebugData()
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
	if none, err := full.DebugData(); none != nil || err != nil {
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

// xzClaim is a stream whose index has one block of 4 bytes that unpacks to 32
// MiB.
const xzClaim = xzMagic + "\x00\x01\x00\x00\x00\x00" + "\x00\x00\x00\x00" +
	"\x00\x01\x04\x80\x80\x80\x10\x00" + "\x00\x00\x00\x00" + // index, its CRC
	"\x00\x00\x00\x00" + "\x02\x00\x00\x00" + "\x00\x01" + xzEndMagic

func TestDebugDataErrors(t *testing.T) {
	id := func(b byte) elftest.Sec {
		s := elftest.Spec{}
		return elftest.Sec{Name: ".note.gnu.build-id", Kind: elf.SHT_NOTE, Data: s.NoteBytes("GNU", ntGNUBuildID, bytes.Repeat([]byte{b}, 20), 4)}
	}
	inner := func(s *elftest.Spec) []byte { return packXZ(t, s.Build(), xz.WriterConfig{DictCap: 4096}) }
	outer := func(data []byte) *File {
		return mustFile(t, (&elftest.Spec{Sections: []elftest.Sec{id(1), {Name: debugDataName, Kind: elf.SHT_PROGBITS, Data: data}}}).Build())
	}
	for _, test := range []struct {
		data    []byte
		err     error
		section string
		at      int
	}{
		{[]byte("nothing"), ErrXZ, debugDataName, 0},
		{packXZ(t, []byte("no ELF"), xz.WriterConfig{DictCap: 4096}), ErrNotELF, headerName, 0},
		{[]byte(xzClaim), ErrUnpackedSize, debugDataName, 0},
	} {
		f, err := outer(test.data).DebugData()
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
		f, err := outer(inner(test.inner)).DebugData()
		if (f == nil) != (test.err != nil) {
			t.Errorf("a file: %t: %v", f != nil, err)
		}
		if test.err == nil && err == nil {
			continue
		}
		elftest.WantError(t, err, test.err, debugDataName, 0)
	}
}
