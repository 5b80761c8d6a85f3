package check

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"symkit/check/internal/checks"
	"symkit/check/internal/naming"
	"symkit/check/internal/truth/dwarfinfo"
	"symkit/check/internal/truth/image"
	"symkit/check/report"
	"symkit/elfx"
	"symkit/internal/mem"
	"symkit/limits"
)

// TestOverwrittenDebugInfo checks that reading ends, and nothing panics, if a file is overwritten
// while its units are read. File reports the change at its end.
func TestOverwrittenDebugInfo(t *testing.T) {
	for _, name := range []string{"cxx-x86_64-gcc12-O2-dw5.elf", "lang-x86_64-gcc12-O2-dw5.elf"} {
		for seed := range uint64(20) {
			img, _ := own(t, name)
			code := image.CodeOf(img.Main)
			d := dwarfinfo.Open(img.Main, limits.Limits{})
			if err := d.Load(false); err != nil {
				t.Fatal(err)
			}
			// Every eighth byte changes.
			path := img.Main.Path()
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(3, seed))
			for range len(data) / 8 {
				data[rng.IntN(len(data))] = byte(rng.Uint32())
			}

			names, failed := naming.NewTable(), 0
			damage, unreadable, err := d.Units(t.Context(), 1, func(_ int, units iter.Seq[*dwarfinfo.Unit]) error {
				changed := false
				for u := range units {
					if !changed {
						changed = true
						err := os.WriteFile(path, data, 0o666)
						if err != nil {
							return err
						}
					}
					var s dwarfinfo.Scan
					n := dwarfinfo.NewNamer(names)
					if s.Scan(t.Context(), u, code) != nil {
						failed++
					}
					n.Unit(&s)
					n.Calls()
					if _, _, err := u.Group().Lines(code, naming.NewPaths()); err != nil {
						failed++
					}
				}
				return nil
			})
			// WriteFile truncates first: a page that is read in between is gone.
			switch {
			case errors.Is(err, mem.ErrChanged) || damage != nil || unreadable != nil:
				failed++
			case err != nil:
				t.Fatal(err)
			}
			if failed == 0 {
				t.Errorf("%s: no damage was found", name)
			}
		}
	}
}

// TestTruncatedStrings checks that File ends if a file whose .debug_info is compressed loses its
// symbols' names after it was opened: nothing inflates .debug_info then.
func TestTruncatedStrings(t *testing.T) {
	data := readTest(t, "../testdata/elf/cxx-x86_64-gcc12-O2-dw5-zlib.elf")
	sym := readTest(t, "testdata/own/cxx-x86_64-gcc12-O2-dw5.elf.sym")
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}

	// The names are moved to a page of their own at the end of the file.
	const page, headerSize, offsetField = 1 << 16, 64, 24
	index := slices.IndexFunc(f.Sections, func(s *elf.Section) bool { return s.Name == ".strtab" })
	strings, err := f.Sections[index].Data()
	if err != nil {
		t.Fatal(err)
	}
	data = append(data, make([]byte, page-len(data)%page)...)
	end := len(data)
	data = append(data, strings...)
	header := int(binary.LittleEndian.Uint64(data[0x28:])) + index*headerSize
	binary.LittleEndian.PutUint64(data[header+offsetField:], uint64(end))
	img := openData(t, data, "strings.elf")
	if err := os.Truncate(img.Main.Path(), int64(end)); err != nil {
		t.Fatal(err)
	}

	done := make(chan error, 1)
	go func() {
		_, err := File(t.Context(), img, sym, Options{Jobs: 2})
		done <- err
	}()
	select {
	case err := <-done:
		if !errors.Is(err, mem.ErrChanged) {
			t.Errorf("error %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("File does not end")
	}
}

// TestChecksumLast checks that a wrong checksum of .debug_info is always found, although the units
// are compared before all of the section is inflated.
func TestChecksumLast(t *testing.T) {
	img := openTest(t, "../testdata/elf/cxx-x86_64-gcc12-O2-dw5-zlib.elf", "zlib.elf")
	sym := readTest(t, "testdata/own/cxx-x86_64-gcc12-O2-dw5.elf.sym")
	path := img.Main.Path()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	info := img.Main.Section(".debug_info")
	data[info.Offset+info.Size-1] ^= 1 // of the Adler-32 checksum
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}

	for range 20 {
		f, err := elfx.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		rep, err := File(t.Context(), &elfx.Image{Main: f}, sym, Options{Jobs: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range rep.Checks {
			if c.Name == checks.Funcs && c.State != report.NotVerified {
				t.Errorf("functions: %v, notes %q", c.State, c.Notes)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
