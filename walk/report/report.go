// Package report writes the stacks of a process: as text for people (Text), as a page
// (HTML), and as JSON in rust-minidump's schema (JSON). Package peers writes the texts of
// other walkers.
//
//	result, err := walk.Walk(ctx, process, supplier, walk.Options{Registers: true})
//	if err != nil {
//		return err
//	}
//	return report.Text(os.Stdout, result, report.TextOptions{})
package report
