// Package check tells whether a symbol file is right.
//
// Replay compares it with the ELF file it was made from. The truth is derived
// again, from debug/elf, debug/dwarf and the rows of packages cfi and sframe;
// DWARF expressions and the postfix of STACK CFI records are evaluated here,
// each by an evaluator of its own, on random registers and memories. Nothing
// of package dump is used, so that a mistake of the dumper cannot vouch for
// itself. Lint looks at a symbol file alone, Diff at two of them. All three
// give a Report: the same checks serve the command symcheck, dump_syms --check
// and the tests.
//
// What cannot be verified (inlined calls of split DWARF, a damaged table, an
// expression with an unknown operation) is counted as that, never passed over
// in silence.
package check
