// Package check verifies symbol files. Replay compares a symbol file with the ELF file
// that it was made from, record by record. Package lint checks a symbol file alone,
// package diff compares two of them; all three return a report.Report.
//
//	program, err := companion.OpenModule("app", companion.Places{})
//	if err != nil {
//		return err
//	}
//	defer program.Close()
//	rep, err := check.Replay(ctx, program.Image, sym, check.Options{Companions: program.Companions})
//	if err != nil {
//		return err
//	}
//	return rep.WriteText(os.Stdout, "app.sym")
//
// The truth is derived again, by debug/dwarf, debug/gosym and the rows of packages cfi and sframe.
// Rules of STACK CFI records and the unwind tables are both evaluated on random registers and
// memory, by evaluators that share no code. Nothing of package dump is used, so that a mistake of
// the dumper is found.
//
// What cannot be verified (inlined calls of split DWARF, a damaged table, an expression with an
// unknown operation) is counted in the report.
package check
