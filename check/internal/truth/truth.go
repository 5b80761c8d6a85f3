// Package truth derives what the MODULE record of an ELF file must say, and where its code lies.
// Nothing of package dump is used, so that a mistake there is found.
package truth

import (
	"fmt"
)

// Recovered turns a panic of a library into an error. A fault in the mapped
// file passes: elfx.Guard has to see it.
func Recovered(library string, r any) error {
	if _, ok := r.(interface{ Addr() uintptr }); ok {
		panic(r)
	}
	return fmt.Errorf("%s: %v", library, r)
}
