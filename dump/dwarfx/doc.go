// Package dwarfx reads from DWARF 2 to 5 what a symbol file needs: functions,
// inlined calls, their address ranges and names, and line tables. It is built
// for speed: an abbreviation is compiled once into a short program, subtrees
// that hold nothing of interest are skipped, nothing is allocated per DIE, and the
// result of a unit is a few flat slices of offsets.
//
// A Data is opened once over the bytes of the sections; then every unit can be
// scanned on its own, by any number of goroutines.
//
// Addresses are virtual addresses of the file. Positions of DIEs (Ref) and of
// strings (Str) are section offsets.
package dwarfx
