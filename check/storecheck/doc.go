// Package storecheck checks all symbol files of a symbol store: a directory, a bucket, or a server.
//
//	for r, err := range storecheck.Check(ctx, "symbols", storecheck.Options{}) {
//		if err != nil {
//			return err
//		}
//		if r.Err != nil {
//			fmt.Println(r.File, r.Err)
//		} else if r.Bad() {
//			fmt.Println(r.File, r.Report.Total())
//		}
//	}
//
// Each file is read with package check/lint, and compared with its ELF file by package check where this is at hand: in
// the store itself, among Options.Files, in build-id directories, or at a server. The results are in the order of the
// files' names, however many are checked at the same time. A file that is damaged, or that unpacks to more than the limit
// unpacked-symbols allows, costs itself alone.
package storecheck
