// Package dwarfx reads the parts of DWARF 2 to 5 that a symbol file needs: functions,
// inlined calls, their address ranges and names, and line tables. It is built for speed:
// an abbreviation is compiled once into a short program, subtrees without functions or
// scopes are skipped, nothing is allocated per DIE, and the result of a unit is a few
// flat slices of offsets.
//
// A Data is opened once over the bytes of the sections; then every unit can be
// scanned on its own, by any number of goroutines.
//
//	d, errs := dwarfx.Open(sections, dwarfx.NewCodeMap(code)) // damage loses a unit
//	var scan dwarfx.Scan
//	var namer dwarfx.Namer
//	for _, u := range d.Units {
//		if err := d.ScanUnit(u, true, &scan); err != nil {
//			errs = append(errs, err)
//		}
//		for _, f := range scan.Funcs {
//			names, err := namer.NameOf(d, f.DIE)
//			if err == nil {
//				fmt.Printf("%s at %#x\n", names.Name, scan.Ranges[f.Ranges.From].Lo)
//			}
//		}
//	}
//
// ReadUnits and Drop let units be read while .debug_info is still being inflated, and released
// before the end.
//
// Addresses are virtual addresses of the file. Positions of DIEs (Ref) and of
// strings (Str) are section offsets. Errors are *located.Error with the section and the
// offset in it, and the causes are the Err variables here and those of package located.
package dwarfx
