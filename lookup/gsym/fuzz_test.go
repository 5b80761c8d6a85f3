package gsym

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"symkit/located"
)

// FuzzGSYM: whatever the bytes, errors lie inside the file, and the function that is found has the address, which is
// that of a function that Symbols yields.
func FuzzGSYM(f *testing.F) {
	f.Add(sample(f, false), uint64(0x1022))
	f.Add(sample(f, true), uint64(0x1022))
	f.Add(sampleWide(f, false), uint64(0x1022))
	f.Add(sampleWide(f, true), uint64(0x1022))
	w := NewWriter(nil, false)
	w.Func(&Func{Addr: ^uint64(0) - 9, Size: 9, Name: w.String("last"), Lines: []Line{{^uint64(0) - 8, w.File("f"), ^uint32(0)}}})
	f.Add(written(f, w), ^uint64(0)-5)
	f.Fuzz(func(t *testing.T, data []byte, addr uint64) {
		file, err := Open(data)
		if err != nil {
			checkPlace(t, err, len(data))
			return
		}
		starts := map[uint64]bool{}
		addrs := []uint64{addr}
		for s, err := range file.Symbols() {
			if err != nil {
				checkPlace(t, err, len(data))
				continue
			}
			starts[s.Addr] = true
			if len(addrs) < 200 {
				addrs = append(addrs, s.Addr, s.Addr+s.Size-1)
			}
		}
		for _, addr := range addrs {
			checkLookup(t, file, addr, starts)
		}
	})
}

// checkLookup checks what Lookup gives. starts has the addresses of the functions.
func checkLookup(t *testing.T, file *File, addr uint64, starts map[uint64]bool) {
	t.Helper()
	s, frames, err := file.Lookup(nil, addr)
	switch {
	case err != nil:
		checkPlace(t, err, len(file.data))
	case len(frames) == 0:
	case addr < s.Addr || s.Size > 0 && addr-s.Addr >= s.Size:
		t.Fatalf("%#x is not in %#x+%#x", addr, s.Addr, s.Size)
	case !starts[s.Addr]:
		t.Fatalf("no function begins at %#x", s.Addr)
	case string(frames[len(frames)-1].Name) != string(s.Name):
		t.Fatalf("the outermost frame of %s is %s", s.Name, frames[len(frames)-1].Name)
	}
}

func checkPlace(t *testing.T, err error, size int) {
	t.Helper()
	damage, ok := errors.AsType[*located.Error](err)
	if !ok || damage.Section != section || damage.Offset < 0 || damage.Offset > size {
		t.Fatalf("error without a place: %v", err)
	}
}

// FuzzRoundTrip: functions that a program of bytes describes are found as they were written, in a file of version 1 or of
// version 2, which is one that takes more than most bytes.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("functions, lines and calls of some bytes"), false, uint16(1<<15))
	f.Add([]byte{9, 200, 1, 7, 0, 255, 3, 90, 8, 4, 4, 1, 1, 30, 2, 0, 0, 16, 128}, true, uint16(300))
	f.Fuzz(func(t *testing.T, program []byte, big bool, most uint16) {
		if len(program) > 2000 {
			return
		}
		m := model{bytes: program, w: NewWriter(nil, big), want: map[uint64]string{}}
		m.w.most = uint64(most)
		for len(m.bytes) > 0 {
			m.function()
		}
		file, err := Open(written(t, m.w))
		if err != nil {
			t.Fatal(err)
		}
		for addr := range m.at + 2 {
			want, ok := m.want[addr]
			if !ok {
				want = "none"
			}
			if got := textAt(file, addr); got != want {
				t.Fatalf("%#x: %s, want %s", addr, got, want)
			}
		}
	})
}

// model writes functions that bytes describe, and what Lookup is to find at each address.
type model struct {
	bytes []byte
	w     *Writer
	at    uint64 // the end of the last function
	want  map[uint64]string
}

// next returns a number below n.
func (m *model) next(n int) int {
	if len(m.bytes) == 0 {
		return 0
	}
	b := m.bytes[0]
	m.bytes = m.bytes[1:]
	return int(b) % n
}

// function writes a function of up to 40 bytes.
func (m *model) function() {
	addr := m.at + uint64(m.next(20))
	size := uint64(m.next(40) + 1)
	name := fmt.Sprint("f", m.next(9))
	f := Func{Addr: addr, Size: size, Name: m.w.String(name)}
	for at := addr; len(m.bytes) > 0 && m.next(4) > 0; {
		at += uint64(m.next(6))
		if at-addr >= size {
			break
		}
		f.Lines = append(f.Lines, Line{at, m.w.File(fmt.Sprint("d/", m.next(3))), uint32(m.next(256) * m.next(256))})
	}
	m.calls(&f, []Range{{addr, addr + size}}, 0)
	m.w.Func(&f)
	m.at = addr + size

	for at := addr; at < m.at; at++ {
		place := ":0"
		switch {
		case len(f.Lines) > 0:
			place = m.w.path(f.Lines[0].File) + ":0" // before the first row
		case len(f.Calls) > 0:
			place = m.w.path(f.Calls[0].File) + ":0"
		}
		for _, row := range f.Lines {
			if row.Addr <= at {
				place = fmt.Sprintf("%s:%d", m.w.path(row.File), row.Line)
			}
		}

		// The chain of calls that have the address.
		depth, within := uint32(0), name
		var frames []string
		for _, c := range f.Calls {
			if c.Depth != depth || !has(c.Ranges, at) {
				continue
			}
			frames = append(frames, fmt.Sprintf(" %s %s:%d", within, m.w.path(c.File), c.Line))
			within, depth = m.w.strings.texts[c.Name], depth+1
		}
		var chain strings.Builder
		chain.WriteString(fmt.Sprintf(" %s %s", within, place))
		for i := len(frames) - 1; i >= 0; i-- {
			chain.WriteString(frames[i])
		}
		m.want[at] = fmt.Sprintf("%s+%#x/%#x:%s", name, at-addr, size, chain.String())
	}
}

// calls adds calls in the ranges of outer, side by side.
func (m *model) calls(f *Func, outer []Range, depth uint32) {
	for len(outer) > 0 && m.next(3) > 0 && depth < 5 {
		var ranges []Range
		var rest []Range
		for _, r := range outer {
			lo := r.Lo + uint64(m.next(4))
			hi := lo + uint64(m.next(8))
			if lo < hi && hi < r.Hi {
				ranges, rest = append(ranges, Range{lo, hi}), append(rest, Range{hi, r.Hi})
			}
		}
		if len(ranges) == 0 || !contain(outer, ranges) {
			return
		}
		f.Calls = append(f.Calls, Call{Depth: depth, Name: m.w.String(fmt.Sprint("c", m.next(5))), File: m.w.File(fmt.Sprint("d/", m.next(3))),
			Line: uint32(m.next(256)), Ranges: ranges})
		m.calls(f, ranges, depth+1)
		outer = rest
	}
}

func has(ranges []Range, addr uint64) bool {
	for _, r := range ranges {
		if addr >= r.Lo && addr < r.Hi {
			return true
		}
	}
	return false
}

// path returns the path of a file.
func (w *Writer) path(file uint32) string {
	return w.strings.texts[w.files[file][0]] + "/" + w.strings.texts[w.files[file][1]]
}
