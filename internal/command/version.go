package command

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/alecthomas/kong"
)

// What a release writes into its programs with -ldflags "-X symkit/internal/command.version=v1.2.3".
// In other builds these are empty, and what the go command recorded counts.
var (
	version string // as v1.2.3
	commit  string // of git, 40 digits
	date    string // of the commit, RFC 3339
)

// VersionFlag is the type of a flag without a value that prints the version.
type VersionFlag bool

// BeforeReset prints the version and exits. kong calls it as soon as it reads the flag.
func (VersionFlag) BeforeReset(app *kong.Kong) error {
	fmt.Fprintln(app.Stdout, app.Model.Name, Version(), origin())
	app.Exit(0)
	return nil
}

// Version returns the version of the program: of the release, or what the go command
// recorded, which is the tag or the commit, or (devel).
func Version() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

// origin returns what the program was built from and with, in parentheses: commit,
// date of the commit, version of Go, system. What is not known is left out.
func origin() string {
	from, at := commit, date
	if info, ok := debug.ReadBuildInfo(); ok && from == "" {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				from = s.Value
			case "vcs.time":
				at = s.Value
			}
		}
	}

	text := "("
	if from != "" {
		text += "commit " + from[:min(len(from), 12)] + ", "
	}
	if at != "" {
		text += at + ", "
	}
	return text + fmt.Sprintf("%s, %s/%s)", runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
