// Package microdump reads microdumps. Breakpad writes a microdump to the system's log if
// there is no place for a file: one record a line. The log can have other lines before and
// between those of a microdump, and several microdumps.
//
//	dumps, err := microdump.Decode(log)
//	if err != nil {
//		return err // no microdump
//	}
//	for _, d := range dumps {
//		res, err := walk.Walk(ctx, d.Process(), supplier, walk.Options{})
//		fmt.Println(res, err)
//	}
//
// A damaged record is lost alone; Dump.Losses has the place of the damage.
package microdump
