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
// The truth is derived again, by a reader of DWARF that shares no code with the dumper's and is
// compared with debug/dwarf, by debug/gosym, and by the rows of packages cfi and sframe.
// Rules of STACK CFI records and the unwind tables are both evaluated on random registers and
// memory, by evaluators that share no code. Nothing of package dump is used, so that a mistake of
// the dumper is found.
//
// What cannot be verified (a damaged table, a companion file that was not found, an expression with
// an unknown operation) is counted in the report.
package check
