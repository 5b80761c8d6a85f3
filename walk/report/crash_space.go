package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// The map of the address space has a strip for each cluster of regions: an address space
// is mostly empty, and the program, the libraries and the stacks are far from each other.
// The width of a region grows with the square root of its size, so that small modules can
// be seen beside large ones.

// clusterView is a strip of the map.
type clusterView struct {
	From, To string
	Regions  []regionView
	Dots     []dotView
}

// regionView is a rectangle. X and Width are in thousandths of the strip.
type regionView struct {
	From, To string
	Size     uint64
	Name     string
	Label    string // the part of the name that fits into the rectangle
	Kind     string // module, unloaded, stack, memory
	Middle   int
	X, Width int
	Frames   string // numbers of the crashed thread's frames
}

// dotView is a frame of the crashed thread.
type dotView struct {
	X     int
	First bool // the innermost frame
}

// region is a part of the address space.
type region struct {
	lo, hi     uint64
	name, kind string
	short      string // the name where there is little space
}

// Limits of the map.
const (
	maxClusters    = 8
	maxRegions     = 150 // of one cluster
	minClusterGap  = 16 << 20
	stripWidth     = 1000
	characterWidth = 7 // of a label, in thousandths of the strip
)

// space returns the map and the kinds of its regions. The map has modules, unloaded modules and stacks.
func (b *pageBuilder) space(regions []region) (out []clusterView, kinds []kindView) {
	if len(regions) == 0 {
		return nil, nil
	}

	// The gap that divides clusters grows until there are few clusters.
	gap := uint64(minClusterGap)
	clusters := clustersOf(regions, gap)
	for len(clusters) > maxClusters {
		gap *= 2
		clusters = clustersOf(regions, gap)
	}
	for _, c := range clusters {
		out = append(out, b.cluster(c))
	}
	return out, kindsOf(out)
}

// kindView is a colour of the map.
type kindView struct{ Class, Name string }

// kindsOf lists the colours that a map has.
func kindsOf(clusters []clusterView) (out []kindView) {
	has := map[string]bool{}
	for _, c := range clusters {
		for i := range c.Regions {
			r := &c.Regions[i]
			has[r.Kind] = true
			has["hot"] = has["hot"] || r.Frames != ""
		}
	}

	for _, k := range []kindView{{"hot", "module with frames of the crashed thread"}, {"module", "module"}, {"stack", "stack"}, {"unloaded", "unloaded module"}} {
		if has[k.Class] {
			out = append(out, k)
		}
	}
	return out
}

// regions lists modules and stacks by address.
func (b *pageBuilder) regions() (out []region) {
	p := b.r.Process
	for _, m := range p.Modules {
		if m.Base < m.End {
			out = append(out, region{lo: m.Base, hi: m.End, name: m.File(), kind: "module"})
		}
	}
	for i := range p.Facts.Unloaded {
		u := &p.Facts.Unloaded[i]
		if u.Base < u.End {
			out = append(out, region{lo: u.Base, hi: u.End, name: u.Name, kind: "unloaded"})
		}
	}

	// A stack reaches from the innermost frame to the outermost one, or is a mapping.
	seen := map[uint64]bool{}
	for i := range b.r.Stacks {
		s := &b.r.Stacks[i]
		if len(s.Frames) == 0 {
			continue
		}
		lo, hi := s.Frames[0].SP, s.Frames[len(s.Frames)-1].SP
		if m := p.MappingAt(lo); m != nil {
			lo, hi = m.Begin, m.End
		}
		if lo < hi && !seen[lo] && p.ModuleAt(lo) == nil {
			seen[lo] = true
			out = append(out, region{lo, hi, fmt.Sprintf("stack of thread %d", s.Thread.ID), "stack", fmt.Sprint(s.Thread.ID)})
		}
	}

	slices.SortStableFunc(out, func(a, b region) int { return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(b.hi, a.hi)) })
	return out
}

// clustersOf divides regions where more than gap bytes are between two.
func clustersOf(regions []region, gap uint64) (out [][]region) {
	var end uint64
	for i, r := range regions {
		if i == 0 || r.lo > end && r.lo-end > gap {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], r)
		end = max(end, r.hi)
	}
	return out
}

// cluster draws one strip.
func (b *pageBuilder) cluster(regions []region) clusterView {
	v := clusterView{From: b.json.hex(regions[0].lo), To: b.json.hex(regions[len(regions)-1].hi)}
	regions = regions[:min(len(regions), maxRegions)]
	var sum float64
	for _, r := range regions {
		sum += math.Sqrt(float64(r.hi - r.lo))
	}

	// Each region has a share of the strip, but a gap to the next one.
	const between, narrowest = 2, 3
	free := float64(stripWidth - (between+narrowest)*len(regions))
	x := 0
	for _, r := range regions {
		share := math.Sqrt(float64(r.hi-r.lo)) / sum
		w := narrowest + int(free*share)
		rv := regionView{From: b.json.hex(r.lo), To: b.json.hex(r.hi), Size: r.hi - r.lo, Name: r.name, Kind: r.kind, X: x, Width: w, Middle: x + w/2}
		rv.Label = cmp.Or(fitting(r.name, w), fitting(r.short, w))
		rv.Frames = b.dots(&v, r, x, w)
		v.Regions = append(v.Regions, rv)
		x += w + between
	}

	// The dot of the crash is drawn last, above those beside it.
	slices.SortStableFunc(v.Dots, func(a, b dotView) int { return cmp.Compare(rank(a), rank(b)) })
	return v
}

// rank orders dots: that of the innermost frame comes last.
func rank(d dotView) int {
	if d.First {
		return 1
	}
	return 0
}

// fitting returns the name if it fits into a rectangle.
func fitting(name string, width int) string {
	if (len(name)+1)*characterWidth > width {
		return ""
	}
	return name
}

// dots adds the crashed thread's frames that are in r, and returns their numbers.
func (b *pageBuilder) dots(v *clusterView, r region, x, width int) string {
	crashed := b.r.Crashed()
	if crashed < 0 || r.kind == "stack" {
		return ""
	}

	var numbers []int
	seen := map[int]bool{}
	for i := range b.r.Stacks[crashed].Frames {
		f := &b.r.Stacks[crashed].Frames[i]
		at := f.Lookup()
		if at < r.lo || at >= r.hi || f.Module == nil && r.kind == "module" {
			continue
		}
		numbers = append(numbers, i)
		dot := x + int(float64(width)*float64(at-r.lo)/float64(r.hi-r.lo))
		if !seen[dot] {
			seen[dot] = true
			v.Dots = append(v.Dots, dotView{dot, i == 0})
		}
	}
	return spans(numbers)
}

// spans writes ascending numbers with runs shortened: "0–3, 7".
func spans(numbers []int) string {
	var out strings.Builder
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}

		if out.Len() > 0 {
			out.WriteString(", ")
		}
		const most = 80 // characters
		if out.Len() > most {
			out.WriteString("…")
			break
		}
		fmt.Fprint(&out, numbers[i])
		if j > i {
			fmt.Fprintf(&out, "–%d", numbers[j])
		}
		i = j + 1
	}
	return out.String()
}
