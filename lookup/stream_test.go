package lookup_test

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"symkit/lookup"
)

// program is a fixture whose units do not refer to each other.
const program = "cxx-x86_64-gcc12-O2-dw5.elf"

// packed writes the program with another .debug_info, which change makes, in a zlib stream.
func packed(t *testing.T, change func(info []byte) []byte) (path string) {
	t.Helper()
	data, err := os.ReadFile(fixtures + program)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	index := slices.IndexFunc(f.Sections, func(s *elf.Section) bool { return s.Name == ".debug_info" })
	info, err := f.Sections[index].Data()
	if err != nil {
		t.Fatal(err)
	}
	info = change(info)

	// The stream, with its header, comes last in the file.
	le := binary.LittleEndian
	at := uint64(len(data))
	data = le.AppendUint64(data, uint64(elf.COMPRESS_ZLIB))
	data = le.AppendUint64(data, uint64(len(info)))
	data = le.AppendUint64(data, 1)
	var stream bytes.Buffer
	w := zlib.NewWriter(&stream)
	_, _ = w.Write(info)
	_ = w.Close()
	data = append(data, stream.Bytes()...)
	header := data[le.Uint64(data[0x28:])+uint64(index)*64:]
	le.PutUint64(header[8:], uint64(elf.SHF_COMPRESSED))
	le.PutUint64(header[24:], at)
	le.PutUint64(header[32:], uint64(len(data))-at)
	path = filepath.Join(t.TempDir(), "packed.elf")
	err = os.WriteFile(path, data, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// vendors returns a unit of size bytes whose type is a vendor's: dwarfx skips such units.
func vendors(size int) []byte {
	unit := binary.LittleEndian.AppendUint32(nil, uint32(size-4))
	unit = append(unit, 5, 0, 0x80, 8)
	rnd := rand.New(rand.NewPCG(1, 2))
	for len(unit) < size {
		unit = append(unit, byte(rnd.Uint32()))
	}
	return unit
}

// TestStream: answers from a .debug_info that is being inflated are those from the same units in a plain file.
func TestStream(t *testing.T) {
	defer lookup.SetStreams(1, 1<<10)()
	plain := open(t, program, lookup.Options{})
	const large = 3 << 20
	for _, tt := range []struct {
		name   string
		change func(info []byte) []byte
	}{
		{"units first", func(info []byte) []byte { return slices.Concat(info, vendors(large)) }},
		{"units last", func(info []byte) []byte { return slices.Concat(vendors(large), info) }},
		{"other units first", func(info []byte) []byte {
			first := 4 + binary.LittleEndian.Uint32(info)
			return slices.Concat(info[first:], vendors(large), info[:first], info[first:])
		}},
		{"small", func(info []byte) []byte { return info }},
	} {
		f, err := lookup.Open(t.Context(), packed(t, tt.change), lookup.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for addr := uint64(0x401000); addr < 0x401800; addr += 3 {
			got, want := answer(t, f, addr), answer(t, plain, addr)
			if got != want {
				t.Fatalf("%s, %#x: %s, want %s", tt.name, addr, got, want)
			}
		}
		if losses := f.Losses(); len(losses) > 0 {
			t.Errorf("%s: %v", tt.name, losses)
		}
		f.Close()

		// A file that is closed before the end of its stream.
		f, err = lookup.Open(t.Context(), packed(t, tt.change), lookup.Options{})
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
}

// TestStreamDamage: units before the damage of a stream are there, whatever was asked for first.
func TestStreamDamage(t *testing.T) {
	defer lookup.SetStreams(1, 1<<10)()
	path := packed(t, func(info []byte) []byte { return slices.Concat(info, vendors(3<<20)) })
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		data[len(data)-1<<16+i] ^= 0xff
	}
	err = os.WriteFile(path, data, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	const known, unknown = 0x4012de, 0x10
	for _, addrs := range [][]uint64{{known, unknown}, {unknown, known}} {
		f, err := lookup.Open(t.Context(), path, lookup.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, addr := range addrs {
			frames, err := f.Frames(nil, addr)
			if err != nil || len(frames) != map[uint64]int{known: 2}[addr] {
				t.Errorf("%#x: %v, %v", addr, frames, err)
			}
		}
		if losses := f.Losses(); len(losses) != 1 {
			t.Errorf("%v", losses)
		}
		f.Close()
	}
}
