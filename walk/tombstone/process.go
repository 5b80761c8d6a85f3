package tombstone

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"

	"symkit/elfx/identity"
	"symkit/internal/quantity"
	"symkit/walk"
)

// Process returns the crashed process of a tombstone, ready to be walked: its threads with the frames that the tombstone
// lists, its memory and modules. The process's Warnings list the lost parts.
func (s *Tombstone) Process() *walk.Process {
	s.CPU = cmp.Or(s.CPU, s.pathsCPU())
	p := &walk.Process{
		OS: "Android", OSVersion: s.Build, CPU: cmp.Or(s.CPU, "unknown"), PID: s.PID, Name: s.Name, Crashed: -1,
		Facts: walk.Facts{Assertion: s.Abort},
	}
	for _, l := range s.Losses {
		p.Warnings = append(p.Warnings, l.Error())
	}
	if s.Lost > len(s.Losses) {
		p.Warnings = append(p.Warnings, quantity.Number(s.Lost-len(s.Losses))+" more records are damaged")
	}
	if s.Signal != 0 && len(s.Threads) > 0 {
		p.Crashed = 0
		p.Crash = walk.Crash{Signal: s.Signal, Code: s.Code, Reason: walk.LinuxReason(s.Signal, s.Code, s.HasCode),
			Address: s.Address, HasAddress: s.HasFault && walk.LinuxFault(s.Signal, s.Code)}
	}

	p.Memory = s.memoryOf()
	maps := slices.Clone(s.Mappings)
	slices.SortStableFunc(maps, func(a, b Mapping) int { return cmp.Compare(a.Begin, b.Begin) })
	for i := range maps {
		if i > 0 {
			p.Mappings[i-1].End = min(p.Mappings[i-1].End, maps[i].Begin)
		}
		p.Mappings = append(p.Mappings, maps[i].Mapping)
	}
	x := &modules{stone: s, p: p, maps: maps, known: map[moduleKey]*module{}, sizes: map[moduleKey]uint64{}, begins: map[string]uint64{}}
	x.add()
	for i := range s.Threads {
		t := &s.Threads[i]
		out := walk.Thread{ID: t.ID, Name: t.Name, Regs: t.Regs, NoRegs: !t.HasPC}
		for k := range t.Frames {
			out.Listed = append(out.Listed, x.listed(t, k))
		}
		p.Threads = append(p.Threads, out)
	}
	if len(x.invented) > 0 {
		p.Warnings = append(p.Warnings, "the tombstone has no mappings of "+x.names()+": the addresses there count from an address that is made up")
	}
	p.SortModules()
	return p
}

// pathsCPU returns the CPU that the paths of the modules show: ".../lib/arm64/libx.so", "split_config.arm64_v8a.apk". It
// returns "" for none: Google Play and ndk-stack do not say which CPU a tombstone is of.
func (s *Tombstone) pathsCPU() string {
	for i := range s.Threads {
		for _, f := range s.Threads[i].Frames {
			m := pathCPU().FindStringSubmatch(f.Module)
			if m != nil {
				return cpuOf(m[1])
			}
		}
	}
	return ""
}

// memory is the memory that all threads have: ranges by address, without overlaps.
type memory []Range

// Bytes implements walk.Memory.
func (m memory) Bytes(addr, n uint64) []byte {
	i := sort.Search(len(m), func(i int) bool { return m[i].Base > addr }) - 1
	if i < 0 {
		return nil
	}
	off, size := addr-m[i].Base, uint64(len(m[i].Data))
	if off > size || n > size-off {
		return nil
	}
	return m[i].Data[off:][:n:n]
}

// memoryOf joins the memory of the threads. Of ranges that overlap, the first one counts.
func (s *Tombstone) memoryOf() (out memory) {
	var all []Range
	for i := range s.Threads {
		all = append(all, s.Threads[i].Memory...)
	}
	slices.SortStableFunc(all, func(a, b Range) int { return cmp.Compare(a.Base, b.Base) })
	for _, r := range all {
		n := len(out)
		if n == 0 || r.Base > out[n-1].Base+uint64(len(out[n-1].Data)) {
			out = append(out, Range{r.Base, bytes.Clone(r.Data)})
			continue
		}
		last := &out[n-1]
		known := last.Base + uint64(len(last.Data)) - r.Base
		if known < uint64(len(r.Data)) {
			last.Data = append(last.Data, r.Data[known:]...)
		}
	}
	return out
}

// moduleKey distinguishes the modules that frames name.
type moduleKey struct {
	path   string
	offset uint64
	id     string
}

// module is a module with the address that its file's virtual addresses are relative to.
type module struct {
	*walk.Module
	bias uint64
}

// modules makes the modules of a process.
type modules struct {
	stone    *Tombstone
	p        *walk.Process
	maps     []Mapping // by address
	known    map[moduleKey]*module
	mapped   []*module
	invented []*module // which the mappings lack
	next     uint64    // address of the next one
	sizes    map[moduleKey]uint64
	begins   map[string]uint64 // where mappings begin, by their names; 0: several have the name
}

// pathCPU finds the name of a CPU in the path of a module.
var pathCPU = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:/(?:lib|oat)/|split_config\.)(arm64|arm|x86_64|x86|riscv64)`)
})

// separator is between the path of an APK and the name of a library, as libunwindstack writes both.
const separator = "!"

// add makes modules of the mappings: of each file from where it begins, of a library in an APK from the offset that a
// frame has, or that follows from the mappings.
func (x *modules) add() {
	type start struct {
		path   string
		offset uint64
	}
	starts := map[start]*Frame{}
	for i := range x.stone.Threads {
		for k := range x.stone.Threads[i].Frames {
			f := &x.stone.Threads[i].Frames[k]
			path, _, _ := strings.Cut(f.Module, separator)
			starts[start{path, f.Offset}] = f
			key := moduleKey{f.Module, f.Offset, string(f.BuildID)}
			x.sizes[key] = max(x.sizes[key], f.PC)
		}
	}
	var m *module
	var wrote bool
	for i := range x.maps {
		e := &x.maps[i]
		_, several := x.begins[e.Path]
		x.begins[e.Path] = e.Begin - e.Offset
		if several {
			x.begins[e.Path] = 0
		}
		if e.Path == "" || strings.HasPrefix(e.Path, "[") && e.Path != "[vdso]" {
			continue
		}
		f := starts[start{e.Path, e.Offset}]
		begins := e.Offset == 0 || f != nil
		if m != nil && m.Version == executes && m.Offset == e.Offset && !e.Execute {
			begins = false // a file of one page has its data there, too
		}
		if m == nil || m.Path != e.Path || begins || e.Offset < m.Offset || wrote && !e.Write || e.Begin-m.End > maxGap {
			m = &module{Module: &walk.Module{Path: e.Path, Base: e.Begin, Bias: e.Begin, Offset: e.Offset, Order: i}, bias: e.Begin}
			if f != nil {
				m.BuildID = f.BuildID
			}
			x.mapped = append(x.mapped, m)
		}
		m.End, wrote = e.End, e.Write
		if m.BuildID == nil {
			m.BuildID = e.BuildID
		}
		if e.Execute && m.Version != executes {
			m.Version = executes
			if e.LoadBias != 0 {
				m.bias = e.Begin - (e.Offset - m.Offset) - e.LoadBias // where address 0 of the file is
			}
		}
	}
	for _, m := range x.mapped {
		f := starts[start{m.Path, m.Offset}]
		if m.Version != executes && f == nil {
			continue
		}
		m.Version = ""
		path := m.Path
		if f != nil {
			path = f.Module
		}
		x.finish(m, path)
	}
}

// executes marks a module with code while modules are made.
const executes = "x"

// maxGap bounds the distance of the segments of a file.
const maxGap = 1 << 16

// finish gives a module its names and adds the module to the process.
func (x *modules) finish(m *module, path string) {
	m.Path = path
	m.Name = m.File()
	m.DebugFile, m.Bias = m.Name, m.bias
	if m.BuildID != nil {
		m.DebugID = identity.ModuleID(m.BuildID, false)
	}
	x.p.Modules = append(x.p.Modules, m.Module)
	x.known[moduleKey{path, m.Offset, ""}] = m
}

// listed returns frame k of a thread.
func (x *modules) listed(t *Thread, k int) walk.ListedFrame {
	f := &t.Frames[k]
	out := walk.ListedFrame{PC: f.Address, Func: f.Func, Offset: f.FuncOffset}
	m := x.of(t, k)
	if out.PC == 0 && m != nil {
		out.PC = m.bias + f.PC
	}
	if out.PC == 0 {
		out.PC = x.anonymous(f)
	}
	return out
}

// anonymous returns the address of a frame outside of all files: relative to its mapping, or to nothing.
func (x *modules) anonymous(f *Frame) uint64 {
	var begin uint64
	if _, err := fmt.Sscanf(f.Module, "<anonymous:%x>", &begin); err == nil {
		return begin + f.PC
	}
	return x.begins[f.Module] + f.PC
}

// of returns the module of frame k of a thread, or nil if the frame is in no file.
func (x *modules) of(t *Thread, k int) *module {
	f := &t.Frames[k]
	if !strings.HasPrefix(f.Module, "/") && strings.ContainsAny(f.Module, "<[ ") || f.Module == "" {
		return nil
	}
	m := x.known[moduleKey{f.Module, f.Offset, ""}]
	if m != nil && (f.BuildID == nil || m.BuildID == nil || bytes.Equal(f.BuildID, m.BuildID)) {
		return m
	}
	key := moduleKey{f.Module, f.Offset, string(f.BuildID)}
	m = x.known[key]
	if m == nil {
		m = x.invent(t, k)
		x.known[key] = m
	}
	return m
}

// invent makes a module that the mappings lack. If the registers have the program counter of the frame, it shows where the
// module is; otherwise the module has an address of its own.
func (x *modules) invent(t *Thread, k int) *module {
	f := &t.Frames[k]
	const page = 1 << 12
	size := (min(x.sizes[moduleKey{f.Module, f.Offset, string(f.BuildID)}], 1<<40) + 2*page - 1) &^ (page - 1)
	if x.next == 0 {
		x.next = 1 << 30
		if x.stone.CPU == "arm64" || x.stone.CPU == "x86_64" || x.stone.CPU == "riscv64" {
			x.next = 1 << 44
		}
	}
	base := x.next
	pc := t.Regs.PC - f.PC
	if x.stone.CPU == "arm" {
		pc &^= 1 // Thumb
	}
	if k == 0 && t.HasPC && pc%page == 0 && t.Regs.PC > f.PC {
		base = pc
	} else {
		x.next += size + 1<<20
	}
	m := &module{Module: &walk.Module{Base: base, End: base + size, Offset: f.Offset, BuildID: f.BuildID, Order: len(x.p.Modules)}, bias: base}
	x.finish(m, f.Module)
	if base != pc {
		x.invented = append(x.invented, m)
	}
	return m
}

// names lists the modules that the mappings lack.
func (x *modules) names() string {
	seen := map[string]bool{}
	var names []string
	for _, m := range x.invented {
		if !seen[m.Name] {
			names = append(names, m.Name)
		}
		seen[m.Name] = true
	}
	const most = 5
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " and " + quantity.Count(len(names)-most, "other", "others")
	}
	return strings.Join(names, ", ")
}
