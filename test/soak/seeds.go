package main

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"

	"symkit/test/mutant"
)

// seed is a file that mutants are made of.
type seed struct {
	name   string
	data   []byte
	layout mutant.Layout
	as     string // see job
	beside string
	steps  []step
}

// mutant returns the mutant of the seed with a number, which has the same bytes in every
// run.
func (s *seed) mutant(number int) (data []byte, kind string) {
	// The name is part of the random source, so that each seed gets different damage.
	h := fnv.New64a()
	h.Write([]byte(s.name)) // cannot fail
	return s.layout.Mutate(s.data, rand.New(rand.NewPCG(uint64(number), h.Sum64())))
}

// step is one program to run on a file. Among the arguments, IN is the file, PROGRAM the
// program that lies beside it, OUT the symbol file that dump_syms writes, and CORE the core
// file that the symbol files belong to. A step that needs OUT, or needs that there is no
// OUT, is skipped otherwise.
type step struct {
	program string
	args    []string
	needs   string // "", "OUT" or "no OUT"
	codes   []int  // exit codes that are fine
}

var (
	elfSteps = []step{
		{"dump_syms", []string{"--inlines", "-o", "OUT", "IN"}, "", []int{0, 1}},
		{"symcheck", []string{"lint", "OUT"}, "OUT", []int{0}},
		{"symcheck", []string{"OUT", "IN"}, "OUT", []int{0, 1, 2}},
		{"symcheck", []string{"test/soak/testdata/crash.sym", "IN"}, "no OUT", []int{0, 1, 2}},
		addresses("IN"),
	}
	// tableSteps are those of files with .sframe, and of bombs: .sframe is also verified alone.
	tableSteps = append(slices.Clone(elfSteps),
		step{"symcheck", []string{"--only=sframe", "IN"}, "", []int{0, 1, 2}},
		step{"symcheck", []string{"--only=sframe", "--format=html", "IN"}, "", []int{0, 1, 2}})
	companionSteps = []step{
		{"dump_syms", []string{"--inlines", "-o", "OUT", "PROGRAM"}, "", []int{0, 1}},
		{"symcheck", []string{"lint", "OUT"}, "OUT", []int{0}},
		{"symcheck", []string{"OUT", "PROGRAM"}, "OUT", []int{0, 1, 2}},
		addresses("PROGRAM"),
	}
	debugSteps = []step{
		{"dump_syms", []string{"-o", "OUT", "IN", "PROGRAM"}, "", []int{0, 1}},
		{"symcheck", []string{"lint", "OUT"}, "OUT", []int{0}},
		{"dump_syms", []string{"-o", "/dev/null", "PROGRAM"}, "", []int{0, 1}},
	}
	exeSteps  = []step{{"stackwalk", []string{"--exe", "IN", "CORE"}, "", []int{0, 1, 2}}}
	dumpSteps = []step{
		{"stackwalk", []string{"--exe", "testdata/elf/crash-x86_64-gcc12-O2-dw5.elf", "IN"}, "", []int{0, 1, 2}},
		{"stackwalk", []string{"--format=json", "--symbols", "cmd/stackwalk/testdata/breakpad/symbols", "IN"}, "", []int{0, 1, 2}},
	}
	// dumpBombSteps are all formats; bombs are few.
	dumpBombSteps = append(slices.Clone(dumpSteps),
		step{"stackwalk", slices.Concat([]string{"--no-elf"}, manySymbols(), []string{"IN"}), "", []int{0, 1, 2}},
		step{"stackwalk", []string{"--no-elf", "--format=html", "IN"}, "", []int{0, 1, 2}},
		step{"stackwalk", []string{"--no-elf", "--format=machine", "--stack-contents", "IN"}, "", []int{0, 1, 2}})
	walkSteps = []step{
		{"stackwalk", []string{"--no-elf", "--symbols", "OUT", "IN"}, "OUT", []int{0, 1, 2}},
		{"stackwalk", []string{"--no-elf", "--symbols", "OUT", "--format=json", "IN"}, "OUT", []int{0, 1, 2}},
		{"stackwalk", []string{"--no-elf", "--symbols", "OUT", "--format=html", "IN"}, "OUT", []int{0, 1, 2}},
		{"stackwalk", []string{"--no-elf", "--symbols", "OUT", "--format=machine", "--stack-contents", "IN"}, "OUT", []int{0, 1, 2}},
		{"stackwalk", []string{"--no-elf", "--symbols", "OUT", "--stack-contents", "IN"}, "OUT", []int{0, 1, 2}},
	}
	symSteps = []step{
		{"symcheck", []string{"lint", "IN"}, "", []int{0, 1, 2}},
		{"symcheck", []string{"IN", "testdata/elf/crash-x86_64-gcc12-O2-dw5.elf"}, "", []int{0, 1, 2}},
		{"symcheck", []string{"diff", "IN", "IN"}, "", []int{0, 1, 2}},
		{"stackwalk", []string{"--no-elf", "--symbols", "IN", "CORE"}, "", []int{0, 1, 2}},
		addresses("IN"),
	}
	packedSteps = []step{{"stackwalk", []string{"--no-elf", "--symbols", "IN", "CORE"}, "", []int{0, 1, 2}}}
)

// addresses returns the step that asks for addresses all over the code of small programs and libraries.
func addresses(file string) step {
	args := []string{"--format=json", file}
	for _, base := range []int{0, 0x1000, 0x400000, 0x401000, 0x10000} {
		for offset := 0; offset < 0x1000; offset += 0x1f4 {
			args = append(args, strconv.FormatInt(int64(base+offset), 16))
		}
	}
	return step{"symaddr", args, "", []int{0, 1}}
}

// manySymbols returns flags that give many symbol files.
func manySymbols() (args []string) {
	for range 200 {
		args = append(args, "--symbols=test/soak/testdata/crash.sym")
	}
	return args
}

// coreSteps returns the steps for a core file that scripts/soak-cores.sh made.
func coreSteps(machine string) []step {
	return []step{{"stackwalk", []string{"--exe", "test/soak/testdata/" + machine + ".elf", "IN"}, "", []int{0, 1, 2}}}
}

// seedFile is the path of a seed in the repository, the path of the program whose companion
// the seed is, and the steps to run.
type seedFile struct {
	path, beside string
	steps        []step
}

// seedFiles are from many producers and machines, of both byte orders and word sizes. They
// are small, so that damage hits the parts that matter.
var seedFiles = []seedFile{
	{"testdata/elf/cxx-x86_64-gcc12-O2-dw5.elf", "", elfSteps},
	{"testdata/elf/cxx-x86_64-gcc12-O2-dw4.elf", "", elfSteps},
	{"testdata/elf/cxx-x86_64-clang14-O2-dw5-64.elf", "", elfSteps},
	{"testdata/elf/cxx-x86_64-gcc12-O2-dw4-types.elf", "", elfSteps},
	{"testdata/elf/cxx-x86_64-gcc12-O2-dw5-zlib.elf", "", elfSteps},
	{"testdata/elf/cxx-x86_64-gcc12-O2-dw5-zstd.elf", "", elfSteps},
	{"testdata/elf/cxx-x86_64-gcc12-O2-dw5-mini.elf", "", elfSteps},
	{"testdata/elf/cxx-x86_64-gcc12-O2-dw5.o", "", elfSteps},
	{"testdata/elf/cxx-x86_64-gcc12-O2-dw5-nosections.so", "", elfSteps},
	{"testdata/elf/cxx-x86_64-gcc12-O2-dw2.elf", "", elfSteps},
	{"testdata/elf/cxx-s390x-gcc12-O2-dw5.elf", "", elfSteps},
	{"testdata/elf/lang-mips-gcc12-O2-dw4.elf", "", elfSteps},
	{"testdata/elf/lang-arm-gcc12-O2-dw5.elf", "", elfSteps},
	{"testdata/elf/cxx-aarch64pac-gcc12-O2-dw5.elf", "", elfSteps},
	{"testdata/elf/cxx-riscv64-gcc12-O2-dw5.elf", "", elfSteps},
	{"testdata/elf/cxx-ppc64le-gcc12-O2-dw5.elf", "", elfSteps},
	{"testdata/elf/cxx-i686-gcc12-O2-dw5.elf", "", elfSteps},
	{"testdata/elf/asm-x86_64-gas-dw5.elf", "", elfSteps},
	{"testdata/elf/rust-x86_64-rustc-O-dw5.so", "", elfSteps},
	{"testdata/elf/go-x86_64-gc.elf", "", elfSteps},
	{"testdata/go/go1.27.1.elf", "", elfSteps},
	{"dump/testdata/sframe/v1-aarch64-basic-noeh.so", "", tableSteps},
	{"dump/testdata/sframe/v2-amd64-special.so", "", tableSteps},
	{"dump/testdata/sframe/v3-amd64-basic-noeh.so", "", tableSteps},
	{"dump/testdata/sframe/v3-aarch64be-basic.so", "", tableSteps},
	{"dump/testdata/sframe/v3-s390x-special.so", "", tableSteps},
	{"check/testdata/sframe/v2-lld.so", "", tableSteps},
	{"check/testdata/sframe/mixed-lld.so", "", tableSteps},
	{"sframe/testdata/v3-amd64-rel.o", "", tableSteps},
	{"sframe/testdata/e1-amd64-rel.o", "", tableSteps},
	{"testdata/elf/crash-x86_64-gcc12-O2-dw5.core", "", dumpSteps},
	{"test/soak/testdata/aarch64.core", "", coreSteps("aarch64")},
	{"test/soak/testdata/arm.core", "", coreSteps("arm")},
	{"test/soak/testdata/i386.core", "", coreSteps("i386")},
	{"test/soak/testdata/mips.core", "", coreSteps("mips")},
	{"test/soak/testdata/ppc64le.core", "", coreSteps("ppc64le")},
	{"test/soak/testdata/s390x.core", "", coreSteps("s390x")},
	{"walk/minidump/testdata/minidump2.dmp", "", dumpSteps},
	{"walk/minidump/testdata/linux-mini.dmp", "", dumpSteps},
	{"walk/minidump/testdata/simple-crashpad.dmp", "", dumpSteps},
	{"walk/minidump/testdata/tiny-exe-with-cet-xsave-x86.dmp", "", dumpSteps},
	{"test/soak/testdata/arm.dmp", "", dumpSteps},
	{"test/soak/testdata/arm64.dmp", "", dumpSteps},
	{"test/soak/testdata/mips-big-endian.dmp", "", dumpSteps},
	{"test/soak/testdata/ppc64-big-endian.dmp", "", dumpSteps},
	{"testdata/elf/cxx-x86_64-gcc12-O2-dw5-stripped.debug", "testdata/elf/cxx-x86_64-gcc12-O2-dw5-stripped.elf", debugSteps},
	{"testdata/elf/cxx-x86_64-gcc12-O2-dw5-dwz.alt", "testdata/elf/cxx-x86_64-gcc12-O2-dw5-dwz.elf", companionSteps},
	{"testdata/elf/cxx-x86_64-gcc12-O2-dw5-split.dwp", "testdata/elf/cxx-x86_64-gcc12-O2-dw5-split.elf", companionSteps},
	{"testdata/elf/cxx-x86_64-clang14-O2-dw4-split-cxx.dwo", "testdata/elf/cxx-x86_64-clang14-O2-dw4-split.elf", companionSteps},
	{"testdata/elf/crash-x86_64-gcc12-O2-dw5.elf", "", exeSteps},
	{"test/soak/testdata/crash.sym", "", symSteps},
}
