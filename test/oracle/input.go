//go:build oracle

package oracle

// Input is a module to dump: a file and, where it is separate, the file with
// its debug information.
type Input struct {
	Name        string
	Main, Debug string // paths; Debug may be empty
}

// Files returns the paths of the module's files.
func (in *Input) Files() []string {
	if in.Debug == "" {
		return []string{in.Main}
	}
	return []string{in.Main, in.Debug}
}

// DWARFFile returns the path of the file with the debug information.
func (in *Input) DWARFFile() string {
	if in.Debug != "" {
		return in.Debug
	}
	return in.Main
}
