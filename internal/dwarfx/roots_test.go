package dwarfx

import (
	"encoding/binary"
	"testing"
)

// TestSharedRootAbbreviation: thousands of units have their root's abbreviation after many
// others of one table, as type units do. The table is read once for all of them.
func TestSharedRootAbbreviation(t *testing.T) {
	const before, count = 100, 10_000
	var abbrevs []byte
	for code := range byte(before) {
		abbrevs = append(abbrevs, code+1, 0x34, 0) // a variable
		for range 10 {
			abbrevs = append(abbrevs, 0x03, 0x0e) // DW_AT_name, DW_FORM_strp
		}
		abbrevs = append(abbrevs, 0, 0)
	}
	abbrevs = append(abbrevs, before+1, 0x11, 0, 0x13, 0x0b, 0, 0, 0) // a unit: DW_AT_language, DW_FORM_data1

	var info []byte
	for range count {
		unit := []byte{4, 0, 0, 0, 0, 0, 8, before + 1, 0x04}
		info = append(binary.LittleEndian.AppendUint32(info, uint32(len(unit))), unit...)
	}
	d, errs := Open(Sections{Info: info, Abbrev: abbrevs}, NewCodeMap(nil))
	if len(errs) > 0 || len(d.Units) != count {
		t.Errorf("%d units, %d errors, the first: %v", len(d.Units), len(errs), errs[:min(len(errs), 1)])
	}
}
