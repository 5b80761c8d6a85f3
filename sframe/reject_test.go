package sframe

import (
	"errors"
	"strings"
	"testing"

	"symkit/located"
)

// decodeAll walks everything and returns the number of rows, before and after the
// first error, and that error.
func decodeAll(data []byte, opts Options) (rows int, err error) {
	s, err := Parse(data, opts)
	keep := func(e error) {
		if err == nil {
			err = e
		}
	}
	for f, e := range s.FDEs() {
		if e != nil {
			keep(e)
			continue
		}
		for _, e := range f.Rows() {
			if e != nil {
				keep(e)
			} else {
				rows++
			}
		}
	}
	return rows, err
}

const (
	v3 = "chunk v3 amd64 pcrel\n"
	v2 = "chunk v2 amd64 sorted\n"
	v1 = "chunk v1 amd64 sorted\n"
	// good is an FDE of one row that every damaged one must leave alone.
	good   = "fde 0x2000 4 addr1\nfre 0 sp 8\n"
	simple = "fde 0 16 addr1\nfre 0 sp 8\nfre 1 sp 16 -16\n" + good
)

// TestReject has a case for every branch that rejects: header (SFrame V3 §2.1,
// §2.2), FDE (§2.3), FRE (§2.4). With simple, a version 3 section has its FDEs
// at 28 and 44, the first attribute at 60, FREs at 65 and 68; version 2 FDEs at
// 28 and 48, FREs at 68; version 1 FDEs at 28 and 45, FREs at 62.
func TestReject(t *testing.T) {
	s390 := "chunk v2 s390x pcrel\n"
	flex := func(fre string) string {
		return v3 + "fde 0 16 addr1 flex\n" + fre + "\n" + good
	}
	for _, c := range []struct {
		name, text string
		opts       Options
		at         int
		err        error
		rows       int
	}{
		{"§2.1.1 magic", v3 + simple + "patch 1 1 0xdf", Options{}, 0, errMagic, 0},
		{"§2.1.1 magic of second chunk", v3 + good + "zeros 4\npatch 1 54 1", Options{}, 54, errMagic, 1},
		{"segment without magic", v3 + good + "patch 1 0 0", Options{Segment: true}, 0, errMagic, 0},
		{"§2.1 one byte", v3 + "cut 1", Options{}, 0, located.ErrTruncated, 0},
		{"§2.2 short header", v3 + simple + "cut 27", Options{}, 24, located.ErrTruncated, 0},
		{"§2.1.2 version 0", v3 + simple + "patch 1 2 0", Options{}, 2, errVersion, 0},
		{"§2.1.2 version 4", v3 + simple + "patch 1 2 4", Options{}, 2, errVersion, 0},
		{"§2.1.3 flag 8", v3 + simple + "patch 1 3 8", Options{}, 3, errFlags, 0},
		{"§2.1.3 frame pointer in version 3", "chunk v3 amd64 fp\n" + simple, Options{}, 3, errFlags, 0},
		{"§2.2.1 ABI 0", v3 + simple + "patch 1 4 0", Options{}, 4, errABI, 0},
		{"§2.2.1 ABI 5", v3 + simple + "patch 1 4 5", Options{}, 4, errABI, 0},
		{"§2.2.1 s390x in version 1", "chunk v1 s390x\n", Options{}, 4, errABI, 0},
		{"§2.2.1 byte order", v3 + simple + "patch 1 4 1", Options{}, 4, errByteOrder, 0},
		{"§2.2.1 ABI of the file", v3 + simple, Options{ABI: AArch64LE}, 4, errMismatch, 0},
		{"ld -r up to 2.44", v2 + simple, Options{Relocatable: true}, 3, errUntrusted, 0},
		{"§2.2 auxiliary header", v3 + "patch 1 7 1", Options{}, 7, located.ErrTruncated, 0},
		{"§2.2 FRE offset", v3 + simple + "patch 4 24 0x7fffffff", Options{}, 24, located.ErrTruncated, 0},
		{"§2.2 FDEs behind FREs", v3 + simple + "patch 4 20 33", Options{}, 20, errLayout, 0},
		{"§2.2 FDE offset", v3 + simple + "patch 4 20 1", Options{}, 8, errLayout, 0},
		{"§2.2 number of FDEs", v3 + simple + "patch 4 8 3", Options{}, 8, errLayout, 3},
		{"§2.2 number of FDEs, version 1", v1 + simple + "patch 4 8 0x7fffffff", Options{}, 8, errLayout, 3},
		{"§2.2 FRE length", v3 + simple + "patch 4 16 0x1000", Options{}, 16, located.ErrTruncated, 3},
		{"§2.2 FRE count", v3 + simple + "patch 4 12 9", Options{}, 12, errCount, 3},
		{"§2.3 FRE start offset", v3 + simple + "patch 4 40 0x100", Options{}, 40, errFREOffset, 1},
		{"§2.3 FRE start offset, version 1", v1 + simple + "patch 4 36 0x100", Options{}, 36, errFREOffset, 1},
		{"§2.3 FRE start offset, version 2", v2 + simple + "patch 4 36 0x100", Options{}, 36, errFREOffset, 1},
		{"§2.3 attribute", v3 + simple + "patch 4 40 16", Options{}, 76, located.ErrTruncated, 1},
		{"§2.3 number of FREs", v3 + simple + "patch 2 60 9", Options{}, 60, located.ErrTruncated, 1},
		{"§2.3 number of FREs, version 1", v1 + simple + "patch 4 40 0x7fffffff", Options{}, 40, located.ErrTruncated, 1},
		{"§2.3 number of FREs, version 2", v2 + simple + "patch 4 40 0x7fffffff", Options{}, 40, located.ErrTruncated, 1},
		{"§2.3.3 FRE type", v3 + simple + "patch 1 62 3", Options{}, 62, errFREType, 1},
		{"§2.3.3 FRE type, version 1", v1 + simple + "patch 1 44 15", Options{}, 44, errFREType, 1},
		{"§2.3.3 FRE type, version 2", v2 + simple + "patch 1 44 15", Options{}, 44, errFREType, 1},
		{"§2.3.3 FDE type", v3 + simple + "patch 1 63 2", Options{}, 63, errFDEType, 1},
		{"§2.3.2 block size", v3 + simple + "patch 1 62 16", Options{}, 64, errRepSize, 1},
		{"§2.3.2 block size, version 2", v2 + simple + "patch 1 44 16", Options{}, 45, errRepSize, 1},
		{"§2.3 address space", v3 + "fde -36 16 addr1\nfre 0 sp 8\n" + good, Options{Addr: 0}, 28, errRange, 1},
		{"limitof.MaskRows", v3 + "fde 0 0x100001 addr1 mask 1\nfre 0 sp 8\n" + good, Options{}, 28, errBlocks, 1},
		{"limitof.MaskRows, the second", v3 + "fde 0 64 addr1 mask 32\nfre 0 sp 8\nfde 0 0x7fffffff addr1 mask 1\nfre 0 sp 8\n" + good, Options{}, 44, errBlocks, 3},
		{"§2.4 start", v3 + "fde 0 16 addr1\nfre 0 sp 8\nfre 17 sp 16\n" + good, Options{}, 68, errStart, 1},
		{"§2.4 start in block", v3 + "fde 0 16 addr1 mask 8\nfre 9 sp 8\n" + good, Options{}, 65, errStart, 1},
		{"§2.4 order", v3 + "fde 0 16 addr1\nfre 0 sp 8\nfre 4 sp 16\nfre 3 sp 8\n" + good, Options{}, 71, errOrder, 2},
		{"§2.4 head beyond the sub-section", v3 + good + "fde 0 16 addr1\nfre 0 sp 8\nfre 4 sp b2 8\npatch 1 74 0x43", Options{}, 79, located.ErrTruncated, 1},
		{"§2.4.1 words beyond the sub-section", v3 + good + "fde 0 16 addr1\nfre 0 sp 8\npatch 1 74 0x43", Options{}, 75, located.ErrTruncated, 1},
		{"§2.4.1 word size", v3 + simple + "patch 1 69 0x63", Options{}, 69, errWordSize, 2},
		{"§2.4.1 no words in version 1", v1 + "fde 0 16 addr1\nfre 0 sp\n" + good, Options{}, 63, errWords, 1},
		{"§2.4.1 three words on AMD64", v3 + "fde 0 16 addr1\nfre 0 sp 8 -8 -16\n" + good, Options{}, 66, errWords, 1},
		{"§2.4.1 four words on AArch64", "chunk v3 aarch64 pcrel\nfde 0 16 addr1\nfre 0 sp 8 -8 -16 0\n" + good, Options{}, 66, errWords, 1},
		{"§2.4.1 register below zero", s390 + "fde 0 16 addr1\nfre 0 sp 0 -48 -7\n" + good, Options{}, 72, errRegister, 1},
		{"§2.4.1 register below zero, two bytes", s390 + "fde 0 16 addr1\nfre 0 sp b2 0 -7\n" + good, Options{}, 72, errRegister, 1},
		{"§3.2 one word", flex("fre 0 reg 0x39"), Options{}, 66, errWords, 1},
		{"§3.2 seven words", flex("fre 0 reg 0x39 8 0 0 0 0 0"), Options{}, 66, errWords, 1},
		{"§3.2 RA control alone", flex("fre 0 reg 0x39 8 0x11"), Options{}, 69, errWords, 1},
		{"§3.2 FP control alone", flex("fre 0 reg 0x39 8 0 0x33"), Options{}, 70, errWords, 1},
		{"§3.2 FP control alone behind RA", flex("fre 0 reg b2 0x39 8 2 -16 0x33"), Options{}, 75, errWords, 1},
		{"§3.2 six words with padding", flex("fre 0 reg 0x39 8 0 0x33 0 1"), Options{}, 72, errWords, 1},
		{"§3.2 CFA on itself", flex("fre 0 reg 2 8"), Options{}, 67, errCFA, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, err := decodeAll(assemble(t, c.text), c.opts)
			var e *located.Error
			if !errors.As(err, &e) || !errors.Is(err, c.err) || e.Offset != c.at || e.Section != ".sframe" {
				t.Errorf("error %v, want .sframe+%#x: %v", err, c.at, c.err)
			}
			if rows != c.rows {
				t.Errorf("%d rows, want %d", rows, c.rows)
			}
		})
	}
}

// TestDamagedHeaders: the chunks around a damaged header are read, with all that is not damaged.
func TestDamagedHeaders(t *testing.T) {
	const chunk = v3 + good // 28 bytes, an FDE of 16, FREs of 8
	for _, c := range []struct {
		patch  string
		rows   int
		damage []int // offsets
	}{
		{"", 3, nil},
		{"patch 1 0 0", 2, []int{0}},
		{"patch 1 56 1", 2, []int{56}},
		{"patch 1 112 1", 2, []int{112}},
		{"patch 1 58 9", 2, []int{58}},
		{"patch 1 3 0x80\npatch 1 60 9", 1, []int{3}},
		{"patch 4 8 2", 3, []int{8}},
		{"patch 4 16 0x7fffffff", 3, []int{16}},
		{"patch 4 128 0x7fffffff", 3, []int{128}},
		{"patch 4 80 0x7fffffff", 2, []int{80}},
		{"patch 4 16 7", 2, []int{51}}, // the last FRE is cut
	} {
		text := strings.Repeat(chunk+"zeros 4\n", 3)
		data := assemble(t, text+c.patch)
		s, err := Parse(data, Options{})
		if (err != nil) != (c.damage != nil) || len(s.Damage) != len(c.damage) {
			t.Errorf("%q: %v", c.patch, s.Damage)
			continue
		}
		for i, err := range s.Damage {
			e, ok := errors.AsType[*located.Error](err)
			if !ok || e.Offset != c.damage[i] {
				t.Errorf("%q: %v, want .sframe+%#x", c.patch, err, c.damage[i])
			}
		}
		rows, _ := decodeAll(data, Options{})
		if rows != c.rows {
			t.Errorf("%q: %d rows, want %d", c.patch, rows, c.rows)
		}
	}
}

// TestSegmentTail: what GNU ld leaves in a PT_GNU_SFRAME segment behind the
// section is no damage; of the next chunk it is.
func TestSegmentTail(t *testing.T) {
	const chunk = v3 + good
	for _, c := range []struct {
		text  string
		clean bool
		rows  int
	}{
		{chunk + "zeros 4\npatch 1 54 1", true, 1},
		{chunk + "zeros 1\npatch 1 53 1", true, 1},
		{chunk + "zeros 4\n" + chunk, true, 2},
		{chunk + "zeros 4\n" + chunk + "patch 1 58 0", false, 1},
	} {
		rows, err := decodeAll(assemble(t, c.text), Options{Segment: true})
		if (err == nil) != c.clean || rows != c.rows {
			t.Errorf("%q: %v, %d rows", c.text, err, rows)
		}
	}
}

// TestSharing: FDEs that all count the same FREs are refused from the one on
// that exceeds maxSharing, for decoding would take quadratic time.
func TestSharing(t *testing.T) {
	const n, within = 40, 24
	data := assemble(t, v2+strings.Repeat("fde 0 16 addr1\n", n)+"fde 0 16 addr1\nfre 0 sp 8\nfre 1 sp 8\n")
	for i := range n {
		data[28+20*i+12] = 2 // FREs, of 2 bytes or more; 6 are there
	}
	s := parse(t, data, Options{})
	for i := range n {
		f, err := s.Chunks[0].FDE(i)
		if i < within && err != nil || i >= within && !errors.Is(err, errSharing) {
			t.Errorf("FDE %d: %v", i, err)
		}
		var e *located.Error
		if errors.As(err, &e) && e.Offset != f.Offset {
			t.Errorf("FDE %d: error at %#x", i, e.Offset)
		}
	}
}
