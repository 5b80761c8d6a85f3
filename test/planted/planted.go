// Package planted makes wrong symbol files out of right ones: each with one fault of a kind that servers get, as of a stale
// file, a damaged upload, a broken tool. The result depends on the file, the kind and a number alone.
package planted

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// kinds are the kinds of faults, in an order that does not change: a number of a fault stands for the same one.
var kinds = []struct {
	name  string
	plant func(*file) string // says what it did, "" if the file has no place for the fault
}{
	{"lines shifted", linesShifted},
	{"a line changed", lineChanged},
	{"lines lost", linesLost},
	{"rows moved", rowsMoved},
	{"FILE numbers swapped", filesSwapped},
	{"a file renamed", fileRenamed},
	{"functions lost", functionsLost},
	{"functions lost from an address on", functionsLostFrom},
	{"sizes cut", sizesCut},
	{"functions merged", functionsMerged},
	{"functions moved", functionsMoved},
	{"functions twice", functionsTwice},
	{"names swapped", namesSwapped},
	{"names escaped", namesEscaped},
	{"names of a decompiler", namesGeneric},
	{"rules stale", rulesStale},
	{"rules lost", rulesLost},
	{"rules late", rulesLate},
	{"another CFA", cfaChanged},
	{"another place of the return address", returnChanged},
	{"another place of a register", registerChanged},
	{"rules of another CPU", rulesOfAnotherCPU},
	{"records of another CPU", anotherCPU},
	{"another build under the id", anotherBuild},
	{"another id", anotherID},
	{"another name", anotherName},
	{"PUBLICs of data", publicsOfData},
	{"PUBLICs lost", publicsLost},
	{"PUBLICs moved", publicsMoved},
	{"PUBLICs renamed", publicsRenamed},
	{"inlined calls lost", inlinesLost},
	{"inlined calls of another function", inlinesSwapped},
	{"inlined calls from another line", inlinesFromAnotherLine},
	{"inline ranges outside", inlinesOutside},
	{"inline ranges cut", inlinesCut},
	{"the end cut", endCut},
}

// Kinds returns the names of all kinds.
func Kinds() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// Plant returns a symbol file with a fault of a kind, and what was done in words. number chooses one of the places for the
// fault. ok is false if the file has none, such as a file without INLINE records for a fault of these. sym is a right
// file in symkit's order of records.
func Plant(sym []byte, kind string, number uint64) (wrong []byte, what string, ok bool) {
	i := slices.IndexFunc(kinds, func(k struct {
		name  string
		plant func(*file) string
	}) bool {
		return k.name == kind
	})
	if i < 0 {
		return nil, "", false
	}
	f := parse(sym, rand.New(rand.NewPCG(number, uint64(i))))
	what = kinds[i].plant(f)
	text := f.text()
	return []byte(text), what, what != "" && text != string(sym)
}

// file is a symbol file that is changed.
type file struct {
	random *rand.Rand
	head   []string // MODULE and INFO
	files  []string // FILE
	calls  []string // INLINE_ORIGIN
	funcs  []*function
	others []string // PUBLIC
	rules  []*entry
}

// function is a FUNC with its records.
type function struct {
	addr, size uint64
	multiple   string // "m " or ""
	params     string
	name       string
	inlines    []*inline
	rows       []*row
}

// row is a line record.
type row struct {
	addr, size uint64
	line, file int
}

// inline is an INLINE record.
type inline struct {
	depth, line, file, origin int
	ranges                    []span
}

type span struct{ addr, size uint64 }

// entry is a STACK CFI INIT with the records that belong to it.
type entry struct {
	addr, size uint64
	init       string
	deltas     []delta
}

type delta struct {
	addr  uint64
	rules string
}

// parse reads a right symbol file.
func parse(sym []byte, random *rand.Rand) *file {
	f := &file{random: random}
	for line := range strings.Lines(string(sym)) {
		line = strings.TrimSuffix(line, "\n")
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "MODULE", "INFO":
			f.head = append(f.head, line)
		case "FILE":
			f.files = append(f.files, rest)
		case "INLINE_ORIGIN":
			f.calls = append(f.calls, rest)
		case "FUNC":
			fn := &function{}
			if after, ok := strings.CutPrefix(rest, "m "); ok {
				fn.multiple, rest = "m ", after
			}
			parts := strings.SplitN(rest, " ", 4)
			fn.addr, fn.size, fn.params, fn.name = hex(parts[0]), hex(parts[1]), parts[2], parts[3]
			f.funcs = append(f.funcs, fn)
		case "INLINE":
			fn := f.funcs[len(f.funcs)-1]
			parts := strings.Fields(rest)
			in := &inline{depth: decimal(parts[0]), line: decimal(parts[1]), file: decimal(parts[2]), origin: decimal(parts[3])}
			for i := 4; i+1 < len(parts); i += 2 {
				in.ranges = append(in.ranges, span{hex(parts[i]), hex(parts[i+1])})
			}
			fn.inlines = append(fn.inlines, in)
		case "PUBLIC":
			f.others = append(f.others, rest)
		case "STACK":
			f.addRule(rest)
		default:
			fn := f.funcs[len(f.funcs)-1]
			parts := strings.Fields(line)
			fn.rows = append(fn.rows, &row{hex(parts[0]), hex(parts[1]), decimal(parts[2]), decimal(parts[3])})
		}
	}
	return f
}

// addRule reads a STACK CFI record.
func (f *file) addRule(rest string) {
	if init, ok := strings.CutPrefix(rest, "CFI INIT "); ok {
		parts := strings.SplitN(init, " ", 3)
		f.rules = append(f.rules, &entry{addr: hex(parts[0]), size: hex(parts[1]), init: parts[2]})
	} else if next, ok := strings.CutPrefix(rest, "CFI "); ok {
		parts := strings.SplitN(next, " ", 2)
		e := f.rules[len(f.rules)-1]
		e.deltas = append(e.deltas, delta{hex(parts[0]), parts[1]})
	}
}

// text returns the symbol file.
func (f *file) text() string {
	var b strings.Builder
	for _, line := range f.head {
		fmt.Fprintln(&b, line)
	}
	for _, line := range f.files {
		fmt.Fprintln(&b, "FILE", line)
	}
	for _, line := range f.calls {
		fmt.Fprintln(&b, "INLINE_ORIGIN", line)
	}
	for _, fn := range f.funcs {
		fmt.Fprintf(&b, "FUNC %s%x %x %s %s\n", fn.multiple, fn.addr, fn.size, fn.params, fn.name)
		for _, in := range fn.inlines {
			fmt.Fprintf(&b, "INLINE %d %d %d %d", in.depth, in.line, in.file, in.origin)
			for _, r := range in.ranges {
				fmt.Fprintf(&b, " %x %x", r.addr, r.size)
			}
			fmt.Fprintln(&b)
		}
		for _, r := range fn.rows {
			fmt.Fprintf(&b, "%x %x %d %d\n", r.addr, r.size, r.line, r.file)
		}
	}
	for _, line := range f.others {
		fmt.Fprintln(&b, "PUBLIC", line)
	}
	for _, e := range f.rules {
		fmt.Fprintf(&b, "STACK CFI INIT %x %x %s\n", e.addr, e.size, e.init)
		for _, d := range e.deltas {
			fmt.Fprintf(&b, "STACK CFI %x %s\n", d.addr, d.rules)
		}
	}
	return b.String()
}

// hex and decimal read numbers of a right file.
func hex(s string) (n uint64) {
	_, err := fmt.Sscanf(s, "%x", &n)
	if err != nil {
		panic("planted: no right symbol file: " + s)
	}
	return n
}

func decimal(s string) (n int) {
	_, err := fmt.Sscanf(s, "%d", &n)
	if err != nil {
		panic("planted: no right symbol file: " + s)
	}
	return n
}

// pick returns one of the elements that fit, or the zero value.
func pick[T any](f *file, all []T, fits func(T) bool) (x T, ok bool) {
	var found []T
	for _, y := range all {
		if fits(y) {
			found = append(found, y)
		}
	}
	if len(found) == 0 {
		return x, false
	}
	return found[f.random.IntN(len(found))], true
}

// number returns a number of the line of a FILE, INLINE_ORIGIN or PUBLIC record, and the rest.
func number(line string) (n, rest string) {
	n, rest, _ = strings.Cut(line, " ")
	return n, rest
}
