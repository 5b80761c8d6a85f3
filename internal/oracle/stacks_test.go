//go:build oracle

package oracle_test

import (
	"cmp"
	"debug/elf"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ianlancetaylor/demangle"

	"symkit/emit"
	names "symkit/internal/demangle"
)

// frame is a function that has a PC, and where in it the PC is, or the call
// that the PC is in.
type frame struct {
	name, file string
	line       uint32
	linkage    string // of an oracle: the name as it was, if that is mangled
}

func (f frame) String() string { return fmt.Sprintf("%s at %s:%d", f.name, f.file, f.line) }

// stack is what is inlined into what at a PC, innermost first.
type stack []frame

func (s stack) String() string {
	var b strings.Builder
	for _, f := range s {
		fmt.Fprintf(&b, "\n\t\t%v", f)
	}
	return b.String()
}

// stackIndex answers what a symbol file says of a PC.
type stackIndex struct {
	*symFile
	load uint64
}

func newStackIndex(s *symFile, load uint64) *stackIndex {
	slices.SortFunc(s.publics, func(a, b emit.Public) int { return cmp.Compare(a.Addr, b.Addr) })
	return &stackIndex{s, load}
}

// function returns the FUNC that has pc, which is as in the file.
func (x *stackIndex) function(pc uint64) *symFunc {
	pc -= x.load
	i, _ := slices.BinarySearchFunc(x.funcs, pc+1, byAddress)
	if i == 0 || pc >= x.funcs[i-1].hi {
		return nil
	}
	return &x.funcs[i-1]
}

// public returns the PUBLIC that is last at or below pc, which is as in the file.
func (x *stackIndex) public(pc uint64) *emit.Public {
	pc -= x.load
	i, _ := slices.BinarySearchFunc(x.publics, pc+1, func(p emit.Public, addr uint64) int { return cmp.Compare(p.Addr, addr) })
	if i == 0 {
		return nil
	}
	return &x.publics[i-1]
}

// stack returns the full inline stack at pc, which is as in the file. It is an
// error if the calls there do not nest: two of one depth, or one missing.
func (x *stackIndex) stack(pc uint64) (stack, error) {
	f := x.function(pc)
	if f == nil {
		if p := x.public(pc); p != nil {
			return stack{{name: string(p.Name)}}, nil
		}
		return nil, nil
	}
	pc -= x.load
	var at frame // the row's place, then those of the calls from inside out
	i, _ := slices.BinarySearchFunc(f.lines, pc+1, func(l emit.Line, addr uint64) int { return cmp.Compare(l.Addr, addr) })
	if i > 0 && pc-f.lines[i-1].Addr < uint64(f.lines[i-1].Size) {
		at.file, at.line = x.files[f.lines[i-1].File], f.lines[i-1].Line
	}
	var calls []symInline
	for _, in := range f.inlines {
		if in.lo > pc {
			break
		}
		if pc < in.hi {
			calls = append(calls, in)
		}
	}
	slices.SortFunc(calls, func(a, b symInline) int { return cmp.Compare(b.depth, a.depth) })
	var out stack
	for i, in := range calls {
		if int(in.depth) != len(calls)-1-i {
			return nil, fmt.Errorf("depth %d among %d calls in %s", in.depth, len(calls), f.name)
		}
		at.name = x.origins[in.origin]
		out = append(out, at)
		at = frame{file: x.files[in.file], line: in.line}
	}
	at.name = f.name
	return append(out, at), nil
}

// aliases knows the symbols of a file by address: all of one address are names
// of one function.
type aliases struct {
	byAddr map[uint64][]frame // their names alone
	sized  []span             // of functions
	code   layout
}

func readAliases(t *testing.T, in *input) *aliases {
	t.Helper()
	a := &aliases{byAddr: map[uint64][]frame{}, code: readLayout(t, in.main)}
	for _, file := range in.files() {
		f, err := elf.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		a.add(f.Symbols())
		a.add(f.DynamicSymbols())
		f.Close()
	}
	slices.SortFunc(a.sized, func(x, y span) int { return cmp.Compare(x.lo, y.lo) })
	return a
}

func (a *aliases) add(symbols []elf.Symbol, _ error) { // a file may have no table
	for _, s := range symbols {
		if s.Section == elf.SHN_UNDEF || s.Name == "" || !a.code.live(s.Value) {
			continue
		}
		a.byAddr[s.Value] = append(a.byAddr[s.Value], normal(stack{{name: s.Name}})...)
		if typ := elf.ST_TYPE(s.Info); s.Size > 0 && (typ == elf.STT_FUNC || typ == elf.STT_GNU_IFUNC) {
			a.sized = append(a.sized, span{s.Value, s.Value + s.Size})
		}
	}
}

// clone is what gcc and LLVM append to the symbols of copies and parts of a
// function. Symbol files have the function's own name.
var clone = regexp.MustCompile(`(\.(cold|isra|part|constprop|lto_priv|localalias|llvm|str|__uniq)(\.[0-9]+)*)+$|@@?[A-Za-z_][A-Za-z0-9_.]*$`)

// plainName turns a name of an oracle into one as we write it: demangled by
// the same package, which has oracles of its own, and without what a compiler or
// linker appended.
func plainName(name string) (text string, mangled bool) {
	name = clone.ReplaceAllString(name, "")
	text, ok := names.Demangle([]byte(name))
	if !ok || text == string(names.Base([]byte(name))) {
		return name, false
	}
	return text, true
}

// normal brings a stack into a form that can be compared: names as plainName
// makes them, names of files without "." and "..", no file where there is no
// line, or none in a source file.
func normal(s stack) stack {
	out := slices.Clone(s)
	for i := range out {
		f := &out[i]
		mangled := false
		if f.name, mangled = plainName(f.name); mangled {
			f.linkage = s[i].name
		} else if f.name == "??" {
			f.name = ""
		}
		if path.Base(f.file) == "<autogenerated>" { // Go's for line 0
			f.line = 0
		}
		if f.file == "??" || f.line == 0 {
			f.file = ""
		}
		if f.file != "" {
			f.file = path.Clean(f.file)
		}
	}
	return out
}

// at returns the frame at one depth, or one without anything.
func (s stack) at(i int) frame {
	if i >= len(s) {
		return frame{}
	}
	return s[i]
}

// known tells whether an oracle could say where the PC is.
func (s stack) known() bool {
	return slices.ContainsFunc(s, func(f frame) bool { return f.line != 0 })
}

// same compares two stacks in normal form; alike does so with the names at one
// depth. The outermost function begins at start: llvm-symbolizer and addr2line
// take its name from the symbol table, so there all symbols of that address are
// one.
func (a *aliases) same(x, y stack, start uint64, alike func(x, y frame) bool) bool {
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i].line != y[i].line || !sameFile(x[i].file, y[i].file) {
			return false
		}
		if alike(x[i], y[i]) {
			continue
		}
		if i < len(x)-1 || !a.has(start, x[i], alike) || !a.has(start, y[i], alike) {
			return false
		}
	}
	return true
}

// has tells whether f is called as a symbol at addr is.
func (a *aliases) has(addr uint64, f frame, alike func(x, y frame) bool) bool {
	for _, symbol := range a.byAddr[addr] {
		if alike(f, symbol) {
			return true
		}
	}
	return false
}

// named tells whether what we call a function is a name that an oracle has for
// it: the same, or what DW_AT_name and the scopes around it give, if there is no
// linkage name in the DWARF but one in the symbol table, or none anywhere.
func named(ours, theirs frame) bool {
	switch {
	case ours.name == theirs.name:
		return true
	case theirs.linkage != "":
		return ours.name == bare(theirs.linkage, demangle.NoParams)
	}
	return theirs.name != "" && strings.HasSuffix(ours.name, "::"+theirs.name)
}

// similar tells whether two oracles mean the same function, of which one may
// say the plain name, the other the linkage name.
func similar(a, b frame) bool {
	return named(a, b) || named(b, a) || plainOf(a, b) || plainOf(b, a)
}

// plainOf tells whether plain has the plain name of the function that other has
// the linkage name of.
func plainOf(plain, other frame) bool {
	if plain.linkage != "" || other.linkage == "" || plain.name == "" {
		return false
	}
	name, full := skeleton(plain.name), skeletonOf(other.linkage)
	return full == name || strings.HasSuffix(full, "::"+name)
}

// skeletonOf is the skeleton of a function with a linkage name.
func skeletonOf(linkage string) string {
	return skeleton(bare(linkage, demangle.NoParams, demangle.NoTemplateParams))
}

// bare demangles a linkage name, leaving out parts of it.
func bare(linkage string, without ...demangle.Option) string {
	text, err := demangle.ToString(clone.ReplaceAllString(linkage, ""), append(without, demangle.MaxLength(16))...)
	if err != nil {
		return ""
	}
	return abiTag.ReplaceAllString(text, "")
}

// abiTag stands behind names in linkage names alone.
var abiTag = regexp.MustCompile(`\[abi:[^]]*\]`)

// tail is the last part of a name: an operator, whose name may have < and >.
var tail = regexp.MustCompile(`operator *(<=>|<<=?|>>=?|->\*?|<=?|>=?|[^<>()]*)`)

// skeleton is a name without template arguments, without the parameters of the
// functions around it and of lambdas. DW_AT_name has some of them, spelled in
// other ways: small_mul<62> has the linkage name of small_mul<(unsigned short)62>.
func skeleton(name string) string {
	const anonymous = "(anonymous namespace)"
	name = strings.ReplaceAll(strings.ReplaceAll(name, anonymous, "\x00"), "operator()", "\x01")
	end := ""
	if all := tail.FindAllStringIndex(name, -1); all != nil {
		last := all[len(all)-1]
		name, end = name[:last[0]], name[last[0]:last[1]]
	}
	var b strings.Builder
	depth := 0
	for _, c := range name {
		switch c {
		case '<', '(':
			depth++
		case '>', ')':
			depth--
		default:
			if depth == 0 {
				b.WriteRune(c)
			}
		}
	}
	name = lambda.ReplaceAllString(b.String(), "{lambda}")
	return strings.ReplaceAll(name, " const::", "::") + end
}

// lambda is the class of one, with its number.
var lambda = regexp.MustCompile(`\{lambda[^}]*\}`)

// sameFile: DWARF 5's directory 0 is the compilation directory (§6.2.4).
// llvm-symbolizer and addr2line put that in front of it once more, which shows
// if it is relative, as in libc.so.6: csu/csu/init-first.c.
func sameFile(a, b string) bool {
	return a == b || doubled(a, b) || doubled(b, a)
}

func doubled(long, short string) bool {
	dir, ok := strings.CutSuffix(long, "/"+short)
	return ok && !path.IsAbs(long) && strings.HasPrefix(short, dir+"/")
}

// corpusStacks are the files that issue 3 names.
func corpusStacks(t *testing.T) []input {
	return slices.Concat(
		fromCorpus(t, "python3.11-dbg/usr/bin/python3.11d", ""),
		fromCorpus(t, "libc6/lib/x86_64-linux-gnu/libc.so.6", "libc6-dbg"),
		fromCorpus(t, "libstdc++6-12-dbg/usr/lib/x86_64-linux-gnu/debug/libstdc++.so.6.*.*", ""),
		fromCorpus(t, "valgrind/usr/libexec/valgrind/memcheck-amd64-linux", "valgrind-dbg"),
	)
}

func TestOracleStacks(t *testing.T) {
	compareStacks(t, corpusStacks(t))
}

func TestOracleStacksBuilt(t *testing.T) {
	compareStacks(t, []input{rustProgram(t)})
}

// TestOracleStacksTwins has programs whose DWARF 5 addr2line and eu-addr2line
// do not understand (of clang's LTO, where addresses are indirect) or nobody
// (Go's). What they say of the same program with DWARF 4 is what ours have to
// say of both.
func TestOracleStacksTwins(t *testing.T) {
	var table strings.Builder
	for _, programs := range []func(*testing.T) (dw4, dw5 input){goPrograms, ltoPrograms} {
		dw4, dw5 := programs(t)
		for _, in := range []*input{&dw4, &dw5} {
			t.Run(in.name, func(t *testing.T) {
				fmt.Fprintf(&table, "%-30s %s\n", in.name, compareStack(t, in, &dw4))
			})
		}
	}
	t.Logf("stacks:\n%s%s", stackTable, table.String())
}

// TestOracleStacksGo has a Go program without DWARF and symbols: .gopclntab gives
// it the stacks that DWARF 4 gives it.
func TestOracleStacksGo(t *testing.T) {
	in := strippedGo(t)
	dw4, _ := goPrograms(t)
	t.Logf("stacks:\n%s%-30s %s", stackTable, in.name, compareStack(t, &in, &dw4))
}

func TestCorpusStacks(t *testing.T) {
	compareStacks(t, slices.Concat(
		fromCorpus(t, "openjdk-17-jre-headless/usr/lib/jvm/*/lib/server/libjvm.so", "openjdk-17-dbg"),
		fromCorpus(t, "linux-image-*-dbg/usr/lib/debug/boot/vmlinux-*", ""),
		fromCorpus(t, "ceph-osd/usr/bin/ceph-osd", "ceph-osd-dbg"),
		fromCorpus(t, "ceph-osd/usr/bin/ceph-objectstore-tool", "ceph-osd-dbg"),
		fromCorpus(t, "ceph-osd/usr/bin/ceph-bluestore-tool", "ceph-osd-dbg"),
	))
}

// stackTable is the head of the table.
const stackTable = "file                              INLINE     PCs  two agree ours equal all differ  ours then equal; what differs\n"

// compareStacks compares each input with its oracles, and prints the figures.
func compareStacks(t *testing.T, inputs []input) {
	var table strings.Builder
	for i := range inputs {
		in := &inputs[i]
		t.Run(filepath.Base(in.name), func(t *testing.T) {
			fmt.Fprintf(&table, "%-30s %s\n", in.name, compareStack(t, in, nil))
		})
	}
	t.Logf("stacks:\n%s%s", stackTable, table.String())
}
