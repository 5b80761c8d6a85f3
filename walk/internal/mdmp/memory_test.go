package mdmp_test

import (
	"fmt"
	"testing"

	"symkit/walk/internal/mdmp"
	"symkit/walk/internal/mdmp/synth"
)

// TestMemory: lists of both kinds and stacks together; overlaps and gaps.
func TestMemory(t *testing.T) {
	decoded(t, `stream ThreadList u32 1 7 0 0 0 u64 0 0x5000 loc s u32 0 0
stream MemoryList u32 4 0 u64 0x2000 loc b u64 0x1004 loc a u64 0x9000 u32 0 0x10000000 u64 0xfffffffffffffffc loc last
stream Memory64List u64 3 rva64 six u64 0x1000 8 0x1008 4 0x3000 4
block six bytes "01234567" bytes "89ab" bytes "cdef"
block a bytes "xxxx" block b bytes "bbbb" block s bytes "ssss" block last bytes "wxyz"`, func(t *testing.T, d *mdmp.Dump) {
		eq(t, len(d.Memory.Ranges), 7)
		eq(t, d.Memory.Ranges[5].Base, 0x9000)
		for _, c := range []struct {
			addr, n uint64
			want    string
		}{
			{0x1000, 12, "0123456789ab"}, // joined, and before the list that overlaps
			{0x1000, 13, ""}, {0xfff, 1, ""}, {0x100c, 1, ""}, {0x100b, 1, "b"}, {0x2000, 4, "bbbb"}, {0x2001, 4, ""},
			{0x3000, 4, "cdef"}, {0x5003, 1, "s"}, {0x5004, 1, ""}, {0x9000, 1, ""}, {^uint64(0), 1, "z"}, {^uint64(0), 2, ""},
			{0, 1, ""}, {0x2000, 1 << 63, ""},
		} {
			eq(t, string(d.Memory.Bytes(c.addr, c.n)), c.want)
		}
		eq(t, string(d.Memory.At(0x2002)), "bb")
	})
}

// TestMemoryOverlap: of ranges that overlap the one that begins first counts,
// the rest of the other is kept.
func TestMemoryOverlap(t *testing.T) {
	decoded(t, `stream MemoryList u32 5 u64 0x1002 loc b u64 0x1000 loc a u64 0x1001 loc c u64 0x1000 loc c u64 0xfffffffffffffff8 loc last
block a bytes "aaaa" block b bytes "bbbbbb" block c bytes "cc" block last bytes "01234567"`, func(t *testing.T, d *mdmp.Dump) {
		eq(t, string(d.Memory.At(0x1000)), "aaaa")
		eq(t, string(d.Memory.At(0x1004)), "bbbb")
		eq(t, string(d.Memory.At(^uint64(0)-1)), "67")
	})
}

// TestMemoryInfo: MINIDUMP_MEMORY_INFO and the PAGE_* constants.
func TestMemoryInfo(t *testing.T) {
	text := "stream MemoryInfoList u32 16 48 u64 1 0x1000 0x1000 u32 4 0 u64 0x2000 u32 0x%x 0x%x 0x20000 0"
	for _, c := range []struct {
		state, protection uint32
		want              string
	}{
		{mdmp.MemCommit, 0x01, "false false false"}, {mdmp.MemCommit, 0x02, "true false false"}, {mdmp.MemCommit, 0x04, "true true false"},
		{mdmp.MemCommit, 0x10, "false false true"}, {mdmp.MemCommit, 0x20, "true false true"}, {mdmp.MemCommit, 0x40, "true true true"},
		{mdmp.MemCommit, 0x80, "true true true"}, {mdmp.MemCommit, 0x104, "false false false"}, {mdmp.MemCommit, 0x204, "true true false"},
		{0x2000, 0x04, "false false false"}, {0x10000, 0x01, "false false false"},
	} {
		decoded(t, fmt.Sprintf(text, c.state, c.protection), func(t *testing.T, d *mdmp.Dump) {
			m := &d.MemoryInfo[0]
			eq(t, fmt.Sprint(m.Access()), c.want)
			eq(t, []any{m.Base, m.AllocationBase, m.AllocationProtection, m.Size, m.Type}, []any{0x1000, 0x1000, 4, 0x2000, 0x20000})
		})
	}
}

func TestMemoryAllocs(t *testing.T) {
	d, err := readAll(synth.Assemble(t, false, synth.Base+"stream MemoryList u32 1 u64 0x2000 loc b block b zero 64").Data)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { d.Memory.Bytes(0x2008, 8) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
