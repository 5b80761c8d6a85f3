// Package check verifies symbol files. File compares a symbol file with the ELF file
// that it was made from, record by record. Package lint checks a symbol file alone,
// package diff compares two of them; all three return a report.Report.
//
//	program, _, err := companion.Open(ctx, []string{"app"}, companion.Search{})
//	if err != nil {
//		return err
//	}
//	defer program.Close()
//	rep, err := check.File(ctx, program.Image, sym, check.Options{Companions: program.Companions})
//	if err != nil {
//		return err
//	}
//	return rep.WriteText(os.Stdout, "app.sym")
//
// File reads the ELF file anew: DWARF with a reader that shares no code with the dumper's (tests
// compare this reader with debug/dwarf), Go's tables with debug/gosym, and unwind tables as the rows
// of packages cfi and sframe. The rules of STACK CFI records and the unwind tables are both evaluated
// on random registers and memory, by evaluators that share no code. Package check does not import
// package dump, so that a mistake of the dumper is found.
//
// The report counts the records that cannot be verified, because of a damaged table, a companion
// file that was not found, or an expression with an unknown operation.
package check
