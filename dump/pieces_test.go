package dump

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"

	"symkit/dump/dwarfx"
	"symkit/elfx"
)

// smallPieces makes pieces as small as they can be, and few, until t ends.
func smallPieces(t *testing.T, size, most int) {
	oldSize, oldMost := pieceSize, mostPieces
	pieceSize, mostPieces = size, most
	t.Cleanup(func() { pieceSize, mostPieces = oldSize, oldMost })
}

// unitOf is size bytes with the initial length of a unit (DWARF 5 §7.4).
func unitOf(size int) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(size-4)), make([]byte, size-4)...)
}

// TestPieceGrow: what is whole in a piece, and how long the next unit is, as it grows.
func TestPieceGrow(t *testing.T) {
	data := bytes.Join([][]byte{unitOf(100), unitOf(50), unitOf(2000)}, nil)
	p := &piece{data: data}
	const longer = 12 // an initial length may be so long
	for _, step := range []struct {
		done, whole int
		next        uint64
	}{
		{0, 0, 0}, {11, 0, 0}, {12, 0, 96 + longer}, {99, 0, 96 + longer}, {100, 100, 0}, {111, 100, 0},
		{149, 100, 46 + longer}, {161, 150, 0}, {162, 150, 1996 + longer}, {2149, 150, 1996 + longer}, {2150, 2150, 0},
	} {
		if p.grow(step.done, false); p.done != step.done || p.whole != step.whole || p.next != step.next {
			t.Errorf("grown to %d: %d are whole and %d next, want %d and %d", p.done, p.whole, p.next, step.whole, step.next)
		}
	}
}

// TestPieceFull: a piece is full when there is no room to inflate into, unless it is
// the last.
func TestPieceFull(t *testing.T) {
	const room = elfx.SlideRoom
	for _, test := range []struct {
		name                string
		at, data, done, all int
		want                bool
	}{
		{"room", 0, 2 * room, room, 4 * room, false},
		{"a byte less", 0, 2 * room, room + 1, 4 * room, true},
		{"none", 0, 2 * room, 2 * room, 4 * room, true},
		{"the last", 2 * room, 2 * room, room + 1, 4 * room, false},
		{"the last, and larger than it need be", 2 * room, 3 * room, 3 * room, 4 * room, false},
		{"a byte is left", 2*room - 1, 2 * room, room + 1, 4 * room, true},
		{"small", 0, 10, 10, 10, false},
	} {
		p := &piece{at: test.at, data: make([]byte, test.data), done: test.done}
		if got := p.full(test.all); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

// TestPieceFollow: the next piece begins with the unit that is not whole, has what the
// stream refers back to, and room for the unit whatever its length says.
func TestPieceFollow(t *testing.T) {
	const window, room = elfx.SlideWindow, elfx.SlideRoom
	for _, test := range []struct {
		name       string
		p          piece
		kept, size int
	}{
		{"all is whole", piece{done: pieceSize, whole: pieceSize}, window, pieceSize},
		{"less than a window", piece{done: 1000, whole: 1000}, 1000, pieceSize},
		{"less than a window, some of it whole", piece{done: 1000, whole: 600, next: 500}, 1000, pieceSize},
		{"a unit of less than a window", piece{done: pieceSize, whole: pieceSize - 100, next: 200}, window, pieceSize},
		{"a unit of which there is more", piece{done: pieceSize, whole: pieceSize - 100_000, next: 200_000}, 100_000, pieceSize},
		{"a unit that just fits", piece{done: pieceSize, whole: pieceSize / 2, next: uint64(pieceSize - room)}, pieceSize / 2, pieceSize},
		{"a unit that does not", piece{done: pieceSize, whole: pieceSize / 2, next: uint64(pieceSize - room + 1)}, pieceSize / 2, 2 * pieceSize},
		{"a unit of three pieces", piece{done: pieceSize, next: uint64(3*pieceSize - room)}, pieceSize, 3 * pieceSize},
		{"of unknown length", piece{done: pieceSize, whole: pieceSize - 11}, window, pieceSize},
	} {
		if kept, size := test.p.follow(); kept != test.kept || size != test.size {
			t.Errorf("%s: %d of %d bytes, want %d of %d", test.name, kept, size, test.kept, test.size)
		}
	}
	for _, length := range []uint64{1 << 31, 1<<32 - 20, 1 << 40, 1 << 62, 1 << 63, 1<<64 - 13, 1<<64 - 12, 1<<64 - 1} {
		data := binary.LittleEndian.AppendUint64([]byte{0xff, 0xff, 0xff, 0xff}, length)
		p := piece{data: append(data, make([]byte, pieceSize-len(data))...)}
		p.grow(pieceSize, false)
		if kept, size := p.follow(); kept != pieceSize || size < kept+room || uint64(size) < min(length, 1<<30) {
			t.Errorf("a unit of %#x bytes: %d of %d bytes", length, kept, size)
		}
	}
}

// TestPiecesFollow: whatever units there are, each is whole in one piece, and every
// piece has what elfx.Slide is to have.
func TestPiecesFollow(t *testing.T) {
	const window, room = elfx.SlideWindow, elfx.SlideRoom
	smallPieces(t, 400<<10, 1<<20)
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var section []byte
		var ends []int
		for len(section) < 4<<20 {
			n := 12 + rnd.IntN(1<<(4+rnd.IntN(17)))
			section = append(section, unitOf(n)...)
			ends = append(ends, len(section))
		}
		x := &pieces{}
		size := len(section)
		p := &piece{data: make([]byte, min(pieceSize, size)), left: 1}
		seen := 0 // units that are whole
		for {
			for ; seen < len(ends) && ends[seen] <= p.at+p.whole; seen++ {
			}
			if p.at+p.done == size {
				break
			}
			if p.full(size) {
				kept, n := p.follow()
				at := p.at + p.done - kept
				q := &piece{at: at, left: 1}
				if n = min(n, size-at); kept < min(window, p.done) || n-kept < min(room, size-at-kept) || kept > p.done {
					t.Fatalf("seed %d: %d bytes kept of %d, in a piece of %d", seed, kept, p.done, n)
				}
				if q.data = x.take(n); q.data == nil {
					q.data = make([]byte, n)
				}
				q.done = copy(q.data, p.data[p.done-kept:p.done])
				q.whole = kept - (p.done - p.whole)
				if before := at + q.whole; before != 0 && (seen == 0 || ends[seen-1] != before) {
					t.Fatalf("seed %d: units up to %#x, but %d are whole", seed, before, seen)
				}
				x.done(p)
				p = q
			}
			done := min(p.done+256<<10+rnd.IntN(64<<10), len(p.data), size-p.at)
			copy(p.data[p.done:done], section[p.at+p.done:])
			p.grow(done, false)
			if p.whole > p.done || p.at+p.whole > size {
				t.Fatalf("seed %d: %d of %d are whole", seed, p.whole, p.done)
			}
		}
		if seen != len(ends) || !bytes.Equal(p.data[:p.done], section[p.at:]) {
			t.Errorf("seed %d: %d of %d units", seed, seen, len(ends))
		}
		if len(x.spare) == 0 {
			t.Errorf("seed %d: no buffer is spare", seed)
		}
	}
}

// TestPiecesTake: of the buffers that are free, the smallest that is large enough
// serves again, and only what is made is counted.
func TestPiecesTake(t *testing.T) {
	small, middle, large := make([]byte, 100), make([]byte, 200), make([]byte, 400)
	x := &pieces{spare: [][]byte{large, small, middle}, size: 700}
	for _, step := range []struct {
		size int
		want []byte
		all  int
	}{{401, nil, 1101}, {150, middle, 1101}, {150, large, 1101}, {150, nil, 1251}, {1, small, 1251}, {1, nil, 1252}} {
		got := x.take(step.size)
		if len(got) != len(step.want) || len(got) > 0 && &got[0] != &step.want[0] || x.size != step.all {
			t.Errorf("%d bytes: a buffer of %d, %d in all; want %d, %d", step.size, len(got), x.size, len(step.want), step.all)
		}
	}
	if len(x.spare) != 0 {
		t.Errorf("%d are left", len(x.spare))
	}
}

// TestPiecesEnough: who inflates waits for units when there are many pieces, but not
// for ever: not where nothing is given up, for the first piece, or where one is free.
func TestPiecesEnough(t *testing.T) {
	for _, test := range []struct {
		name string
		x    pieces
		want bool
	}{
		{"none yet", pieces{}, false},
		{"some", pieces{size: mostPieces - pieceSize}, false},
		{"one too many", pieces{size: mostPieces - pieceSize + 1}, true},
		{"one is free", pieces{size: mostPieces, spare: [][]byte{make([]byte, pieceSize)}}, false},
		{"a smaller one is free", pieces{size: mostPieces, spare: [][]byte{make([]byte, pieceSize-1)}}, true},
		{"units may refer to each other", pieces{size: mostPieces, keep: true}, false},
	} {
		if got := test.x.enough(pieceSize); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
	if x := (&pieces{}); x.enough(2 * mostPieces) {
		t.Error("a first piece of more than all")
	}
}

// TestPiecesDone: a piece is given up when it is read and the last of its units is
// done, and then once; and never where units may refer to each other.
func TestPiecesDone(t *testing.T) {
	d, errs := dwarfx.Open(dwarfx.Sections{
		Abbrev: []byte{1, 0x11, 0, 0, 0, 0},
		Info:   bytes.Repeat([]byte{8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1}, 6),
	}, dwarfx.CodeMap{})
	if errs != nil || len(d.Units) != 6 {
		t.Fatal(len(d.Units), errs)
	}
	info := bytes.Repeat([]byte{8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1}, 6)
	pieceOf := func(at int, units ...*dwarfx.Unit) *piece {
		p := &piece{at: at, data: make([]byte, 24), left: 1 + len(units)}
		for _, u := range units {
			p.units = append(p.units, &unit{Unit: u})
		}
		return p
	}
	for _, kind := range []string{"pieces", "keep", "discard"} {
		d.Restore(info)
		a, b := pieceOf(0, d.Units[:2]...), pieceOf(24, d.Units[2:4]...)
		x := &pieces{list: []*piece{a, b}, keep: kind == "keep"}
		var discarded [][2]uint64
		if kind == "discard" {
			x.discard = func(from, to uint64) { discarded = append(discarded, [2]uint64{from, to}) }
		}
		for i := range 3 {
			if len(x.list) != 2 || x.spare != nil || discarded != nil || b.units[0].Dropped() {
				t.Fatalf("%s: given up with %d done", kind, i)
			}
			x.done(b)
		}
		for i, u := range d.Units {
			if want := kind != "keep" && (i == 2 || i == 3); u.Dropped() != want {
				t.Errorf("%s: unit %d is dropped: %v", kind, i, u.Dropped())
			}
		}
		switch kind {
		case "pieces":
			if len(x.spare) != 1 || &x.spare[0][0] != &b.data[0] || len(x.list) != 1 || x.list[0] != a {
				t.Errorf("spare %d, in use %d", len(x.spare), len(x.list))
			}
		case "discard":
			if len(discarded) != 1 || discarded[0] != [2]uint64{24, 48} || x.spare != nil {
				t.Errorf("discarded %v, spare %d", discarded, len(x.spare))
			}
		case "keep":
			if len(x.list) != 2 || x.spare != nil {
				t.Errorf("kept %d, spare %d", len(x.list), len(x.spare))
			}
		}
	}
}

// TestPiecesRelease: buffers are given back once, whether something is in them or not.
func TestPiecesRelease(t *testing.T) {
	f := fixture(t, "asm-x86_64-gas-dw5.elf")
	x := &pieces{f: f}
	for range 3 {
		x.list = append(x.list, &piece{data: f.NewBuffer(1 << 20), left: 1})
	}
	x.done(x.list[1])
	if len(x.list) != 2 || len(x.spare) != 1 {
		t.Fatalf("%d in use, %d spare", len(x.list), len(x.spare))
	}
	inUse := x.list[0].data
	if x.trim(); x.spare != nil || len(x.list) != 2 {
		t.Errorf("trimmed: %d in use, %d spare", len(x.list), len(x.spare))
	}
	inUse[len(inUse)-1] = 1 // it is still there
	if x.release(); x.spare != nil || x.list != nil {
		t.Errorf("released: %d in use, %d spare", len(x.list), len(x.spare))
	}
	x.release()
}

// TestTextRoom: texts lie in the spare buffers, side by side, as long as there are any.
func TestTextRoom(t *testing.T) {
	x := pieces{spare: [][]byte{make([]byte, 8), make([]byte, 6)}}
	room := textRoom{more: x.rooms()}
	if x.spare != nil {
		t.Error("the buffers are spare still")
	}
	scratch := []byte("abcde")
	var kept []string
	for _, want := range []bool{true, true, false} {
		text, ok := room.keep(scratch)
		if ok != want {
			t.Errorf("text %d: kept: %v, want %v", len(kept), ok, want)
		}
		kept = append(kept, text)
		scratch[0]++
	}
	if got := strings.Join(kept, " "); got != "abcde bbcde " {
		t.Errorf("kept %q", got)
	}
	if text, ok := room.keep([]byte("f")); ok {
		t.Errorf("%q is kept in a buffer that was given up", text)
	}
}
