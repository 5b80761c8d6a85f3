package dump

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"symkit/elfx"
	"symkit/emit"
	"symkit/lookup/gsym"
	"symkit/test/testfile"
)

// FuzzDump: whatever the file, what is written is read again by the strict
// reader, is the same on any number of goroutines, and an error or a loss names
// the file. It reaches the decoders that have no target of their own: of PLT
// slots, ppc64 descriptors, note and section lookups, and all joins of tables.
func FuzzDump(f *testing.F) {
	for _, name := range []string{
		"cxx-x86_64-gcc12-O2-dw5.elf", "lang-x86_64-gcc12-O2-dw4.elf", "cxx-x86_64-clang14-O2-dw5-types.elf",
		"lang-mips-gcc12-O2-dw4.elf", "cxx-arm-gcc12-O2-dw5.elf", "cxx-s390x-gcc12-O2-dw5.elf", "cxx-ppc64le-gcc12-O2-dw5.elf",
		"cxx-x86_64-gcc12-O2-dw5.o", "cxx-x86_64-gcc12-O2-dw5-nosections.so", "cxx-x86_64-gcc12-O2-dw5-mini.elf", "asm-x86_64-gas-dw5.elf",
	} {
		data, err := testfile.Read(filepath.Join(fixtures, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<17 {
			return
		}
		one, err := fuzzedText(t, data, 1)
		three, err3 := fuzzedText(t, data, 3)
		if (err == nil) != (err3 == nil) || !bytes.Equal(one, three) {
			t.Fatalf("%v and %v, %d and %d bytes", err, err3, len(one), len(three))
		}
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz: ") {
				t.Fatalf("error without the file: %v", err)
			}
			return
		}
		r := emit.NewReader(one)
		for _, err := range r.Records() {
			if err != nil {
				t.Fatalf("line %d: %v", r.Line(), err)
			}
		}
	})
}

// fuzzedText dumps a file.
func fuzzedText(t *testing.T, data []byte, jobs int) ([]byte, error) {
	file, err := elfx.NewFile("fuzz", data)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	m, err := Dump(t.Context(), &elfx.Image{Main: file}, Options{Jobs: jobs, Inlines: true, Name: "fuzz", ID: "0"})
	if err != nil {
		return nil, err
	}
	for _, err := range m.Stats.Losses {
		if !strings.HasPrefix(err.Error(), "fuzz") {
			t.Fatalf("loss without the file: %v", err)
		}
	}
	var out bytes.Buffer
	if err := m.Write(&out); err != nil {
		t.Fatal(err)
	}

	var index bytes.Buffer
	err = m.WriteGSYM(&index)
	if err != nil {
		t.Fatal(err)
	}
	fuzzGSYM(t, index.Bytes(), m)
	return out.Bytes(), nil
}

// fuzzGSYM checks that the functions of a module are found at their addresses.
func fuzzGSYM(t *testing.T, data []byte, m *Module) {
	t.Helper()
	f, err := gsym.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	for fn := range m.Funcs() {
		addr := fn.Addr + m.records.Load
		found, frames, err := f.Lookup(nil, addr)
		if fn.Size > 0 && (err != nil || found.Addr != addr || len(frames) == 0) {
			t.Fatalf("%#x: %v %v %v", addr, found, frames, err)
		}
	}
}
