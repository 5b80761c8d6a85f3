// Package rawdump writes the streams of a minidump as text, field by field, as rust-minidump's
// minidump-stackwalk --dump does, and Breakpad's minidump_dump before it. The text is for people
// who debug writers of minidumps.
//
//	file, err := os.ReadFile("crash.dmp")
//	if err != nil {
//		return err
//	}
//	return rawdump.Write(os.Stdout, file, rawdump.Options{Brief: true})
//
// The text has all fields, in the order of the file, of streams that are whole: a damaged list is
// left out, as rust-minidump leaves it out.
package rawdump
