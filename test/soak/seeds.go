package main

import (
	"fmt"
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
// program that lies beside it, OUT and GSYM the symbol files that dump_syms writes, and CORE
// the core file that the symbol files belong to. Arguments after << are lines of standard
// input, each of which has an answer of one line. A step that needs a symbol file, or needs
// that there is none, is skipped otherwise.
type step struct {
	program string
	args    []string
	needs   string // "", "OUT", "GSYM" or "no OUT"
	codes   []int  // exit codes that are fine
}

// file returns the name of the program's file: symaddr takes the place of two others by their names.
func (s *step) file() string {
	switch s.program {
	case "addr2line", "llvm-symbolizer":
		return "symaddr"
	}
	return s.program
}

// command returns the arguments and the lines of standard input.
func (s *step) command() (args, lines []string) {
	i := slices.Index(s.args, "<<")
	if i < 0 {
		return s.args, nil
	}
	return s.args[:i], s.args[i+1:]
}

var (
	elfSteps = append([]step{
		{"dump_syms", []string{"--inlines", "-o", "OUT", "IN"}, "", []int{0, 1}},
		{"symcheck", []string{"lint", "OUT"}, "OUT", []int{0}},
		{"symcheck", []string{"OUT", "IN"}, "OUT", []int{0, 1, 2}},
		{"symcheck", []string{"test/soak/testdata/crash.sym", "IN"}, "no OUT", []int{0, 1, 2}},
	}, asked("IN", "")...)
	// tableSteps are those of files with .sframe, and of bombs: .sframe is also verified alone.
	tableSteps = append(slices.Clone(elfSteps),
		step{"symcheck", []string{"--only=sframe", "IN"}, "", []int{0, 1, 2}},
		step{"symcheck", []string{"--only=sframe", "--format=html", "IN"}, "", []int{0, 1, 2}})
	companionSteps = append([]step{
		{"dump_syms", []string{"--inlines", "-o", "OUT", "PROGRAM"}, "", []int{0, 1}},
		{"symcheck", []string{"lint", "OUT"}, "OUT", []int{0}},
		{"symcheck", []string{"OUT", "PROGRAM"}, "OUT", []int{0, 1, 2}},
	}, asked("PROGRAM", "")...)
	debugSteps = append([]step{
		{"dump_syms", []string{"-o", "OUT", "IN", "PROGRAM"}, "", []int{0, 1}},
		{"symcheck", []string{"lint", "OUT"}, "OUT", []int{0}},
		{"dump_syms", []string{"-o", "/dev/null", "PROGRAM"}, "", []int{0, 1}},
	}, asked("PROGRAM", "")...)
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
	symSteps = append([]step{
		{"symcheck", []string{"lint", "IN"}, "", []int{0, 1, 2}},
		{"symcheck", []string{"IN", "testdata/elf/crash-x86_64-gcc12-O2-dw5.elf"}, "", []int{0, 1, 2}},
		{"symcheck", []string{"diff", "IN", "IN"}, "", []int{0, 1, 2}},
		{"stackwalk", []string{"--no-elf", "--symbols", "IN", "CORE"}, "", []int{0, 1, 2}},
	}, asked("IN", "")...)
	// writerSteps write a GSYM file, which is read then.
	writerSteps = append([]step{{"dump_syms", []string{"--format=gsym", "--inlines", "-o", "GSYM", "IN"}, "", []int{0, 1}}}, asked("GSYM", "GSYM")...)
	packedSteps = []step{{"stackwalk", []string{"--no-elf", "--symbols", "IN", "CORE"}, "", []int{0, 1, 2}}}
)

// asked returns the steps that ask for addresses all over the code of small programs and
// libraries, in each protocol and in a log.
func asked(file, needs string) []step {
	var addrs, log, questions []string
	for _, base := range []int{0, 0x1000, 0x400000, 0x401000, 0x10000} {
		for offset := 0; offset < 0x1000; offset += 0x1f4 {
			text := "0x" + strconv.FormatInt(int64(base+offset), 16)
			addrs = append(addrs, text)
			log = append(log, fmt.Sprintf("#1 0x7f001234 in f (%s+%s)", file, text))
			questions = append(questions, "CODE "+text, "FRAME "+text, "DATA "+text)
		}
	}
	log = append(log, "RIP: 0010:main+0x16/0x20", "main+0x4", "#2 pc 00001000  "+file+" (f+4)")
	read := []int{0, 1} // 1 if there are no symbols
	if needs != "" {
		read = []int{0}
	}
	return []step{
		{"symaddr", slices.Concat([]string{"--format=json", file, "<<"}, addrs), needs, read},
		{"symaddr", slices.Concat([]string{"<<"}, log), needs, []int{0}},
		{"symaddr", slices.Concat([]string{file, "<<"}, log), needs, read},
		{"addr2line", slices.Concat([]string{"-afipC", "-e", file, "<<"}, addrs), needs, read},
		{"llvm-symbolizer", slices.Concat([]string{"--output-style=JSON", "-e", file, "<<"}, questions), needs, []int{0}},
	}
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
	{"test/soak/testdata/cxx.gsym", "", asked("IN", "")},
	{"test/soak/testdata/cxx-2.gsym", "", asked("IN", "")},
	{"test/soak/testdata/s390x.gsym", "", asked("IN", "")},
	{"testdata/elf/cxx-x86_64-gcc12-O2-dw4.elf", "", writerSteps},
	{"testdata/elf/cxx-s390x-gcc12-O2-dw5.elf", "", writerSteps},
}
