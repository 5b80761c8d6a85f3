package lookup

import (
	"bytes"
	"cmp"
	"debug/elf"
	"hash/maphash"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"symkit/elfx"
	"symkit/internal/demangle"
	"symkit/internal/filename"
	"symkit/internal/limitof"
	"symkit/internal/radix"
	"symkit/limits"
)

// symbolTable has the symbols of functions and variables of a file. It is searched from end to end as long as few
// addresses are asked for, and sorted for many.
type symbolTable struct {
	all   []entry
	text  string // the names of all, one after the other
	asked atomic.Int32

	sorted     func() ordered
	byName     func() []int32  // indexes of all, by name
	byReadable func() []uint64 // see sortReadable
	seed       maphash.Seed    // of byReadable
}

// ordered is symbols by address, one for each address, and their addresses, which are searched.
type ordered struct {
	list  []entry
	addrs []uint64
}

// few is the number of addresses that are looked for from end to end.
const few = 16

// entry is a symbol.
type entry struct {
	addr, size uint64
	end        uint64 // of its section
	name, file textSpan
	data       bool
}

// symbolReader collects the symbols of several tables.
type symbolReader struct {
	all  []entry
	text strings.Builder
	most uint64 // bytes that text may have
	full bool   // text has no room for a name
}

// readSymbols reads the symbol tables of img: those of both files or, if they have none, .dynsym and MiniDebugInfo. It
// calls lose with damage.
func readSymbols(img *elfx.Image, l limits.Limits, lose func(...error)) *symbolTable {
	r := &symbolReader{most: min(l.Max(limitof.Names, img.Size()), math.MaxUint32)}
	add := func(f *elfx.File, table *elfx.SymbolTable, err error) {
		lose(err)
		if table != nil {
			r.table(f, table)
		}
	}
	if img.Debug != nil {
		symtab, err := img.Debug.Symtab()
		add(img.Debug, symtab, err)
	}
	symtab, err := img.Main.Symtab()
	add(img.Main, symtab, err)
	if len(r.all) == 0 {
		symtab, err = img.Main.Dynsym()
		add(img.Main, symtab, err)
		mini, err := elfx.DebugData(img.Main)
		lose(err)
		if mini != nil {
			symtab, err = mini.Symtab()
			add(mini, symtab, err)
		}
	}

	if r.full {
		lose(&filename.Error{Path: img.Main.Path(), Err: l.Exceeded(limitof.Names, img.Size())})
	}
	return newTable(r.all, r.text.String())
}

// newTable returns the table of symbols whose names are in text.
func newTable(all []entry, text string) *symbolTable {
	t := &symbolTable{all: all, text: text, seed: maphash.MakeSeed()}
	t.sorted = sync.OnceValue(t.sort)
	t.byName = sync.OnceValue(t.sortNames)
	t.byReadable = sync.OnceValue(t.sortReadable)
	return t
}

// usualName is how many bytes names of C have.
const usualName = 24

// table adds the symbols of a table of f.
func (r *symbolReader) table(f *elfx.File, table *elfx.SymbolTable) {
	var file textSpan // of the local symbols that follow
	r.all = slices.Grow(r.all, len(table.Symbols))
	r.text.Grow(usualName * len(table.Symbols))
	for i := range table.Symbols {
		s := &table.Symbols[i]
		switch s.Type {
		case elf.STT_FILE:
			file = r.add(table.NameOf(s))
		case elf.STT_FUNC, elf.STT_GNU_IFUNC, elf.STT_OBJECT, elf.STT_NOTYPE:
			r.symbol(f, table, s, file)
		}
	}
}

// add adds a text, unless there is no room.
func (r *symbolReader) add(text []byte) textSpan {
	from := uint32(r.text.Len())
	if uint64(from)+uint64(len(text)) > r.most {
		r.full = true
		return textSpan{}
	}
	r.text.Write(text)
	return textSpan{from, uint32(r.text.Len())}
}

// symbol adds a symbol of f, unless it names no code and no variable. A local symbol is of a source file.
func (r *symbolReader) symbol(f *elfx.File, table *elfx.SymbolTable, s *elfx.Symbol, file textSpan) {
	name := table.NameOf(s)
	if s.Shndx == elfx.ShnUndef || s.Shndx >= elfx.ShnReserve || len(name) == 0 || name[0] == '$' && hasMarks(f.Machine) {
		return
	}
	if s.Type == elf.STT_NOTYPE && s.Bind == elf.STB_LOCAL && bytes.HasPrefix(name, []byte(".L")) {
		return // a compiler's label, which objects of RISC-V and LoongArch keep
	}

	// A label is data where no code lies, and reaches the end of its section at most; an object is code where code
	// lies: GHC marks code with data before it so. A symbol of a section that is not loaded has no address: gcc's
	// -flto names the debug information of a file so.
	e := entry{addr: s.Value, size: s.Size, end: ^uint64(0), data: s.Type == elf.STT_OBJECT}
	if int(s.Shndx) < len(f.Sections) {
		section := &f.Sections[s.Shndx]
		if section.Flags&elf.SHF_ALLOC == 0 {
			return
		}
		e.end = section.Addr + section.Size
		e.data = section.Flags&elf.SHF_EXECINSTR == 0 && (s.Type == elf.STT_OBJECT || s.Type == elf.STT_NOTYPE)
	}
	if f.Machine == elf.EM_ARM && s.Type == elf.STT_FUNC {
		e.addr &^= 1 // the mode of the processor
	}
	if s.Bind == elf.STB_LOCAL {
		e.file = file
	}
	e.name = r.add(name)
	if e.name.to > 0 {
		r.all = append(r.all, e)
	}
}

// emCSKY is C-SKY (gABI, "Machine Architecture").
const emCSKY = elf.Machine(252)

// hasMarks reports whether symbols that begin with $ are marks of code and data on a machine.
func hasMarks(m elf.Machine) bool {
	switch m {
	case elf.EM_ARM, elf.EM_AARCH64, elf.EM_RISCV, emCSKY:
		return true
	}
	return false
}

// sort returns the symbols by address. Of those at one address the last one with the largest size counts.
func (t *symbolTable) sort() (o ordered) {
	items := make([]radix.Item, len(t.all))
	for i := range t.all {
		items[i] = radix.Item{Key: t.all[i].addr, Index: int32(i)}
	}
	items, _ = radix.Sort(items, nil)
	o.list, o.addrs = make([]entry, 0, len(items)), make([]uint64, 0, len(items))
	for _, item := range items {
		e := t.all[item.Index]
		last := len(o.list) - 1
		switch {
		case last < 0 || o.addrs[last] != e.addr:
			o.list, o.addrs = append(o.list, e), append(o.addrs, e.addr)
		case e.size >= o.list[last].size:
			o.list[last] = e
		}
	}
	return o
}

// sortNames returns the indexes of all symbols, by name, and those of one name by address.
func (t *symbolTable) sortNames() []int32 {
	list := make([]int32, len(t.all))
	for i := range list {
		list[i] = int32(i)
	}
	slices.SortStableFunc(list, func(a, b int32) int {
		x, y := &t.all[a], &t.all[b]
		return cmp.Or(cmp.Compare(t.of(x.name), t.of(y.name)), cmp.Compare(x.addr, y.addr))
	})
	return list
}

// sortReadable returns a number for each mangled name, in ascending order. Its upper half is that of the hash of the
// readable name, its lower half the index of the symbol. The readable names would take a multiple of the memory.
func (t *symbolTable) sortReadable() []uint64 {
	var list []uint64
	for i := range t.all {
		name := t.of(t.all[i].name)
		if demangle.IsMangled([]byte(name)) {
			list = append(list, maphash.String(t.seed, readableName(name))&^math.MaxUint32|uint64(i))
		}
	}
	slices.Sort(list)
	return list
}

// clone begins the mark of a copy of a function, " [clone .cold]". Binutils and the ABI's demangler write this mark.
const clone = " [clone "

// readableName returns the readable name of a symbol, with the mark of a copy.
func readableName(name string) string {
	text, _ := demangle.Demangle([]byte(name))
	suffix := name[len(demangle.Base([]byte(name))):]
	if suffix != "" {
		text += clone + suffix + "]"
	}
	return text
}

// readable appends the first n symbols whose name has a version after it, pthread_create@@GLIBC_2.34, or else those with
// a readable name.
func (t *symbolTable) readable(dst []Symbol, name string, n int) []Symbol {
	before := len(dst)
	dst = t.from(dst, name+"@", n, strings.HasPrefix)
	if len(dst) > before {
		return dst
	}
	name = strings.ReplaceAll(name, "]"+clone, "") // one mark for each suffix becomes one mark
	hash := maphash.String(t.seed, name) &^ math.MaxUint32
	list := t.byReadable()
	at, _ := slices.BinarySearch(list, hash)
	for from := len(dst); at < len(list) && list[at]&^math.MaxUint32 == hash && len(dst)-from < n; at++ {
		s := t.symbol(&t.all[uint32(list[at])])
		if readableName(s.Name) == name {
			dst = append(dst, s)
		}
	}
	return dst
}

// of returns a text.
func (t *symbolTable) of(s textSpan) string { return t.text[s.from:s.to] }

// symbol returns the symbol of an entry.
func (t *symbolTable) symbol(e *entry) Symbol {
	return Symbol{Name: t.of(e.name), File: t.of(e.file), Addr: e.addr, Size: e.size, Data: e.data}
}

// last returns the last symbol at or below addr, or nil.
func (t *symbolTable) last(addr uint64) (best *entry) {
	if t.asked.Load() >= few {
		o := t.sorted()
		i := sort.Search(len(o.addrs), func(i int) bool { return o.addrs[i] > addr }) - 1
		if i < 0 {
			return nil
		}
		return &o.list[i]
	}

	t.asked.Add(1)
	for i := range t.all {
		e := &t.all[i]
		if e.addr <= addr && (best == nil || e.addr > best.addr || e.addr == best.addr && e.size >= best.size) {
			best = e
		}
	}
	return best
}

// below returns the last symbol at or below addr, if addr is in its section.
func (t *symbolTable) below(addr uint64) (Symbol, bool) {
	e := t.last(addr)
	if e == nil || addr >= e.end && addr-e.addr >= e.size {
		return Symbol{}, false
	}
	return t.symbol(e), true
}

// at returns the symbol that covers addr, or the last one below if its size is not known.
func (t *symbolTable) at(addr uint64) (Symbol, bool) {
	s, ok := t.below(addr)
	if !ok || s.Size > 0 && addr-s.Addr >= s.Size {
		return Symbol{}, false
	}
	return s, true
}

// linkage returns the linkage name of the function that begins at start and has the code at addr, or "". A part far from
// the start has a symbol of its own, which says more: several functions can have the same code, but for that part.
func (t *symbolTable) linkage(start, addr uint64) string {
	sym, ok := t.at(addr)
	name, suffix, _ := strings.Cut(sym.Name, ".") // a suffix tells which clone or part it is
	if !ok || sym.Addr != start && !strings.Contains(suffix, "cold") {
		sym, ok = t.at(start)
		name, _, _ = strings.Cut(sym.Name, ".")
		ok = ok && sym.Addr == start
	}
	if !ok || sym.Data || !demangle.IsMangled([]byte(name)) {
		return ""
	}
	return name
}

// named appends the first n symbols of a name by address, or all if n < 0; all symbols if the name is empty.
func (t *symbolTable) named(dst []Symbol, name string, n int) []Symbol {
	if name == "" {
		from := len(dst)
		for i := range t.all {
			dst = append(dst, t.symbol(&t.all[i]))
		}
		slices.SortStableFunc(dst[from:], func(a, b Symbol) int { return cmp.Compare(a.Addr, b.Addr) })
		return dst
	}
	return t.from(dst, name, n, func(of, name string) bool { return of == name })
}

// from appends the first n symbols whose names are, from a name on in the alphabet, like that name, or all if n < 0.
func (t *symbolTable) from(dst []Symbol, name string, n int, like func(of, name string) bool) []Symbol {
	list := t.byName()
	i := sort.Search(len(list), func(i int) bool { return t.of(t.all[list[i]].name) >= name })
	from := len(dst)
	for ; i < len(list) && len(dst)-from != n && like(t.of(t.all[list[i]].name), name); i++ {
		s := t.symbol(&t.all[list[i]])
		if len(dst) == from || dst[len(dst)-1] != s { // another table may have the same symbol
			dst = append(dst, s)
		}
	}
	return dst
}
