package elfx

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"symkit/internal/bounds"
	"symkit/internal/inflate"
	"symkit/located"
	"symkit/test/elftest"
)

func zlibBytes(data []byte) []byte {
	var b bytes.Buffer
	w, _ := zlib.NewWriterLevel(&b, zlib.BestCompression)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func zstdBytes(data []byte) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return w.EncodeAll(data, nil)
}

func zdebug(size uint64, stream []byte) []byte {
	return append(binary.BigEndian.AppendUint64([]byte("ZLIB"), size), stream...)
}

var sample = bytes.Repeat([]byte("compressed section "), 1000)

func compressedSpec() *elftest.Spec {
	s := &elftest.Spec{}
	half := len(sample) / 2
	s.Sections = []elftest.Sec{
		{Name: ".debug_info", Kind: elf.SHT_PROGBITS, Flags: elf.SHF_COMPRESSED, Data: s.Chdr(elf.COMPRESS_ZLIB, uint64(len(sample)), zlibBytes(sample))},
		{Name: ".debug_line", Kind: elf.SHT_PROGBITS, Flags: elf.SHF_COMPRESSED, Data: s.Chdr(elf.COMPRESS_ZSTD, uint64(len(sample)), zstdBytes(sample))},
		{Name: ".debug_loc", Kind: elf.SHT_PROGBITS, Flags: elf.SHF_COMPRESSED, Data: s.Chdr(elf.COMPRESS_ZSTD, uint64(len(sample)),
			append(zstdBytes(sample[:half]), zstdBytes(sample[half:])...))},
		{Name: ".zdebug_str", Kind: elf.SHT_PROGBITS, Data: zdebug(uint64(len(sample)), zlibBytes(sample))},
	}
	return s
}

// gABI, "Section Compression", and .zdebug_: in all classes and orders.
func TestCompressed(t *testing.T) {
	elftest.EveryKind(t, func(t *testing.T, class elf.Class, big bool) {
		s := compressedSpec()
		s.Class, s.Big = class, big
		s.Sections[0].Data = s.Chdr(elf.COMPRESS_ZLIB, uint64(len(sample)), zlibBytes(sample))
		s.Sections[1].Data = s.Chdr(elf.COMPRESS_ZSTD, uint64(len(sample)), zstdBytes(sample))
		s.Sections[2].Data = s.Chdr(elf.COMPRESS_ZSTD, 0, nil)
		f := mustFile(t, s.Build())
		for _, name := range []string{".debug_info", ".debug_line", ".debug_str"} {
			sec := f.Section(name)
			if n, err := sec.UncompressedSize(); n != uint64(len(sample)) || err != nil || sec.inflated != nil {
				t.Errorf("%s: size %d, %v, inflated %d", name, n, err, len(sec.inflated.Bytes()))
			}
			var wait sync.WaitGroup
			for range 4 {
				wait.Go(func() {
					if data, err := sec.Data(); !bytes.Equal(data, sample) || err != nil {
						t.Errorf("%s: %d bytes, %v", name, len(data), err)
					}
				})
			}
			wait.Wait()
			first, _ := sec.Data()
			if second, _ := sec.Data(); &first[0] != &second[0] {
				t.Errorf("%s: inflated twice", name)
			}
			if raw, err := sec.Raw(); uint64(len(raw)) != sec.Size || err != nil {
				t.Errorf("%s: raw %d bytes, %v", name, len(raw), err)
			}
		}
		if data, err := f.SectionData(".debug_loc"); len(data) != 0 || data == nil || err != nil {
			t.Errorf("empty zstd section: %v, %v", data, err)
		}
	})
}

// lld compresses in parts and writes one zstd frame for each.
func TestZstdFrames(t *testing.T) {
	data, err := mustFile(t, compressedSpec().Build()).SectionData(".debug_loc")
	if !bytes.Equal(data, sample) || err != nil {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

// A streaming compressor names a window far larger than a small section.
func TestZstdWindow(t *testing.T) {
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithWindowSize(8<<20))
	if err != nil {
		t.Fatal(err)
	}
	w.Write(sample[:100])
	w.Flush()
	w.Write(sample[100:300])
	w.Close()
	s := &elftest.Spec{}
	s.Sections = []elftest.Sec{{Name: ".debug_line", Kind: elf.SHT_PROGBITS, Flags: elf.SHF_COMPRESSED, Data: s.Chdr(elf.COMPRESS_ZSTD, 300, b.Bytes())}}
	if data, err := mustFile(t, s.Build()).SectionData(".debug_line"); !bytes.Equal(data, sample[:300]) || err != nil {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

// TestStreams: Streams reports false for each section that Stream cannot inflate.
func TestStreams(t *testing.T) {
	e := &elftest.Spec{}
	packed := elftest.Sec{Name: ".debug_info", Kind: elf.SHT_PROGBITS, Flags: elf.SHF_COMPRESSED, Data: e.Chdr(elf.COMPRESS_ZLIB, uint64(len(sample)), zlibBytes(sample))}
	with := func(change func(s *elftest.Sec)) elftest.Sec {
		s := packed
		change(&s)
		return s
	}
	for _, test := range []struct {
		name     string
		kind     elf.Type
		sections []elftest.Sec
		want     bool
	}{
		{"zlib", elf.ET_DYN, []elftest.Sec{packed}, true},
		{"zlib, in an object", elf.ET_REL, []elftest.Sec{packed}, true},
		{"another section is compressed too", elf.ET_REL, []elftest.Sec{packed, with(func(s *elftest.Sec) { s.Name = ".debug_line" })}, true},
		{".zdebug_info", elf.ET_DYN, []elftest.Sec{{Name: ".zdebug_info", Kind: elf.SHT_PROGBITS,
			Data: append(binary.BigEndian.AppendUint64([]byte("ZLIB"), uint64(len(sample))), zlibBytes(sample)...)}}, true},
		{"not compressed", elf.ET_DYN, []elftest.Sec{with(func(s *elftest.Sec) { s.Flags, s.Data = 0, sample })}, false},
		{"zstd", elf.ET_DYN, []elftest.Sec{with(func(s *elftest.Sec) { s.Data = e.Chdr(elf.COMPRESS_ZSTD, uint64(len(sample)), zstdBytes(sample)) })}, false},
		{"of another kind", elf.ET_DYN, []elftest.Sec{with(func(s *elftest.Sec) { s.Data = e.Chdr(7, 1, nil) })}, false},
		{"no space for the header", elf.ET_DYN, []elftest.Sec{with(func(s *elftest.Sec) { s.Data = s.Data[:11] })}, false},
		{"more than can be", elf.ET_DYN, []elftest.Sec{with(func(s *elftest.Sec) { s.Data = e.Chdr(elf.COMPRESS_ZLIB, 1<<40, zlibBytes(sample)) })}, false},
		{"nothing in the file", elf.ET_DYN, []elftest.Sec{with(func(s *elftest.Sec) { s.Kind = elf.SHT_NOBITS })}, false},
		{"in two parts", elf.ET_REL, []elftest.Sec{packed, packed}, false},
	} {
		f := mustFile(t, (&elftest.Spec{Kind: test.kind, Sections: test.sections}).Build())
		s := f.Section(".debug_info")
		if s == nil || s.Streams() != test.want {
			t.Errorf("%s: %v, want %v", test.name, !test.want, test.want)
		}
		if !test.want {
			continue
		}
		var got []byte
		err := s.Stream(1, func(buf []byte, done int) ([]byte, int) {
			if buf == nil {
				buf = make([]byte, len(sample))
			}
			got = buf[:done]
			return buf, done
		})
		if err != nil || !bytes.Equal(got, sample) {
			t.Errorf("%s: %d bytes, %v", test.name, len(got), err)
		}
	}
}

// TestStream: the buffers of Stream have, one after the other, all bytes of Data.
func TestStream(t *testing.T) {
	big := bytes.Repeat(sample, 100)
	s := &elftest.Spec{}
	packed := s.Chdr(elf.COMPRESS_ZLIB, uint64(len(big)), zlibBytes(big))
	s.Sections = []elftest.Sec{
		{Name: ".debug_info", Kind: elf.SHT_PROGBITS, Flags: elf.SHF_COMPRESSED, Data: packed},
		{Name: ".debug_str", Kind: elf.SHT_PROGBITS, Data: big},
		{Name: ".debug_line", Kind: elf.SHT_PROGBITS, Flags: elf.SHF_COMPRESSED, Data: s.Chdr(elf.COMPRESS_ZSTD, uint64(len(big)), zstdBytes(big))},
		{Name: ".debug_types", Kind: elf.SHT_PROGBITS, Flags: elf.SHF_COMPRESSED, Data: s.Chdr(elf.COMPRESS_ZLIB, uint64(len(big)), packed[:len(packed)/2])},
	}
	f := mustFile(t, s.Build())
	for name, want := range map[string]bool{".debug_info": true, ".debug_str": false, ".debug_line": false} {
		if got := f.Section(name).Streams(); got != want {
			t.Errorf("%s streams: %v", name, got)
		}
	}
	at, slides := 0, 0
	slide := func(buf []byte, done int) ([]byte, int) {
		if !bytes.Equal(buf[:done], big[at:at+done]) {
			t.Errorf("wrong at %d", at)
		}
		slides++
		if buf != nil && (at+done == len(big) || len(buf)-done >= inflate.Space) {
			return buf, done
		}
		kept := min(done, inflate.Window)
		next := make([]byte, 2<<20/3)
		copy(next, buf[done-kept:done])
		clear(buf) // the caller may use the buffer again
		at += done - kept
		return next, kept
	}
	if err := f.Section(".debug_info").Stream(1, slide); err != nil || at == 0 || slides < 4 {
		t.Errorf("%d slides, the last buffer at %d, %v", slides, at, err)
	}
	if data, err := f.SectionData(".debug_info"); !bytes.Equal(data, big) || err != nil {
		t.Errorf("then %d bytes, %v", len(data), err)
	}
	at = 0
	err := f.Section(".debug_types").Stream(1, slide)
	if !errors.Is(err, ErrCompression) {
		t.Errorf("half a stream: %v", err)
	}
}

func TestCompressionErrors(t *testing.T) {
	s := &elftest.Spec{}
	n := uint64(len(sample))
	z := zlibBytes(sample)
	short := z[:len(z)-2]
	for _, test := range []struct {
		name    string
		section string
		flags   elf.SectionFlag
		data    []byte
		want    error
		offset  int
	}{
		{"header cut", ".debug_a", elf.SHF_COMPRESSED, make([]byte, 20), located.ErrTruncated, 16},
		{"unknown kind", ".debug_a", elf.SHF_COMPRESSED, s.Chdr(7, n, z), ErrCompression, 0},
		{"claims 1 TB", ".debug_a", elf.SHF_COMPRESSED, s.Chdr(elf.COMPRESS_ZLIB, 1<<40, z), ErrCompression, 0},
		{"claims 1 TB, zstd", ".debug_a", elf.SHF_COMPRESSED, s.Chdr(elf.COMPRESS_ZSTD, 1<<40, zstdBytes(sample)), ErrCompression, 0},
		{"claims more than deflate can", ".debug_a", elf.SHF_COMPRESSED, s.Chdr(elf.COMPRESS_ZLIB, 1033*uint64(len(z)), z), ErrCompression, 0},
		{"zlib cut", ".debug_a", elf.SHF_COMPRESSED, s.Chdr(elf.COMPRESS_ZLIB, n, short), located.ErrTruncated, 24 + len(short)},
		{"zlib shorter", ".debug_a", elf.SHF_COMPRESSED, s.Chdr(elf.COMPRESS_ZLIB, n+1, z), inflate.ErrTooShort, 24 + len(z) - 4},
		{"zstd cut", ".debug_a", elf.SHF_COMPRESSED, s.Chdr(elf.COMPRESS_ZSTD, n, zstdBytes(sample)[:20]), ErrCompression, 24},
		{"zstd shorter", ".debug_a", elf.SHF_COMPRESSED, s.Chdr(elf.COMPRESS_ZSTD, n+1, zstdBytes(sample)), ErrCompression, 24},
		{"zstd longer", ".debug_a", elf.SHF_COMPRESSED, s.Chdr(elf.COMPRESS_ZSTD, n-1, zstdBytes(sample)), ErrCompression, 24},
		{"zdebug cut", ".zdebug_a", 0, []byte("ZLIB\x00"), located.ErrTruncated, 4},
		{"zdebug magic", ".zdebug_a", 0, bytes.Replace(zdebug(n, z), []byte("ZLIB"), []byte("zlib"), 1), ErrCompression, 0},
		{"zdebug bomb", ".zdebug_a", 0, zdebug(1<<60, z), ErrCompression, 0},
		{"zdebug checksum", ".zdebug_a", 0, zdebug(n, append(bytes.Clone(short), 0, 0)), inflate.ErrChecksum, 12 + len(z) - 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &elftest.Spec{Sections: []elftest.Sec{{Name: test.section, Kind: elf.SHT_PROGBITS, Flags: test.flags, Data: test.data}}}
			f := mustFile(t, s.Build())
			for range 2 {
				data, err := f.SectionData(".debug_a")
				elftest.WantError(t, err, test.want, test.section, test.offset)
				if data != nil {
					t.Error("data with an error")
				}
			}
		})
	}
}

// A small section that claims to be huge costs little memory, whether the claim
// is refused or tried.
func TestBomb(t *testing.T) {
	for _, test := range []struct {
		kind elf.CompressionType
		size uint64
	}{{elf.COMPRESS_ZLIB, 1 << 40}, {elf.COMPRESS_ZSTD, 1 << 40}, {elf.COMPRESS_ZLIB, 1 << 20}, {elf.COMPRESS_ZSTD, bounds.FreeSize}} {
		s := &elftest.Spec{}
		s.Sections = []elftest.Sec{{Name: ".debug_info", Kind: elf.SHT_PROGBITS, Flags: elf.SHF_COMPRESSED,
			Data: s.Chdr(test.kind, test.size, bytes.Repeat([]byte{0x55}, 1000))}}
		f := mustFile(t, s.Build())
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := f.SectionData(".debug_info"); err == nil {
			t.Errorf("%v: no error", test)
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > bounds.FreeSize+bounds.FreeSize/8 {
			t.Errorf("%v: %d bytes allocated", test, used)
		}
	}
}

func TestSectionOutsideFile(t *testing.T) {
	l := elftest.Plain(elf.ELFCLASS64, false).Layout()
	text, info := l.Data[l.Shoff+64:], l.Data[l.Shoff+4*64:]
	binary.LittleEndian.PutUint64(text[32:], 1<<40)
	binary.LittleEndian.PutUint64(info[24:], 1<<63)
	f := mustFile(t, l.Data)
	_, err := f.Section(".text").Data()
	elftest.WantError(t, err, located.ErrTruncated, ".text", len(l.Data)-int(l.Offset[".text"]))
	_, err = f.Section(".debug_info").Data()
	elftest.WantError(t, err, located.ErrTruncated, ".debug_info", 0)
	_, err = f.Section(".debug_info").UncompressedSize()
	elftest.WantError(t, err, located.ErrTruncated, ".debug_info", 0)
	if !strings.HasPrefix(err.Error(), "test.elf: .debug_info+0x0: ") {
		t.Errorf("error %q", err)
	}
}

// Breakpad misses a .eh_frame of type SHT_X86_64_UNWIND (gold); MIPS has its
// own type for debug sections.
func TestSectionTypes(t *testing.T) {
	s := &elftest.Spec{Sections: []elftest.Sec{
		{Name: ".eh_frame", Kind: shtX8664Unwind, Flags: elf.SHF_ALLOC, Data: []byte("eh")},
		{Name: ".debug_info", Kind: 0x7000001e, Data: []byte("mips")},
		{Name: ".stack_trace", Kind: shtGNUSFrame, Flags: elf.SHF_ALLOC, Data: []byte("sframe")},
		{Name: ".gone", Kind: elf.SHT_NULL},
	}}
	f := mustFile(t, s.Build())
	for name, want := range map[string]string{".eh_frame": "eh", ".debug_info": "mips", ".sframe": "sframe"} {
		if data, err := f.SectionData(name); string(data) != want || err != nil {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if s := f.Section(".gone"); s != nil {
		t.Errorf("found SHT_NULL %v", s.Name)
	}
}

// Sections with a type of their own are found without names.
func TestSectionsWithoutNames(t *testing.T) {
	s := symbolSpec(elf.ELFCLASS64, false)
	s.Sections = append(s.Sections, elftest.Sec{Name: ".eh_frame", Kind: shtX8664Unwind, Data: []byte("eh")})
	l := s.Layout()
	l.Data[62] = 1 // e_shstrndx
	f := mustFile(t, l.Data)
	if table, err := f.Symtab(); table == nil || err != nil {
		t.Errorf(".symtab: %v, %v", table, err)
	}
	if data, err := f.SectionData(".eh_frame"); string(data) != "eh" || err != nil {
		t.Errorf(".eh_frame: %q, %v", data, err)
	}
}

func TestExecRanges(t *testing.T) {
	f := mustFile(t, elftest.Plain(elf.ELFCLASS64, false).Build())
	if r := f.ExecRanges(); len(r) != 1 || r[0] != (Range{elftest.LoadBase, elftest.LoadBase + uint64(f.Size())}) {
		t.Errorf("by segments: %#x", r)
	}
	f.Segments = nil
	text := f.Section(".text")
	if r := f.ExecRanges(); len(r) != 1 || r[0] != (Range{text.Addr, text.Addr + 40}) {
		t.Errorf("by sections: %#x", r)
	}
	exec := func(vaddr, size uint64) Segment {
		return Segment{Type: elf.PT_LOAD, Flags: elf.PF_X, Vaddr: vaddr, Memsz: size}
	}
	f.Segments = []Segment{exec(100, 10), exec(0, 5), exec(105, 10), exec(50, 0), exec(1<<64-2, 8)}
	want := []Range{{0, 5}, {100, 115}, {1<<64 - 2, 1<<64 - 1}}
	if r := f.ExecRanges(); len(r) != 3 || r[0] != want[0] || r[1] != want[1] || r[2] != want[2] {
		t.Errorf("merged: %#x", r)
	}
}

// TestDiscard: bytes that were given up are made anew, from buffers outside of
// the heap, the heap and the file.
func TestDiscard(t *testing.T) {
	big := bytes.Repeat(sample, 100)
	s := &elftest.Spec{}
	for _, data := range [][]byte{big, sample} {
		s.Sections = append(s.Sections, elftest.Sec{Name: fmt.Sprintf(".debug_%d", len(data)), Kind: elf.SHT_PROGBITS, Flags: elf.SHF_COMPRESSED,
			Data: s.Chdr(elf.COMPRESS_ZLIB, uint64(len(data)), zlibBytes(data))})
	}
	s.Sections = append(s.Sections, elftest.Sec{Name: ".debug_raw", Kind: elf.SHT_PROGBITS, Data: big})
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, s.Build(), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for name, want := range map[string][]byte{".debug_1900000": big, ".debug_19000": sample, ".debug_raw": big} {
		s := f.Section(name)
		s.Discard(0, 1) // nothing there yet
		for range 2 {
			if data, err := s.Data(); !bytes.Equal(data, want) || err != nil {
				t.Errorf("%s: %d bytes, %v", name, len(data), err)
			}
			s.Discard(100, uint64(len(want)))
			s.Discard(5, uint64(len(want))+1)
			if data, err := s.Data(); !bytes.Equal(data, want) || err != nil {
				t.Errorf("%s, discarded: %d bytes, %v", name, len(data), err)
			}
			s.Release()
			s.Release()
		}
	}
}
