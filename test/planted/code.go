package planted

import (
	"fmt"
	"slices"
	"strings"
)

// hasLines reports whether a function has n rows with a line.
func hasLines(n int) func(*function) bool {
	return func(fn *function) bool {
		known := 0
		for _, r := range fn.rows {
			if r.line > 0 {
				known++
			}
		}
		return known >= n
	}
}

// every fits all.
func every[T any](T) bool { return true }

func linesShifted(f *file) string {
	fn, ok := pick(f, f.funcs, hasLines(2))
	if !ok {
		return ""
	}
	by := 1 + f.random.IntN(40)
	for _, r := range fn.rows {
		if r.line > 0 {
			r.line += by
		}
	}
	return fmt.Sprintf("%s: all lines %d higher", fn.name, by)
}

func lineChanged(f *file) string {
	fn, ok := pick(f, f.funcs, hasLines(1))
	if !ok {
		return ""
	}
	r, _ := pick(f, fn.rows, func(r *row) bool { return r.line > 0 })
	r.line += 1 + f.random.IntN(1000)
	return fmt.Sprintf("%s: line %d at %#x", fn.name, r.line, r.addr)
}

func linesLost(f *file) string {
	fn, ok := pick(f, f.funcs, hasLines(1))
	if !ok {
		return ""
	}
	fn.rows = nil
	return fn.name + ": no lines"
}

// border reports whether two rows touch and differ.
func border(a, b *row) bool {
	return a.addr+a.size == b.addr && b.size > 1 && (a.line != b.line || a.file != b.file)
}

func rowsMoved(f *file) string {
	fn, ok := pick(f, f.funcs, func(fn *function) bool {
		for i := range len(fn.rows) - 1 {
			if border(fn.rows[i], fn.rows[i+1]) {
				return true
			}
		}
		return false
	})
	if !ok {
		return ""
	}
	var at []int
	for i := range len(fn.rows) - 1 {
		if border(fn.rows[i], fn.rows[i+1]) {
			at = append(at, i)
		}
	}
	i := at[f.random.IntN(len(at))]
	by := 1 + f.random.Uint64N(fn.rows[i+1].size-1)
	fn.rows[i].size += by
	fn.rows[i+1].addr += by
	fn.rows[i+1].size -= by
	return fmt.Sprintf("%s: the row of %#x begins %d bytes later", fn.name, fn.rows[i+1].addr-by, by)
}

// used returns the numbers of FILE records that rows with a line have.
func (f *file) used() map[string]bool {
	used := map[string]bool{}
	for _, fn := range f.funcs {
		for _, r := range fn.rows {
			if r.line > 0 {
				used[fmt.Sprint(r.file)] = true
			}
		}
	}
	return used
}

// swap exchanges the names of two records that both are in use.
func (f *file) swap(list []string, used map[string]bool) string {
	fits := func(i int) bool {
		n, _ := number(list[i])
		return used[n]
	}
	indices := make([]int, len(list))
	for i := range indices {
		indices[i] = i
	}
	i, ok := pick(f, indices, fits)
	if !ok {
		return ""
	}
	a, name := number(list[i])
	k, ok := pick(f, indices, func(k int) bool {
		_, other := number(list[k])
		return fits(k) && other != name
	})
	if !ok {
		return ""
	}
	b, other := number(list[k])
	list[i], list[k] = a+" "+other, b+" "+name
	return fmt.Sprintf("%s and %s: numbers swapped", name, other)
}

func filesSwapped(f *file) string { return f.swap(f.files, f.used()) }

func fileRenamed(f *file) string {
	used := f.used()
	indices := make([]int, len(f.files))
	for i := range indices {
		indices[i] = i
	}
	i, ok := pick(f, indices, func(i int) bool {
		n, _ := number(f.files[i])
		return used[n]
	})
	if !ok {
		return ""
	}
	f.files[i] = strings.Replace(f.files[i], ".", "_old.", 1)
	if !strings.Contains(f.files[i], "_old") {
		f.files[i] += "_old"
	}
	return "FILE " + f.files[i]
}

func functionsLost(f *file) string {
	fn, ok := pick(f, f.funcs, every)
	if !ok {
		return ""
	}
	f.funcs = slices.DeleteFunc(f.funcs, func(x *function) bool { return x == fn })
	return fn.name + ": lost"
}

func functionsLostFrom(f *file) string {
	if len(f.funcs) == 0 {
		return ""
	}
	i := f.random.IntN(len(f.funcs))
	n := len(f.funcs) - i
	f.funcs = f.funcs[:i]
	return fmt.Sprintf("%d functions lost", n)
}

func sizesCut(f *file) string {
	fn, ok := pick(f, f.funcs, func(fn *function) bool { return fn.size >= 2 })
	if !ok {
		return ""
	}
	fn.size = 1 + f.random.Uint64N(fn.size-1)
	end := fn.addr + fn.size
	fn.rows = slices.DeleteFunc(fn.rows, func(r *row) bool { return r.addr >= end })
	for _, r := range fn.rows {
		r.size = min(r.size, end-r.addr)
	}
	fn.inlines = slices.DeleteFunc(fn.inlines, func(in *inline) bool {
		in.ranges = slices.DeleteFunc(in.ranges, func(x span) bool { return x.addr >= end })
		for i := range in.ranges {
			in.ranges[i].size = min(in.ranges[i].size, end-in.ranges[i].addr)
		}
		return len(in.ranges) == 0
	})
	return fmt.Sprintf("%s: %d bytes", fn.name, fn.size)
}

func functionsMerged(f *file) string {
	if len(f.funcs) < 2 {
		return ""
	}
	i := f.random.IntN(len(f.funcs) - 1)
	a, b := f.funcs[i], f.funcs[i+1]
	a.size = b.addr + b.size - a.addr
	a.inlines, a.rows = append(a.inlines, b.inlines...), append(a.rows, b.rows...)
	f.funcs = slices.Delete(f.funcs, i+1, i+2)
	return fmt.Sprintf("%s: with %s", a.name, b.name)
}

func functionsMoved(f *file) string {
	fn, ok := pick(f, f.funcs, every)
	if !ok {
		return ""
	}
	by := 4 * (1 + f.random.Uint64N(4))
	fn.move(by)
	return fmt.Sprintf("%s: %d bytes higher", fn.name, by)
}

// move adds a distance to all addresses of a function.
func (fn *function) move(by uint64) {
	fn.addr += by
	for _, r := range fn.rows {
		r.addr += by
	}
	for _, in := range fn.inlines {
		for i := range in.ranges {
			in.ranges[i].addr += by
		}
	}
}

func functionsTwice(f *file) string {
	if len(f.funcs) == 0 {
		return ""
	}
	i := f.random.IntN(len(f.funcs))
	f.funcs = slices.Insert(f.funcs, i, f.funcs[i])
	return f.funcs[i].name + ": twice"
}

func namesSwapped(f *file) string {
	a, ok := pick(f, f.funcs, every)
	if !ok {
		return ""
	}
	b, ok := pick(f, f.funcs, func(fn *function) bool { return fn.name != a.name })
	if !ok {
		return ""
	}
	a.name, b.name = b.name, a.name
	return fmt.Sprintf("%s and %s: swapped", a.name, b.name)
}

// escapes are what tools make of names: of pages, and of addresses.
var escapes = []*strings.Replacer{
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;"),
	strings.NewReplacer("<", "%3C", ">", "%3E", "(", "%28", ")", "%29", " ", "%20", ":", "%3A"),
	strings.NewReplacer("<", `\x3c`, ">", `\x3e`, "_", `\x5f`),
}

func namesEscaped(f *file) string {
	by := escapes[f.random.IntN(len(escapes))]
	changed := 0
	for _, fn := range f.funcs {
		name := by.Replace(fn.name)
		if name != fn.name {
			changed++
		}
		fn.name = name
	}
	if changed == 0 {
		return ""
	}
	return fmt.Sprintf("%d names escaped", changed)
}

func namesGeneric(f *file) string {
	fn, ok := pick(f, f.funcs, every)
	if !ok {
		return ""
	}
	was := fn.name
	fn.name = fmt.Sprintf("FUN_%08x", fn.addr)
	return fmt.Sprintf("%s: %s", was, fn.name)
}

// calling returns the functions with INLINE records.
func calling(fn *function) bool { return len(fn.inlines) > 0 }

func inlinesLost(f *file) string {
	fn, ok := pick(f, f.funcs, calling)
	if !ok {
		return ""
	}
	all := 0
	for _, fn := range f.funcs {
		all += len(fn.inlines)
	}
	i := f.random.IntN(len(fn.inlines))
	end := i + 1
	for end < len(fn.inlines) && fn.inlines[end].depth > fn.inlines[i].depth {
		end++ // the calls in the call
	}
	if all == end-i {
		return "" // a file without any is not wrong: dump_syms writes calls on request
	}
	fn.inlines = slices.Delete(fn.inlines, i, end)
	return fmt.Sprintf("%s: %d calls lost", fn.name, end-i)
}

func inlinesSwapped(f *file) string {
	used := map[string]bool{}
	for _, fn := range f.funcs {
		for _, in := range fn.inlines {
			used[fmt.Sprint(in.origin)] = true
		}
	}
	return f.swap(f.calls, used)
}

func inlinesFromAnotherLine(f *file) string {
	fn, ok := pick(f, f.funcs, calling)
	if !ok {
		return ""
	}
	in := fn.inlines[f.random.IntN(len(fn.inlines))]
	in.line += 1 + f.random.IntN(100)
	return fmt.Sprintf("%s: a call from line %d", fn.name, in.line)
}

func inlinesOutside(f *file) string {
	fn, ok := pick(f, f.funcs, calling)
	if !ok {
		return ""
	}
	in := fn.inlines[f.random.IntN(len(fn.inlines))]
	last := &in.ranges[len(in.ranges)-1]
	last.size = fn.addr + fn.size - last.addr + 1 + f.random.Uint64N(16)
	return fmt.Sprintf("%s: a call of %d bytes at %#x", fn.name, last.size, last.addr)
}

func inlinesCut(f *file) string {
	leaf := func(fn *function, i int) bool {
		in := fn.inlines[i]
		return in.ranges[0].size >= 2 && (i+1 == len(fn.inlines) || fn.inlines[i+1].depth <= in.depth)
	}
	leaves := func(fn *function) (at []int) {
		for i := range fn.inlines {
			if leaf(fn, i) {
				at = append(at, i)
			}
		}
		return at
	}
	fn, ok := pick(f, f.funcs, func(fn *function) bool { return len(leaves(fn)) > 0 })
	if !ok {
		return ""
	}
	at := leaves(fn)
	r := &fn.inlines[at[f.random.IntN(len(at))]].ranges[0]
	r.size = 1 + f.random.Uint64N(r.size-1)
	return fmt.Sprintf("%s: a call of %d bytes at %#x", fn.name, r.size, r.addr)
}
