package frames

import (
	"debug/elf"
	"errors"

	"symkit/located"
	"symkit/sframe"
)

var errNoSFrame = errors.New("this machine has none")

// sframe returns the SFrame FDEs whose code is in the file.
func (x *lister) sframe() (entries []Entry) {
	sec := x.img.Section(".sframe")
	if sec == nil {
		return nil
	}
	path := sec.File().Path()
	abi, ok := sframe.ABIOf(sec.File().Machine, sec.File().BigEndian)
	if !ok {
		x.lost.AddIn(path, &located.Error{Section: ".sframe", Err: errNoSFrame})
		return nil
	}
	data, err := sec.Data()
	if err != nil {
		x.lost.Add(err)
		return nil
	}

	s, _ := sframe.Parse(data, sframe.Options{
		Addr: sec.Addr, ABI: abi, Relocatable: sec.File().Type == elf.ET_REL, Segment: sec.Index < 0, Limits: x.opt.Limits, FileSize: x.img.Size(),
	})
	for _, err := range s.Damage {
		x.lost.AddIn(path, err)
	}

	// There is one chunk unless a linker that does not know the format joined several.
	x.table.SFrame = s
	bad := 0 // FDEs side by side that are damaged
	for i := range s.Chunks {
		for fde, err := range s.Chunks[i].FDEs() {
			if err == nil {
				err = x.take(".sframe", uint64(fde.Offset))
			}
			if x.stops(path, err, &bad) {
				return entries
			}
			if err == nil && fde.Size > 0 && x.isCode(fde.Start) {
				entries = append(entries, Entry{fde.Start, fde.End(), sframePlace(i, fde.Index), SFrame, fde.Signal})
			}
		}
	}
	return entries
}

// TooManyRows returns the error of an FDE, at an offset of .sframe, that has more rows than MaxRows.
func (t *Table) TooManyRows(at int) error {
	return &located.Error{Section: ".sframe", Offset: at, Err: t.tooMany}
}
