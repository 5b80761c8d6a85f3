// Package records compares all records of modules: functions, lines and inlined
// calls with debug/dwarf, unwind rules with readelf. All other
// files carry the build tag oracle.
package records
