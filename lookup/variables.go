package lookup

import (
	"cmp"
	"fmt"

	"symkit/internal/dwarfx"
	"symkit/internal/mem"
)

// Variable is a parameter or a local variable of a function.
type Variable struct {
	// Function is the name in the source of the function that has the variable, which may be inlined.
	Function string
	Name     string
	// File and Line are where the variable is declared, "" and 0 if that is not known.
	File string
	Line uint32
	// Offset is how many bytes the variable is above the base of the frame, or below it, if OnFrame: the address, or the
	// value of the register, that DW_AT_frame_base of the function gives.
	Offset  int64
	OnFrame bool
	// Size is in bytes, if HasSize.
	Size    uint64
	HasSize bool
	// Tag is how far the tag of the variable's memory is from that of the frame, if HasTag: in programs of clang
	// -fsanitize=hwaddress.
	Tag    uint64
	HasTag bool
}

// Variables appends to dst the parameters and local variables of the function that a virtual address is in, with those
// of the functions that are inlined there; of an address in an inlined call, those of the call. Only DWARF has them. An
// error is about damage; dst then has what could be read.
func (f *File) Variables(dst []Variable, addr uint64) ([]Variable, error) {
	if f.image == nil {
		return dst, nil
	}
	return f.image.variables(dst, addr)
}

func (x *module) variables(dst []Variable, addr uint64) ([]Variable, error) {
	u, root, err := x.unitAt(addr)
	if u == nil {
		return dst, err
	}
	die := u.dieAt(addr)
	if die == 0 {
		return dst, err
	}
	d := x.workers.Get().(*decoder)
	defer x.workers.Put(d)
	guarded := mem.Guard(func() (damage error) {
		x.units.RLock()
		defer x.units.RUnlock()
		d.pkg = x.pkg
		dst, damage = d.variables(dst, root, u, die, addr)
		return damage
	})
	if guarded != nil {
		err = fmt.Errorf("%s: %w", x.image.DWARF().Path(), guarded)
	}
	return dst, err
}

// variables appends the variables of the function at die. u is root, decoded.
func (d *decoder) variables(dst []Variable, root *dwarfx.Unit, u *unit, die dwarfx.Ref, addr uint64) ([]Variable, error) {
	d.paid, d.over, d.other = 0, nil, nil
	in, err := d.described(root)
	if in == nil {
		return dst, err
	}
	locals, damage := d.locals.Read(nil, in, die, addr)
	for i := range locals {
		l := &locals[i]
		v := Variable{textOf(l.Func), textOf(l.Name), "", l.Decl.Line, l.Offset, l.OnFrame, l.Size, l.HasSize, l.Tag, l.HasTag}
		switch {
		case l.Decl.Unit == nil:
		case l.Decl.Unit != in && l.Decl.Unit != root:
			t := d.filesOf(l.Decl.Unit)
			dir, name, _ := t.table.File(l.Decl.File)
			v.File = textOf(appendPath(nil, t.base, dir, name))
			damage = cmp.Or(damage, d.pay(uint64(len(v.File))))
		default:
			v.File = pathOf(u.files, l.Decl.File)
		}
		dst = append(dst, v)
		if d.over != nil {
			break
		}
	}
	return dst, cmp.Or(damage, err)
}

// textOf returns a name or a path, cut if it is too long.
func textOf(text []byte) string { return string(text[:min(len(text), maxName)]) }
