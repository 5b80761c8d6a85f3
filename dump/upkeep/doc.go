// Package upkeep lists the modules of a symbol store in a directory or a bucket, and removes old ones.
//
//	s, err := upkeep.Open(ctx, "symbols")
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	plan, err := s.Old(ctx, upkeep.Rule{Days: 90})
//	if err != nil {
//		return err
//	}
//	for m, err := range s.Remove(ctx, plan) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(m.Path, m.Outcome)
//	}
//
// Other processes may write into the store meanwhile. A module is removed as it was when the decision was made: if one of
// its files was stored since, it stays. Of the files of a module the symbol file is the last to go, so that a process that
// is killed leaves modules that are whole, or have fewer files beside their symbols; the next one removes the rest.
package upkeep
