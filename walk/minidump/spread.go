package minidump

import (
	"bytes"
	"cmp"
	"slices"
	"sort"

	"symkit/walk"
	"symkit/walk/internal/mdmp"
)

// A file that was linked for pages of 64 KiB has gaps between its segments in a process
// with pages of 4 KiB. Some writers (Breakpad's, rust-minidump's) make a module of each run
// of adjacent mappings: such a writer lists a later part of the file as a module of its
// own, or lists only that part. But the addresses of the file's symbols count from the
// beginning of the file. This beginning is found in the mappings of the process; that of
// the program is also found by AT_PHDR of the auxiliary vector.

// spread gives the parts of files their load address, and makes one module of
// the parts of one file.
func (b *builder) spread() {
	d := b.d
	if !d.System.OS.Linux() || len(b.p.Modules) == 0 {
		return
	}

	// Damage can change the order of the mappings.
	maps := slices.Clone(d.Maps)
	slices.SortStableFunc(maps, func(a, b mdmp.Mapping) int { return cmp.Compare(a.Begin, b.Begin) })

	b.split(maps)
	// A module takes the load address of its file, unless a module of another file is in
	// between.
	for _, m := range b.p.Modules {
		start, end, ok := b.fileAt(maps, m)
		if !ok {
			m.Offset = offsetIn(maps, m.Base)
		}
		if ok && !b.occupied(maps, m, start, m.Base) {
			if m.Base != start && bytes.HasPrefix(d.Memory.Bytes(m.Base, 4), []byte("\x7fELF")) {
				continue // a file in an archive
			}
			m.Base, m.Bias = start, start
			if end > m.End && !b.occupied(maps, m, m.End, end) {
				m.End = end
			}
		}
	}

	// Without /proc/PID/maps, only the auxiliary vector shows where the program begins.
	b.programHeaders()
	b.joinParts()
}

// fileAt finds the mappings of the file that m is a part of. start is where the file's first
// byte is mapped, end is the end of its last executable mapping. In between may only be
// mappings of the same file, and mappings without a file and without code.
func (b *builder) fileAt(maps []mdmp.Mapping, m *walk.Module) (start, end uint64, ok bool) {
	// m must begin inside a mapping of a file.
	i := sort.Search(len(maps), func(i int) bool { return maps[i].Begin > m.Base }) - 1
	if i < 0 || m.Base >= maps[i].End || !bytes.HasPrefix(maps[i].Path, []byte("/")) {
		return 0, 0, false
	}

	of := &maps[i]
	// Go back to the mapping of the file's first byte.
	for j := i; j >= 0 && !ok; j-- {
		e := &maps[j]
		switch {
		case sameFile(e, of) && e.Offset == 0:
			start, ok = e.Begin, true
		case sameFile(e, of) && e.Offset <= of.Offset, padding(e):
		default:
			return 0, 0, false
		}
	}
	if !ok || m.Base-start < of.Offset {
		return 0, 0, false
	}

	// Continue to the end of the last executable mapping.
	for i := range maps[i:] {
		e := &maps[i]
		switch {
		case sameFile(e, of) && e.Offset >= of.Offset:
			if e.Execute {
				end = e.End
			}
		case padding(e):
		default:
			return start, end, true
		}
	}
	return start, end, true
}

// offsetIn returns the offset of an address in the file that is mapped there: of a library in an APK. It returns 0 if
// there is no file.
func offsetIn(maps []mdmp.Mapping, addr uint64) uint64 {
	e := mappingAt(maps, addr)
	if e == nil {
		return 0
	}
	return e.Offset + addr - e.Begin
}

// sameFile reports whether two mappings are of the same file.
func sameFile(m, other *mdmp.Mapping) bool {
	return m.Inode == other.Inode && m.Major == other.Major && m.Minor == other.Minor && bytes.Equal(m.Path, other.Path)
}

// padding reports whether a mapping can lie between the segments of a file.
func padding(m *mdmp.Mapping) bool { return len(m.Path) == 0 && !m.Execute }

// occupied reports whether a module of another file than m is between two
// addresses.
func (b *builder) occupied(maps []mdmp.Mapping, m *walk.Module, from, to uint64) bool {
	return slices.ContainsFunc(b.p.Modules, func(o *walk.Module) bool {
		return o != m && o.Base < to && o.End > from && !sameBuild(o, m) && !isPart(maps, o, m)
	})
}

// isPart reports whether a module without a build id is a part of the file that another module is of: the writer finds
// the build id in the first part alone.
func isPart(maps []mdmp.Mapping, a, b *walk.Module) bool {
	of, other := mappingAt(maps, a.Base), mappingAt(maps, b.Base)
	return (a.BuildID == nil || b.BuildID == nil) && of != nil && other != nil && sameFile(of, other)
}

// mappingAt returns the mapping of a file at an address, or nil.
func mappingAt(maps []mdmp.Mapping, addr uint64) *mdmp.Mapping {
	i := sort.Search(len(maps), func(i int) bool { return maps[i].Begin > addr }) - 1
	if i < 0 || addr >= maps[i].End || !bytes.HasPrefix(maps[i].Path, []byte("/")) {
		return nil
	}
	return &maps[i]
}

// split makes modules of the libraries in one APK that the writer took for one because their mappings are adjacent
// (rust-minidump's): the next library begins after writable mappings of the file, with one that is neither writable nor
// has code. Its identity is unknown.
func (b *builder) split(maps []mdmp.Mapping) {
	left := len(maps) + len(b.p.Modules) // the mappings of modules that do not overlap
	for _, m := range slices.Clone(b.p.Modules) {
		i := sort.Search(len(maps), func(i int) bool { return maps[i].Begin > m.Base }) - 1
		if i < 0 || maps[i].Offset == 0 || mappingAt(maps, m.Base) == nil {
			continue
		}
		wrote, end, of := false, m.End, &maps[i]
		for j := i; j < len(maps) && maps[j].Begin < end && left > 0; j++ {
			left--
			e := &maps[j]
			if !sameFile(e, of) {
				continue
			}
			if wrote && !e.Write && !e.Execute {
				m.End = e.Begin
				m = &walk.Module{Path: string(e.Path), Base: e.Begin, Bias: e.Begin, End: end, Order: len(b.p.Modules)}
				m.Name = m.File()
				b.p.Modules = append(b.p.Modules, m)
			}
			wrote = e.Write
		}
	}
}

func sameBuild(a, b *walk.Module) bool {
	return a.BuildID != nil && bytes.Equal(a.BuildID, b.BuildID)
}

// programHeaders finds where the program itself begins, if the dump has no
// mappings: its program headers follow the ELF header (AT_PHDR; gABI, "ELF
// Header").
func (b *builder) programHeaders() {
	const atPHDR, maxSize = 3, 1 << 32
	header := uint64(52)
	if b.d.System.CPU.Wide() {
		header = 64
	}

	m := b.p.Main
	if len(b.d.Maps) > 0 || b.p.Entry < m.Base || b.p.Entry >= m.End {
		return
	}

	// The page with the headers must be just below the module, with no other module in
	// between.
	for key, v := range b.d.AuxV() {
		start := v - header
		if key == atPHDR && v > header && start&4095 == 0 && start < m.Base && m.Base-start < maxSize && !b.occupied(nil, m, start, m.Base) {
			m.Base, m.Bias = start, start
		}
	}
}

// joinParts makes one module of those that begin at the same address.
func (b *builder) joinParts() {
	first := map[uint64]*walk.Module{}
	b.p.Modules = slices.DeleteFunc(b.p.Modules, func(m *walk.Module) bool {
		// Modules with different build ids are different files, even at one address.
		have := first[m.Base]
		if have == nil || have.BuildID != nil && m.BuildID != nil && !sameBuild(have, m) {
			first[m.Base] = m
			return false
		}

		// The part that has the build id gives the module its identity.
		if have.BuildID == nil && m.BuildID != nil {
			have.BuildID, have.DebugID, have.ShownID, have.CodeID, have.Foreign = m.BuildID, m.DebugID, m.ShownID, m.CodeID, m.Foreign
		}
		if len(m.Path) < len(have.Path) { // Breakpad's adds DT_SONAME to that of a later part
			have.Path, have.Name, have.DebugFile = m.Path, m.Name, m.DebugFile
		}
		have.End = max(have.End, m.End)
		if b.p.Main == m {
			b.p.Main = have
		}
		return true
	})
}
