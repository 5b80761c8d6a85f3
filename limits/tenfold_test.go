package limits

import (
	"testing"

	"symkit/internal/limitof"
)

// TestTenfold: each limit allows ten times the largest number of what it bounds that was found in
// any file of the corpus, and twice as much if it bounds memory (2,037 ELF files of Debian 12), of testdata, and in the crash dumps of
// Breakpad and rust-minidump. Where a limit depends on a size, the file with the largest share of
// its limit counts. cmd/dump_syms (TestTenfold), emit, walk and internal/demangle have programs, symbol
// files and names at ten times those limits that bound more than a size.
func TestTenfold(t *testing.T) {
	const ceph = "ceph-osd-dbg/…/fb/66b3cec5f264a2f863d96fa875eb4ae39bb0bf.debug"
	const python = "python3.11-dbg/…/c5/61f3aa7232f2bd6ac6d56bd475f1c154a00486.debug, compressed anew by objcopy, zstd"
	const cephSize = 229_855_944 // bytes of the file
	rows := map[string]struct {
		largest uint64
		size    uint64 // of the input, in bytes, for a limit that depends on it
		file    string
	}{
		"inflate-ratio":           {10, 0, ceph + ", .debug_str (9.1; of sections beyond 16 MiB)"},
		"inflated":                {629_676_040, 220_672_040, ceph + ", compressed anew by objcopy, zstd"},
		"unit-records":            {127_664_882, 156_143_128, "libjvm.so's debug file, openjdk-17-dbg/…/45/183927463c526d5b9c9d456494ad816a7e3fee.debug"},
		"line-records":            {17_156_560, 10_685_584, python},
		"symbol-records":          {1_335_264, 10_685_584, python},
		"frame-records":           {4_370_500, 24_146_880, "openjdk-17-jre-headless/…/libjvm.so"},
		"section-names":           {707_448, 0, "testdata/elf/sections-x86_64-gcc12-O2-dw5.o"},
		"notes":                   {532, 0, "openjdk-17-jre-headless/…/libjvm.so"},
		"abbreviation-attributes": {16, 0, "ceph-osd-dbg/…/f4/d5c4b80689405e442f6540cbb978b43dba7c45.debug"},
		"die-depth":               {65, 0, "ceph-osd-dbg/…/f4/d5c4b80689405e442f6540cbb978b43dba7c45.debug"},
		"range-entries":           {65, 1000, "the kernel, of 1000 bytes of a unit"},
		"line-sharing":            {1, 0, "all: no two programs overlap"},
		"sframe-mask-rows":        {8, 0, "dump/testdata/sframe/v1-amd64-basic-noeh.so; the corpus has no SFrame"},
		"sframe-sharing":          {1, 0, "dump/testdata/sframe: no two FDEs share rows"},
		"files":                   {42_171, 4_166_896, "libc6-dbg/…/93/ac61ec5a8eb1396f9fbd350e3169a558528a40.debug"},
		"names":                   {70_096_002, cephSize, ceph},
		"output":                  {151_667_592, cephSize, ceph},
		"package":                 {65_802_240, 8_616_304, "libstdc++6-12-dbg_12.2.0-14+deb12u1_amd64.deb, of 286 packages of Debian 12"},
		"package-window":          {8 << 20, 0, "each of the 286 packages: xz -6"},
		"members":                 {286, 3_148_496 / 64, "grub-pc-dbg_2.06-13+deb12u2_amd64.deb, of 323 packages of Debian 12"},
		"lookup-unit":             {10_915_302, 3_735_032, "valgrind-dbg/…/e6/e8ddfacfe45889c88a9aa5c9daf2b18ad67953.debug"},
		"symcheck-input":          {151_667_592, 0, "the symbol file of " + ceph},
		"symcheck-lines":          {1_561_636, 0, ceph},
		"symcheck-records":        {1_960_894, 0, ceph},
		"symcheck-units":          {2172, 0, "vmlinux-6.1.0-56-cloud-amd64"},
		"symcheck-strings":        {162_405_303, 108_999_302, "ceph-osd-dbg/…/85/2eef90d09fdaccf58049d2af96b4d09cf27e5f.debug"},
		"symcheck-depth":          {47, 0, "calls in each other"},
		"symcheck-rows":           {68, 0, "dump/testdata/sframe/v1-aarch64-basic-noeh.so"},
		"core-notes":              {1_008_104, 0, "x86_64-threads of scripts/cores.sh, 301 threads"},
		"threads":                 {301, 0, "a core of scripts/cores.sh"},
		"frames-per-thread":       {14_855, 0, "the same, all threads together"},
		"frames":                  {14_855, 0, "the same"},
		"rule-terms":              {2_139_500, 0, "a core of python3.11d: 102 threads, one with 800 nested calls of map"},
		"symbol-text":             {930_401, 0, "the same"},
		"inlined-calls":           {2, 0, "the same"},
		"report":                  {127_902, 332_000, "minidump_crashpad_annotation.dmp"},
		"unpacked-symbols":        {151_667_592, 6_836_224, "the symbol file of " + ceph + ", packed by zstd -19"},
		"fetched-symbols":         {151_667_592, 0, "the same"},
		"fetched-files":           {589_914_456, 0, "vmlinux-6.1.0-56-cloud-amd64"},
		"fetched-total":           {2_959_130_706, 0, "all files of the corpus"},
	}
	values := Limits{builtIn()}
	memory := map[string]bool{limitof.Inflated: true, limitof.UnitRecords: true, limitof.LookupUnit: true, limitof.LineRecords: true, limitof.SymbolRecords: true, limitof.FrameRecords: true, limitof.UnpackedSymbols: true}
	for _, l := range names() {
		row, ok := rows[l]
		if !ok || row.largest == 0 || row.file == "" {
			t.Errorf("%s: there is no row with the largest number of the corpus", l)
		}
		times := uint64(10)
		if memory[l] {
			times = 2
		}
		if got := values.Max(l, row.size); got < times*row.largest {
			t.Errorf("%s: an input of %d bytes may have %d, but %s has %d", l, row.size, got, row.file, row.largest)
		}
	}
	if len(rows) != len(about) {
		t.Errorf("%d rows, %d limits", len(rows), len(about))
	}
}
