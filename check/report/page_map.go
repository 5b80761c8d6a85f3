package report

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"symkit/internal/page"
)

// mapView is the map as the template draws it, and the tables beside it.
type mapView struct {
	Lanes     []laneView
	Tables    []partTable
	Functions int
	Left      int // functions that the page does not list
	Code      uint64
	Sections  int
	Holes     []holeView
}

// laneView is the strip of one class of records. Paths has an SVG path for each shade.
type laneView struct {
	Class, About string
	Covered      uint64
	Code         uint64
	Y            int
	Label        int // where the text of the lane is
	Shades       []shadeView
}

// shadeView is the columns of a strip of which a share is covered.
type shadeView struct {
	Level int // 0: nothing, 4: everything
	Path  string
}

// partView is a source file or a unit, with how much of its functions is not covered.
type partView struct {
	Name                     string
	Functions                int
	Size, Lines, Rules, Lost uint64 // bytes of code; those without lines, rules; without a FUNC
}

// partTable is the files or units with the largest holes, of Count that have any.
type partTable struct {
	Title string
	Parts []partView
	Count int
}

// holeView is a part of the code that no function covers.
type holeView struct {
	Range
	Size   uint64
	Before string // the function before
}

// pageData is the data of the script. Ranges are runs: the distance from the end of the last
// range, and the length.
type pageData struct {
	Version int       `json:"version"`
	Base    string    `json:"base"` // the base of all addresses
	Code    []uint64  `json:"code"`
	Classes []runs    `json:"classes"`
	Files   []string  `json:"files"`
	Units   []string  `json:"units"`
	Funcs   dataFuncs `json:"functions"`
}

// runs is the addresses that one class covers. Grain is the size of the largest gap that was
// closed because there were too many ranges.
type runs struct {
	Class string   `json:"class"`
	Runs  []uint64 `json:"runs"`
	Grain uint64   `json:"grain"`
}

// dataFuncs has a column for each value of the functions, by address. Addresses are distances from
// the function before.
type dataFuncs struct {
	Addr  []int64  `json:"addr"`
	Size  []uint64 `json:"size"`
	Name  []string `json:"name"`
	File  []int    `json:"file"`
	Unit  []int    `json:"unit"`
	Wrong []uint64 `json:"wrong"`
	Lost  []uint64 `json:"lost"`
	None  []int    `json:"none"` // indices of functions without a FUNC
}

// Limits of a module's data on a page.
const (
	maxFunctions = 120000
	maxNameBytes = 9 << 20 // of all names
	maxRuns      = 150000  // of one class
	maxParts     = 100     // rows of a table
)

// laneAbouts describe the strips.
var laneAbouts = map[string]string{"functions": "a function", "lines": "a source line", "inlines": "inlined calls", "cfi": "unwind rules"}

// newMap returns the data of the template, and that of the script.
func newMap(m *Map, coverage []Coverage) (*mapView, pageData) {
	v := &mapView{Sections: len(m.Code)}
	for _, x := range m.Code {
		v.Code += x.Hi - x.Lo
	}
	for i, c := range m.Covered {
		lane := laneView{Class: c.Class, About: laneAbouts[c.Class], Code: v.Code, Y: laneHeight * i, Label: laneHeight*i + laneHeight/2 + 3, Shades: shades(m.Code, c.Ranges, laneHeight*i)}
		if i < len(coverage) {
			lane.Covered, lane.Code = coverage[i].Covered, coverage[i].Code
		}
		v.Lanes = append(v.Lanes, lane)
	}

	v.parts(m)
	v.Holes = holes(m)
	return v, newData(m, v)
}

// newData returns the data of the script, within the limits.
func newData(m *Map, v *mapView) pageData {
	// Numbers of the script are exact below 2^53 only.
	base := uint64(0)
	if len(m.Code) > 0 {
		base = m.Code[0].Lo
	}
	d := pageData{Version: jsonVersion, Base: fmt.Sprintf("%#x", base), Code: encodeRuns(m.Code, base), Files: texts(m.Files), Units: texts(m.Units)}
	for _, c := range m.Covered {
		r, grain := coarse(c.Ranges)
		d.Classes = append(d.Classes, runs{c.Class, encodeRuns(r, base), grain})
	}

	// Of too many functions the largest are listed, and their names are cut if they are too long.
	funcs := m.Functions
	v.Functions = len(funcs)
	if len(funcs) > maxFunctions {
		v.Left = len(funcs) - maxFunctions
		funcs = slices.Clone(funcs)
		slices.SortStableFunc(funcs, func(a, b Function) int { return cmp.Compare(b.Hi-b.Lo, a.Hi-a.Lo) })
		funcs = funcs[:maxFunctions]
		slices.SortStableFunc(funcs, func(a, b Function) int { return cmp.Compare(a.Lo, b.Lo) })
	}

	longest := page.MaxText
	for longest > 16 && nameBytes(funcs, longest) > maxNameBytes {
		longest /= 2
	}

	last := base
	f := &d.Funcs
	f.None = []int{}
	for i := range funcs {
		x := &funcs[i]
		f.Addr = append(f.Addr, int64(x.Lo-last))
		last = x.Lo
		f.Size = append(f.Size, x.Hi-x.Lo)
		f.Name = append(f.Name, shortened(x.Name, longest))
		f.File, f.Unit = append(f.File, x.File), append(f.Unit, x.Unit)
		f.Wrong, f.Lost = append(f.Wrong, x.Wrong), append(f.Lost, x.Lost)
		if x.Missing {
			f.None = append(f.None, i)
		}
	}
	return d
}

// nameBytes returns the bytes of all names, each of at most longest.
func nameBytes(funcs []Function, longest int) (n int) {
	for i := range funcs {
		n += min(len(funcs[i].Name), longest)
	}
	return n
}

// shortened returns a name of at most n bytes, as pages show it.
func shortened(name string, n int) string {
	if len(name) <= n {
		return page.Text(name)
	}
	return page.Text(strings.ToValidUTF8(name[:n], "")) + "…"
}

// texts returns paths as pages show them. Too many long ones are cut.
func texts(names []string) []string {
	const most = 1 << 20 // bytes of all
	longest := page.MaxText
	for longest > 16 && textBytes(names, longest) > most {
		longest /= 2
	}
	out := make([]string, 0, len(names))
	for _, name := range names {
		out = append(out, shortened(name, longest))
	}
	return out
}

// textBytes returns the bytes of all texts, each of at most longest.
func textBytes(all []string, longest int) (n int) {
	for _, text := range all {
		n += min(len(text), longest)
	}
	return n
}

// coarse closes the smallest gaps between ranges until there are at most maxRuns.
func coarse(ranges []Range) (out []Range, grain uint64) {
	out = ranges
	for grain = 4; len(out) > maxRuns; grain *= 2 {
		joined := out[:0:0]
		for _, r := range out {
			if n := len(joined) - 1; n >= 0 && r.Lo-joined[n].Hi <= grain {
				joined[n].Hi = r.Hi
			} else {
				joined = append(joined, r)
			}
		}
		out = joined
	}
	if len(out) == len(ranges) {
		return out, 0
	}
	return out, grain / 2
}

// encodeRuns returns ranges as distances and lengths, from base. Addresses below base are left out.
func encodeRuns(ranges []Range, base uint64) []uint64 {
	out := make([]uint64, 0, 2*len(ranges))
	last := base
	for _, r := range ranges {
		r.Lo = max(r.Lo, last)
		if r.Hi <= r.Lo {
			continue
		}
		out = append(out, r.Lo-last, r.Hi-r.Lo)
		last = r.Hi
	}
	return out
}

// The strips: columns of code, without the gaps between sections.
const (
	columns    = 1000
	laneHeight = 26
	laneInner  = 20
	levels     = 4
)

// shades draws a strip: a path for each share of the columns that is covered.
func shades(code, covered []Range, y int) []shadeView {
	var all uint64
	for _, x := range code {
		all += x.Hi - x.Lo
	}
	if all == 0 {
		return nil
	}

	// The bytes that are covered in each column.
	var have [columns]float64
	each := float64(all) / columns
	pos := uint64(0)
	for _, x := range code {
		for k := sort.Search(len(covered), func(k int) bool { return covered[k].Hi > x.Lo }); k < len(covered) && covered[k].Lo < x.Hi; k++ {
			lo, hi := max(covered[k].Lo, x.Lo)-x.Lo+pos, min(covered[k].Hi, x.Hi)-x.Lo+pos
			spread(&have, float64(lo)/each, float64(hi)/each)
		}
		pos += x.Hi - x.Lo
	}

	// Columns of one shade beside each other are one rectangle.
	var paths [levels + 1]strings.Builder
	for i := 0; i < columns; {
		level := levelOf(have[i])
		n := 1
		for i+n < columns && levelOf(have[i+n]) == level {
			n++
		}
		fmt.Fprintf(&paths[level], "M%d %dh%dv%dh-%dz", i, y, n, laneInner, n)
		i += n
	}
	var out []shadeView
	for level := range paths {
		if paths[level].Len() > 0 {
			out = append(out, shadeView{level, paths[level].String()})
		}
	}
	return out
}

// spread adds the columns from lo to hi, which are fractions of columns, to have.
func spread(have *[columns]float64, lo, hi float64) {
	for i := int(lo); i < columns && float64(i) < hi; i++ {
		have[i] += min(hi, float64(i+1)) - max(lo, float64(i))
	}
}

// levelOf returns the shade of a column. The last one is for columns that are covered but for the
// bytes between functions, the first one for columns of which nothing is covered.
func levelOf(share float64) int {
	switch {
	case share < 0.001:
		return 0
	case share > 0.97:
		return levels
	}
	return min(levels-1, 1+int(share*(levels-1)))
}

// parts sets the tables of files and units.
func (v *mapView) parts(m *Map) {
	files, units := make([]partView, len(m.Files)), make([]partView, len(m.Units))
	for i, name := range m.Files {
		files[i].Name = name
	}
	for i, name := range m.Units {
		units[i].Name = name
	}

	lines, rules := classOf(m, "lines"), classOf(m, "cfi")
	for i := range m.Functions {
		f := &m.Functions[i]
		size := f.Hi - f.Lo
		add := func(p *partView) {
			p.Functions++
			p.Size += size
			p.Lines += size - within(lines, f.Range)
			p.Rules += size - within(rules, f.Range)
			if f.Missing {
				p.Lost += size
			}
		}
		if f.File >= 0 {
			add(&files[f.File])
		}
		if f.Unit >= 0 {
			add(&units[f.Unit])
		}
	}
	for _, t := range []struct {
		title string
		parts []partView
	}{{"Source files with holes", files}, {"Compilation units with holes", units}} {
		parts, count := largest(t.parts)
		v.Tables = append(v.Tables, partTable{t.title, parts, count})
	}
}

// largest returns the parts with holes, those with the most first, and how many there are.
func largest(parts []partView) ([]partView, int) {
	parts = slices.DeleteFunc(parts, func(p partView) bool { return p.Lines+p.Rules+p.Lost == 0 })
	holes := func(p *partView) uint64 { return p.Lines + p.Rules + p.Lost }
	slices.SortStableFunc(parts, func(a, b partView) int {
		return cmp.Or(cmp.Compare(holes(&b), holes(&a)), cmp.Compare(a.Name, b.Name))
	})
	return parts[:min(len(parts), maxParts)], len(parts)
}

// classOf returns the ranges of a class.
func classOf(m *Map, class string) []Range {
	for _, c := range m.Covered {
		if c.Class == class {
			return c.Ranges
		}
	}
	return nil
}

// within returns how many bytes of x are in ranges.
func within(ranges []Range, x Range) (n uint64) {
	for i := sort.Search(len(ranges), func(i int) bool { return ranges[i].Hi > x.Lo }); i < len(ranges) && ranges[i].Lo < x.Hi; i++ {
		n += min(ranges[i].Hi, x.Hi) - max(ranges[i].Lo, x.Lo)
	}
	return n
}

// holes lists the largest parts of the code that no function covers.
func holes(m *Map) (out []holeView) {
	covered := classOf(m, "functions")
	for _, x := range m.Code {
		lo := x.Lo
		for k := sort.Search(len(covered), func(k int) bool { return covered[k].Hi > x.Lo }); k < len(covered) && covered[k].Lo < x.Hi; k++ {
			if covered[k].Lo > lo {
				out = append(out, holeView{Range: Range{lo, covered[k].Lo}})
			}
			lo = covered[k].Hi
		}
		if lo < x.Hi {
			out = append(out, holeView{Range: Range{lo, x.Hi}})
		}
	}

	const most = 30
	slices.SortStableFunc(out, func(a, b holeView) int { return cmp.Compare(b.Hi-b.Lo, a.Hi-a.Lo) })
	out = out[:min(len(out), most)]
	for i := range out {
		out[i].Size = out[i].Hi - out[i].Lo
		k := sort.Search(len(m.Functions), func(k int) bool { return m.Functions[k].Lo >= out[i].Lo })
		if k > 0 {
			out[i].Before = m.Functions[k-1].Name
		}
	}
	return out
}
