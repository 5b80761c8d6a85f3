// Package rank says which of two symbol files of one module is better: a symbol server is sent several files
// with one debug id, by other tools, of stripped and unstripped files, and can keep one.
//
//	ours, err := rank.Of(ctx, sym)
//	if err != nil {
//		return err
//	}
//	theirs, err := rank.Of(ctx, sent)
//	if err != nil {
//		return err
//	}
//	if sign, why := ours.Compare(theirs); sign < 0 {
//		fmt.Println("replaced: " + why)
//	}
//
// A Rank counts what the file says about the code, not whether this is true: a file that claims more wins. Package
// lint refuses files whose records contradict each other, package check those that the ELF file refutes; files
// are ranked after that. The points are explained in docs/design.md, "Which of two symbol files is better".
package rank
