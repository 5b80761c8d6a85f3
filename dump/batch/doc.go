// Package batch dumps many modules into a symbol store.
//
// A Finder takes arguments and gives ELF files, from files, directories, archives and packages. Dump makes modules of
// them, each of the files with one build id, and shares the machine among the modules: as many are dumped at a time as
// are estimated to fit into a memory budget.
//
//	finder := batch.Finder{Recurse: true}
//	err := finder.Add(ctx, "build")
//	if err != nil {
//		return err
//	}
//	for result, err := range batch.Dump(ctx, &finder, symbols, batch.Options{}) {
//		if err != nil {
//			return err
//		}
//		log.Println(result.Record.Input, result.Record.Status)
//	}
//
// Modules depend on the files and their order alone. A Record is the outcome of one, a line of a manifest.
package batch
