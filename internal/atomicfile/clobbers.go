package atomicfile

import (
	"fmt"
	"io"
	"os"
)

// Clobbers returns an error if the output is the same file as one of the inputs,
// by whatever name: replacing or truncating one would destroy the other. The
// output is the file at a path or, if that is "" or "-", stdout. Inputs that do
// not exist, and "", are skipped.
func Clobbers(output string, stdout io.Writer, inputs ...string) error {
	name, info := output, os.FileInfo(nil)
	if output == "" || output == "-" {
		name = "standard output"
		if f, ok := stdout.(*os.File); ok {
			info, _ = f.Stat()
		}
	} else {
		info, _ = os.Stat(output)
	}

	// Devices and pipes have no content that could be lost.
	if info == nil || !info.Mode().IsRegular() {
		return nil
	}

	for _, input := range inputs {
		if in, err := os.Stat(input); err == nil && os.SameFile(in, info) {
			return fmt.Errorf("%s: the output is the same file as the input %s; give it another name", name, input)
		}
	}
	return nil
}
