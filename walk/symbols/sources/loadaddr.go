package sources

import (
	"debug/elf"

	"symkit/elfx"
	"symkit/walk"
)

// LoadAddresses corrects the load address of modules of which the dump lists only a later
// part. Some writers make such dumps of files with gaps between their segments.
// LoadAddresses is for dumps without the process's mappings: the program headers of the
// files on this machine show which part has the size of the module.
func (f *Files) LoadAddresses(p *walk.Process) {
	moved := false
	for _, m := range p.Modules {
		if m.Foreign || m.BuildID == nil || m.Image != nil {
			continue
		}
		file := f.Local(m)
		if file == nil {
			continue
		}
		// A module may only grow into free address space.
		before, ok := laterPart(file.Segments, m.End-m.Base)
		if !ok || before >= m.Base || between(p, m, m.Base-before, m.Base) {
			continue
		}
		m.Base -= before
		m.Bias, moved = m.Base-file.LoadAddress(), true
	}

	if moved {
		p.SortModules()
	}
}

// Bases corrects the base of the modules that the threads' listed frames are in. A dump that lists frames, as tombstones,
// has addresses relative to the address 0 of a file, which is not where the file's first segment is if the file was linked
// for another address.
func (f *Files) Bases(p *walk.Process) {
	seen := map[*walk.Module]bool{}
	for i := range p.Threads {
		for _, l := range p.Threads[i].Listed {
			m := p.ModuleAt(l.PC)
			if m == nil || m.BuildID == nil || seen[m] {
				continue
			}
			seen[m] = true
			file := f.Local(m)
			if file != nil && m.Bias+file.LoadAddress() < m.End {
				m.Base = m.Bias + file.LoadAddress()
			}
		}
	}
}

// between reports whether another module than m is between two addresses.
func between(p *walk.Process, m *walk.Module, from, to uint64) bool {
	for _, o := range p.Modules {
		if o != m && o.Base < to && o.End > from {
			return true
		}
	}
	return false
}

// laterPart finds the only run of segments with code that takes size bytes in memory, and
// the distance of the run from the first segment. It returns false if the run begins with
// the first segment or follows no gap.
func laterPart(segments []elfx.Segment, size uint64) (before uint64, ok bool) {
	const page, most = 4096, 64
	var loads []elfx.Segment
	for _, s := range segments {
		if s.Type == elf.PT_LOAD && len(loads) < most {
			loads = append(loads, s)
		}
	}

	begin := func(i int) uint64 { return loads[i].Vaddr &^ (page - 1) }
	end := func(i int) uint64 { return (loads[i].Vaddr + loads[i].Memsz + page - 1) &^ (page - 1) }
	// The module must be one run of segments, with code, and no other run may fit.
	found := -1
	for i := range loads {
		code := false
		for j := i; j < len(loads); j++ {
			code = code || loads[j].Flags&elf.PF_X != 0
			if end(j)-begin(i) != size || found == i || !code {
				continue
			}
			if found >= 0 {
				return 0, false
			}
			found = i
		}
	}

	if found <= 0 || begin(found) <= end(found-1) {
		return 0, false
	}
	return begin(found) - begin(0), true
}
