package write

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"symkit/dump/internal/files"
	"symkit/dump/internal/naming"
	"symkit/dump/internal/record"
	"symkit/emit"
	"symkit/internal/dwarfx"
)

var header = Header{OS: "Linux", Arch: "x86_64", ID: "0", Name: "large"}

// large is a module of several chunks, with functions larger than one and one
// that needs several records.
func large() *record.Module {
	m := &record.Module{Files: files.Ordered{Names: []string{"a.c"}, Place: []uint32{0}}, Origins: naming.Origins{Texts: []string{"inner"}, Place: []uint32{0}}}
	addr := uint64(0x1000)
	for i := range 2000 {
		f := record.Func{Addr: addr, Size: 64, Name: fmt.Sprint("f", i)}
		if i == 1000 {
			f.Size = 5 << 30
		}
		n := i % 40
		if i%500 == 7 {
			n = 3 * chunkRecords
		}
		var ranges []dwarfx.Range
		for k := range n {
			f.Lines = append(f.Lines, emit.Line{Addr: addr + uint64(k), Size: 1, Line: uint32(k)})
			ranges = append(ranges, dwarfx.Range{Lo: addr + uint64(k), Hi: addr + uint64(k) + 1})
			f.Calls.List = append(f.Calls.List, dwarfx.Inline{CallLine: uint32(i), Ranges: dwarfx.Span{From: uint32(k), To: uint32(k + 1)}})
		}
		f.Calls.Ranges = ranges
		m.Funcs = append(m.Funcs, f)
		addr += f.Size
	}
	return m
}

// TestWriteJobs: the text does not depend on how many goroutines format it.
func TestWriteJobs(t *testing.T) {
	m := large()
	var want bytes.Buffer
	if err := Module(&want, header, m, 1); err != nil {
		t.Fatal(err)
	}
	for _, jobs := range []int{1, 2, 8} {
		var got bytes.Buffer
		if err := Module(&got, header, m, jobs); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%d goroutines: %d bytes instead of %d, %v", jobs, got.Len(), want.Len(), err)
		}
	}
}

// full is a file system without space.
type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

// TestWriteFull: the failure comes back, and nothing waits for ever.
func TestWriteFull(t *testing.T) {
	m := large()
	for _, jobs := range []int{1, 3} {
		if err := Module(full{}, header, m, jobs); !errors.Is(err, errFull) {
			t.Errorf("%d goroutines: %v", jobs, err)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	m := large()
	for _, jobs := range []int{1, 2} {
		b.Run(fmt.Sprint(jobs), func(b *testing.B) {
			for b.Loop() {
				if err := Module(io.Discard, header, m, jobs); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
