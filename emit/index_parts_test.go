package emit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
)

// longFunction returns a symbol file of a FUNC with many lines and calls. random has lines and calls anywhere in it, which
// overlap, and some that are bad; else they are one beside the other.
func longFunction(count int, random bool) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("FILE 0 a\nINLINE_ORIGIN 0 o\nINLINE_ORIGIN 1 p\n")
	fmt.Fprintf(&b, "FUNC 1000 %x 0 f\nINLINE 0 7 0 1 1000 %x\n", 16*count, 16*count)
	for i := range count {
		at, size := 0x1000+16*i, 16
		if random {
			at, size = 0x1000+r.IntN(16*count), r.IntN(100)
		}
		switch {
		case random && i%50 == 0:
			b.WriteString("INLINE 1 x\n")
		case i%3 == 0:
			fmt.Fprintf(&b, "INLINE %d %d 0 0 %x %x\n", 1+i%2, i, at, size)
		default:
			fmt.Fprintf(&b, "%x %x %d 0\n", at, size, i)
		}
	}
	return []byte(b.String() + "FUNC f0000000 10 0 g\n")
}

// TestParts: a lookup in a FUNC that was read before finds what one that reads all of it does.
func TestParts(t *testing.T) {
	data := longFunction(2000, true)
	kept := newIndex(data, 1, math.MaxInt64)
	for i := range uint64(300) {
		addr := 0x1000 + i*97%32000
		s, ok := kept.Symbol(addr)
		want, wantOK := newIndex(data, 1, math.MaxInt64).Symbol(addr)
		if ok != wantOK || !reflect.DeepEqual(s, want) {
			t.Fatalf("%#x: %+v, want %+v", addr, s, want)
		}
	}
	if len(kept.met.parts.of) != 1 {
		t.Errorf("%d functions in parts", len(kept.met.parts.of))
	}
}

// TestPartsEnd: code at both ends of the address space is part of its records.
func TestPartsEnd(t *testing.T) {
	p := newPart(0)
	p.add(math.MaxUint64, 1)
	if p.first != math.MaxUint64 || p.last != math.MaxUint64 {
		t.Errorf("the last byte: %+v", p)
	}
	p.add(math.MaxUint64, 2)
	if p.first != 0 || p.last != math.MaxUint64 {
		t.Errorf("two bytes at the last address: %+v", p)
	}
}

// TestPartsWork: a thousand lookups in a FUNC of sixty thousand records read little more than the FUNC.
func TestPartsWork(t *testing.T) {
	data := longFunction(60_000, false)
	var read atomic.Int64
	x := newIndex(data, 1, math.MaxInt64).Count(&read)
	for i := range uint64(1000) {
		_, ok := x.Symbol(0x1000 + 960*i)
		if !ok {
			t.Fatal("not found")
		}
	}
	if most := int64(8 * len(data)); read.Load() > most {
		t.Errorf("%d bytes read of a file of %d, more than %d", read.Load(), len(data), most)
	}
}
