package dump

import (
	"debug/elf"
	"errors"
	"fmt"

	"symkit/internal/wire"
	"symkit/sframe"
)

var errNoSFrame = errors.New("this machine has none")

// SFrameUse says what .sframe is used for.
type SFrameUse uint8

const (
	// SFrameAuto: for PCs that DWARF does not describe, or not in a way that
	// STACK CFI can express; elsewhere the two are compared.
	SFrameAuto SFrameUse = iota
	// SFrameOnly: instead of DWARF.
	SFrameOnly
	// SFrameOff: for nothing.
	SFrameOff
)

// listSFrame returns the SFrame FDEs whose code is in the file.
func (d *dumper) listSFrame(t *frameTable) (frames []frame) {
	sec := d.img.Section(".sframe")
	if sec == nil {
		return nil
	}
	path := sec.File().Path()
	abi, ok := sframe.ABIOf(sec.File().Machine, sec.File().BigEndian)
	if !ok {
		t.stats.loss(fmt.Errorf("%s: %w", path, &wire.Error{Section: ".sframe", Err: errNoSFrame}))
		return nil
	}
	data, err := sec.Data()
	if err != nil {
		t.stats.loss(err)
		return nil
	}
	s, err := sframe.Parse(data, sframe.Options{
		Addr: sec.Addr, ABI: abi, Relocatable: sec.File().Type == elf.ET_REL, Segment: sec.Index < 0,
	})
	if err != nil {
		t.stats.loss(fmt.Errorf("%s: %w", path, err))
	}
	if s == nil {
		return nil
	}
	t.sframe = s
	for i := range s.Chunks {
		for fde, err := range s.Chunks[i].FDEs() {
			if err != nil {
				t.stats.loss(fmt.Errorf("%s: %w", path, err))
			} else if fde.Size > 0 && d.holdsCode(t, fde.Start) {
				frames = append(frames, frame{fde.Start, fde.End(), sframeAt(i, fde.Index), fromSFrame, fde.Signal})
			}
		}
	}
	return frames
}
