package debuginfo

import (
	"context"
	"fmt"

	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/internal/dwarfx"
	"symkit/limits"
)

// Package is an opened .dwp file.
type Package struct {
	*dwarfx.Package
	Path string
	Size uint64 // in bytes
}

// OpenPackage reads the .dwp file among the companions, or returns nil if there is none that can be
// read. The errors have the path of the file.
func OpenPackage(ctx context.Context, jobs int, others *companion.Companions, lim limits.Limits) (pkg *Package, errs []error, err error) {
	f := others.OpenPackage()
	if f == nil {
		return nil, nil, nil
	}
	s, errs, err := ReadAll(ctx, jobs, f, ".dwo", lim)
	if err != nil {
		return nil, nil, err
	}

	// Without its index the package cannot be read.
	units, err := f.SectionData(".debug_cu_index")
	if err != nil {
		return nil, append(errs, err), nil
	}
	types, err := f.SectionData(".debug_tu_index")
	errs = append(errs, err)
	opened, err := dwarfx.OpenPackage(s, units, types)
	if err != nil {
		return nil, append(errs, fmt.Errorf("%s: %w", f.Path(), err)), nil
	}
	return &Package{opened, f.Path(), uint64(f.Size())}, errs, nil
}

// Split is the split unit of a skeleton, or nil if there is none, and the file that the split
// unit is in or should be in.
type Split struct {
	Unit *dwarfx.Unit
	File string
	Size uint64  // of a .dwo file; 0 in a package
	Errs []error // damage, without the path
}

// OpenSplit finds the split unit of skeleton u in pkg, which may be nil, or in a .dwo file among
// the companions, which may be nil.
func OpenSplit(u *dwarfx.Unit, pkg *Package, others *companion.Companions) (r Split) {
	if pkg != nil {
		unit, found, errs := pkg.OpenSplit(u)
		if found {
			return Split{unit, pkg.Path, 0, errs}
		}
	}

	// DW_AT_dwo_name is relative to DW_AT_comp_dir (DWARF 5 §3.1.2).
	name, _ := u.String(u.Split)
	r.File = string(name)
	if others == nil {
		return r
	}
	compDir, _ := u.String(u.CompDir)

	// A file that has another unit, such as one of a later build, does not count.
	var unit *dwarfx.Unit
	var errs []error
	f := others.OpenSplit(string(compDir), r.File, func(f *elfx.File) error {
		unit, errs = readSplit(u, f)
		if unit == nil {
			return errs[len(errs)-1]
		}
		return nil
	})
	if f != nil {
		r = Split{unit, f.Path(), uint64(f.Size()), errs}
	}
	return r
}

// readSplit finds the split unit of skeleton u in f, a .dwo file. If unit is nil, the
// last error is the reason.
func readSplit(u *dwarfx.Unit, f *elfx.File) (unit *dwarfx.Unit, errs []error) {
	s := dwarfx.Sections{BigEndian: f.BigEndian, FileSize: uint64(f.Size()), Locations: locations(f, ".dwo")}
	for _, section := range []Section{ // a list, so that the errors are in order
		{".debug_info.dwo", &s.Info}, {".debug_abbrev.dwo", &s.Abbrev}, {".debug_str.dwo", &s.Str},
		{".debug_str_offsets.dwo", &s.StrOffsets}, {".debug_rnglists.dwo", &s.RngLists}, {".debug_types.dwo", &s.Types},
	} {
		var err error
		*section.Data, err = f.SectionData(section.Name)
		if err != nil {
			errs = append(errs, err)
		}
	}
	unit, more := u.Data().OpenSplit(u, s)
	return unit, append(errs, more...)
}
