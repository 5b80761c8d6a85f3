// Package source has the text of source files: those that compilers embedded in ELF files, and those below directories;
// and writes them as a bundle in Sentry's format.
//
//	dirs, err := source.Open([]source.Dir{{Prefix: "/build", Dir: "/home/me/src"}})
//	if err != nil {
//		return err
//	}
//	defer dirs.Close()
//	text, err := dirs.Text("/build/app.c")
package source
