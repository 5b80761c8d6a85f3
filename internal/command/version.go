package command

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/alecthomas/kong"
)

// A release sets these variables with -ldflags "-X symkit/internal/command.version=v1.2.3". In other
// builds they are empty, and the version is the one that the go command recorded.
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

// Version returns the version of the program: that of the release, or the one that the go
// command recorded, which is the tag, the commit, or (devel).
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

// Date returns the date of the commit that the program was built of, or "" if it is unknown.
func Date() string {
	_, at := source()
	return at
}

// source returns the commit that the program was built of, and its date. Either may be empty.
func source() (from, at string) {
	from, at = commit, date
	info, ok := debug.ReadBuildInfo()
	if !ok || from != "" {
		return from, at
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			from = s.Value
		case "vcs.time":
			at = s.Value
		}
	}
	return from, at
}

// origin returns the commit, the version of Go and the target of the build, in
// parentheses: commit, date of the commit, version of Go, system. Unknown parts are left
// out.
func origin() string {
	from, at := source()
	text := "("
	if from != "" {
		text += "commit " + from[:min(len(from), 12)] + ", "
	}
	if at != "" {
		text += at + ", "
	}
	return text + fmt.Sprintf("%s, %s/%s)", runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
