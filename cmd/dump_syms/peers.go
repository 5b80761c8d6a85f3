package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"symkit/internal/command"
)

// Scripts and plug-ins of build systems call dump_syms in place of Breakpad's and Mozilla's
// programs of the same name. A few flags of those programs have another meaning here, or
// take a value where the flag here has none. compatible recognizes these uses by the value;
// peerFlags are the flags that only those programs need.

// peerFlags are the flags of other programs that have no meaning here, or are about other files than ELF.
type peerFlags struct {
	NoXref       bool   `short:"r" name:"no-inter-cu-refs" help:"Accepted and ignored: references between units are always followed."`
	Arch         string `env:"-" empty:"" placeholder:"ARCH" help:"Accepted and ignored: an ELF file has one architecture. -a ARCH is the same."`
	SymbolServer string `name:"symbol-server" empty:"" placeholder:"SERVER" help:"Accepted and ignored: Windows' symbol servers have no ELF files. See DEBUGINFOD_URLS."`
	Type         string `short:"t" empty:"" placeholder:"TYPE" help:"Accepted and ignored: the type is read from the file."`

	DebugID  string `name:"debug-id" env:"-" hidden:""`
	CodeID   string `name:"code-id" env:"-" hidden:""`
	ListArch bool   `name:"list-arch" env:"-" hidden:""`
}

// validate rejects the flags about files that dump_syms does not read.
func (f *peerFlags) validate() error {
	switch {
	case f.DebugID != "" || f.CodeID != "":
		return errors.New("--debug-id and --code-id fetch PDB and PE files, which dump_syms does not read; give the path of an ELF file")
	case f.ListArch:
		return errors.New("--list-arch lists the parts of a fat Mach-O file, which dump_syms does not read; an ELF file has one architecture")
	}
	return nil
}

// architectures are the values that Mozilla's -a takes, by the names of package goblin.
var architectures = []string{
	"x86", "i386", "i486", "i686", "x86_64", "x86_64h", "arm", "armv5", "armv6", "armv7", "armv7f", "armv7k", "armv7s", "arm64", "arm64e",
	"arm64v8", "arm64_32", "ppc", "ppc64",
}

// systems are the values that Breakpad's -o is called with, in lower case.
var systems = []string{"linux", "android", "fuchsia", "chromeos", "nacl", "mac", "ios", "windows"}

// levels are the values of Mozilla's --verbose.
var levels = []string{"off", "error", "warn", "info", "debug", "trace"}

// compatible returns the arguments with each flag of Breakpad's or Mozilla's program alone
// rewritten: --verbose LEVEL as --verbose=LEVEL, -a ARCH as --arch, -o OS as --os, and -j
// without a number left out. A path such as ./Linux is never taken for a word.
func compatible(args []string) (out []string) {
	for len(args) > 0 && args[0] != "--" {
		used := 2
		flag, value := args[0], ""
		if len(args) > 1 {
			value = args[1]
		}

		switch {
		case len(args) > 1 && flag == "--verbose" && slices.Contains(levels, value):
			out = append(out, flag+"="+value)
		case flag == "-a" && slices.Contains(architectures, value) && !exists(value):
			out = append(out, "--arch="+value)
		case flag == "-o" && slices.Contains(systems, strings.ToLower(value)):
			out = append(out, "--os="+value)
		case len(args) > 1 && flag == "-j" && value == "": // Mozilla's default
		default:
			out, used = append(out, flag), 1
		}
		args = args[used:]
	}
	return append(out, args...)
}

// exists reports whether there is a file at path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// verbosity is the value of --verbose: one of levels, or "" for the default.
type verbosity string

// IsBool says to kong that the flag needs no value.
func (verbosity) IsBool() bool { return true }

// Decode reads a level or a truth value. It is called by kong.
func (v *verbosity) Decode(ctx *kong.DecodeContext) error {
	text := "debug" // -v
	token := ctx.Scan.Peek()
	if token.Type == kong.FlagValueToken {
		text = fmt.Sprint(ctx.Scan.Pop().Value)
	}

	switch strings.ToLower(text) {
	case "1", "true", "yes":
		text = "debug"
	case "0", "false", "no":
		text = ""
	}
	if text != "" && !slices.Contains(levels, text) {
		return fmt.Errorf("want one of %s but got %q", strings.Join(levels, ", "), text)
	}
	*v = verbosity(text)
	return nil
}

// all reports whether everything is to be reported.
func (v verbosity) all() bool { return v == "info" || v == "debug" || v == "trace" }

// least returns the severity of the messages to show.
func (v verbosity) least() command.Severity {
	switch v {
	case "off":
		return command.Nothing
	case "error":
		return command.Errors
	}
	return command.Remarks
}
