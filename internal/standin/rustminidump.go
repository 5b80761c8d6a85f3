package standin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"symkit/internal/command"
	"symkit/internal/smallfile"
	"symkit/internal/usage"
	"symkit/walk"
	"symkit/walk/peers"
	"symkit/walk/report"
)

// rustVersion is the version of rust-minidump whose command line and output this file
// imitates. Services record the output of --version.
const rustVersion = "0.27.0"

const rustDescription = `Show the stacks of a minidump, for people or as JSON.

This is symkit's stackwalk, with the command line of rust-minidump's minidump-stackwalk ` + rustVersion + `.

Examples:

  minidump-stackwalk crash.dmp ./symbols                a report for people, with a symbol store

  minidump-stackwalk --json --pretty crash.dmp ./symbols > crash.json

  minidump-stackwalk --symbols-url=https://symbols.example.org --symbols-cache=cache crash.dmp

  minidump-stackwalk --dump crash.dmp                   the streams of the minidump, without stacks

Exit codes: 0 done, 1 the dump or another file cannot be read or written, 2 wrong usage.`

// rustFlags is the command line of rust-minidump's minidump-stackwalk.
type rustFlags struct {
	Minidump string   `arg:"" help:"Minidump, microdump or core file."`
	Legacy   []string `arg:"" optional:"" name:"symbols-path-legacy" help:"Symbol stores, as --symbols-path."`

	Human        bool   `xor:"format" help:"Write a report for people: the default."`
	JSON         bool   `name:"json" xor:"format" help:"Write JSON in rust-minidump's schema."`
	Cyborg       string `xor:"format" placeholder:"FILE" help:"Write the report for people, and JSON to FILE."`
	Dump         bool   `xor:"format" help:"Write the streams of the minidump, field by field, without walking stacks."`
	HelpMarkdown bool   `name:"help-markdown" xor:"format" hidden:"" help:"Print the flags as Markdown."`

	Features    string `enum:"stable-basic,stable-all,unstable-all" default:"stable-basic" help:"How much analysis to do: stable-basic, stable-all (the same) or unstable-all (with --recover-function-args)."`
	Verbose     string `enum:"off,error,warn,info,debug,trace" default:"error" help:"What to log: off, error, warn, info, debug or trace."`
	OutputFile  string `name:"output-file" placeholder:"FILE" help:"Write to FILE, which appears whole or not at all, instead of standard output."`
	LogFile     string `name:"log-file" placeholder:"FILE" help:"Write the log to FILE instead of standard error."`
	NoColor     bool   `name:"no-color" help:"Accepted and ignored: nothing is coloured."`
	Pretty      bool   `help:"Indent JSON."`
	Brief       bool   `help:"Show the crash and the stack of the thread that crashed alone; with --dump, leave out the contents of memory."`
	Interactive bool   `name:"no-interactive" help:"Accepted and ignored: progress is shown on a terminal alone."`

	EvilJSON     string   `name:"evil-json" placeholder:"FILE" help:"Read what Mozilla's crash reports have beside the minidump: who signed the modules, and the version of the CPU's microcode."`
	FunctionArgs bool     `name:"recover-function-args" help:"Show what the arguments of functions may be, on 32-bit x86."`
	LocalSymbols bool     `name:"use-local-debuginfo" help:"Take symbols also from the files that the dump names, if they are on this machine."`
	SymbolsURL   []string `name:"symbols-url" sep:"none" empty:"" placeholder:"URL" help:"Symbol server. May be repeated, for an order."`
	SymbolsCache string   `name:"symbols-cache" placeholder:"DIR" help:"Keep files from symbol servers in DIR. Default: symkit/symbols in the user's cache directory."`
	SymbolsTmp   string   `name:"symbols-tmp" placeholder:"DIR" help:"Accepted and ignored: files are made in the cache, without a name until they are complete."`
	SymbolsTime  uint64   `name:"symbols-download-timeout-secs" default:"1000" placeholder:"SECONDS" help:"How long a download may take."`
	SymbolsPath  []string `name:"symbols-path" sep:"none" placeholder:"DIR" help:"Symbol store or symbol file. May be repeated."`

	Version rustVersionFlag `short:"V" help:"Print the version and exit."`
}

// rustVersionFlag prints the version and exits.
type rustVersionFlag bool

// BeforeReset is called by kong as soon as it reads the flag.
func (rustVersionFlag) BeforeReset(app *kong.Kong) error {
	fmt.Fprintf(app.Stdout, "minidump-stackwalk %s (symkit %s)\n", rustVersion, command.Version())
	app.Exit(0)
	return nil
}

// rustMisuse is the exit code for a wrong command line.
const rustMisuse = 2

// rustMinidump takes the place of rust-minidump's minidump-stackwalk.
func rustMinidump(ctx context.Context, _ string, args []string, stdout, stderr io.Writer, walk Walk) int {
	var f rustFlags
	messages := command.NewMessages("minidump-stackwalk", stderr)
	p := rustProgram(ctx, stdout, messages)

	flag := repeated(args)
	if flag != "" {
		messages.Last("minidump-stackwalk: error: %s cannot be given twice; see minidump-stackwalk --help", flag)
		return rustMisuse
	}
	code := p.Run(&f, args, func(k *kong.Context) (int, error) {
		if f.HelpMarkdown {
			return 0, f.markdown(k, stdout)
		}
		return f.run(ctx, stdout, stderr, walk)
	})
	if code == command.Misuse {
		return rustMisuse
	}
	return code
}

// rustProgram returns the command line without its grammar.
func rustProgram(ctx context.Context, stdout io.Writer, stderr *command.Messages) *command.Program {
	return &command.Program{Name: "minidump-stackwalk", Description: rustDescription, Context: ctx, Variables: []usage.Variable{command.Debuginfod},
		Examples: map[string]string{"": "minidump-stackwalk --json crash.dmp ./symbols"}, Stdout: stdout, Stderr: stderr}
}

// repeatable are the flags that can be given several times.
var repeatable = []string{"--symbols-url", "--symbols-path"}

// repeated returns a flag that is given twice and must not be, or "".
func repeated(args []string) string {
	seen := map[string]bool{}
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			return ""
		case !strings.HasPrefix(arg, "--") || slices.Contains(repeatable, name):
			continue
		case seen[name]:
			return name
		}
		seen[name] = true
	}
	return ""
}

// markdown prints the names of the arguments and flags with their help.
func (f *rustFlags) markdown(k *kong.Context, out io.Writer) error {
	var b strings.Builder
	b.WriteString("# minidump-stackwalk CLI manual\n\n### Arguments\n\n")
	for _, arg := range k.Model.Positional {
		fmt.Fprintf(&b, "#### `%s`\n%s\n\n", arg.Summary(), arg.Help)
	}
	b.WriteString("### Options\n\n")
	for _, flag := range k.Model.Flags {
		if !flag.Hidden {
			fmt.Fprintf(&b, "#### `%s`\n%s\n\n", flag, flag.Help)
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// run walks the dump and writes the reports.
func (f *rustFlags) run(ctx context.Context, stdout, stderr io.Writer, walk Walk) (int, error) {
	logged, closeLog, err := f.openLog(stderr)
	if err != nil {
		return command.Failed, err
	}
	defer closeLog()
	messages := command.NewMessages("stackwalk", logged)
	defer messages.Close()

	code := 0
	switch {
	case f.Pretty && !f.JSON && f.Cyborg == "":
		err = errors.New("--pretty is about JSON; give --json or --cyborg=FILE with it")
	case f.Brief && f.JSON:
		err = errors.New("--brief is about the report for people; leave out --json")
	case f.Dump:
		err = found(f.rawDump(ctx, stdout))
	default:
		code, err = f.walk(ctx, stdout, messages, walk)
	}
	if err != nil {
		messages.Last("stackwalk: error: %v", err)
		return command.Failed, nil
	}
	if code == command.Bad { // a stack of one frame is no failure there
		return 0, nil
	}
	return code, nil
}

// found returns the error of reading the dump, with the text that rust-minidump writes before the error for a file
// that does not exist.
func found(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("FileNotFound - Error reading dump: %w", err)
	}
	return err
}

// walk walks the dump.
func (f *rustFlags) walk(ctx context.Context, stdout io.Writer, messages *command.Messages, walk Walk) (int, error) {
	// Scripts give an empty URL if a variable is not set; no request to it can succeed.
	urls := slices.DeleteFunc(f.SymbolsURL, func(url string) bool { return url == "" })
	r := &Request{Dump: f.Minidump, Symbols: append(existing(messages, slices.Concat(f.SymbolsPath, f.Legacy)), urls...), Cache: f.SymbolsCache,
		MaxTime: time.Duration(min(f.SymbolsTime, 1<<30)) * time.Second, ELF: f.LocalSymbols,
		Registers: !f.JSON, Verbose: f.Verbose == "debug" || f.Verbose == "trace", Messages: messages}

	extra, err := readEvilJSON(f.EvilJSON)
	if err != nil {
		command.Line(messages, "stackwalk: error: --evil-json: %v", err) // the report lacks the contents of the file
	}
	people, programs := Output{f.OutputFile, f.people(&extra)}, Output{f.OutputFile, f.programs(&extra)}
	switch {
	case f.Cyborg != "":
		programs.Path = f.Cyborg
		r.Outputs = []Output{people, programs}
	case f.JSON:
		r.Outputs = []Output{programs}
	default:
		r.Outputs = []Output{people}
	}

	// Nothing is written unless everything can be.
	for _, o := range r.Outputs {
		err := command.Directories("the output", []string{filepath.Dir(o.Path)})
		if err != nil {
			return command.Failed, err
		}
	}
	code, err := walk(ctx, r, stdout)
	return code, found(err)
}

// people returns the function that writes the report for people.
func (f *rustFlags) people(extra *evil) func(io.Writer, *walk.Result) error {
	return func(out io.Writer, r *walk.Result) error {
		unimplemented, unknown := unreadStreams(f.Minidump)
		return peers.RustMinidump(out, r, peers.RustMinidumpOptions{Brief: f.Brief, Arguments: f.FunctionArgs || f.Features == "unstable-all",
			Signers: extra.signers, Unimplemented: unimplemented, Unknown: unknown})
	}
}

// programs returns the function that writes JSON.
func (f *rustFlags) programs(extra *evil) func(io.Writer, *walk.Result) error {
	return func(out io.Writer, r *walk.Result) error {
		facts := &r.Process.Facts
		facts.Microcode = cmp.Or(facts.Microcode, extra.microcode)
		return report.RustMinidumpJSON(out, r, report.JSONOptions{Pretty: f.Pretty, Signers: extra.signers})
	}
}

// openLog returns where the log goes to.
func (f *rustFlags) openLog(stderr io.Writer) (io.Writer, func() error, error) {
	log := &leveled{w: stderr, level: slices.Index(logLevels, f.Verbose)}
	if f.LogFile == "" {
		return log, func() error { return nil }, nil
	}
	file, err := os.Create(f.LogFile)
	if err != nil {
		return nil, nil, command.Unreadable("--log-file", f.LogFile, err, "a file in a directory that exists")
	}
	log.w = file
	return log, file.Close, nil
}

// logLevels are the values of --verbose.
var logLevels = []string{"off", "error", "warn", "info", "debug", "trace"}

// leveled writes the lines of command.Messages with their level before them, as
// rust-minidump's log has them, and leaves out lines less severe than a level. Each Write
// has whole lines.
type leveled struct {
	w     io.Writer
	level int // index in logLevels
}

// Write implements io.Writer.
func (l *leveled) Write(text []byte) (int, error) {
	for line := range strings.Lines(string(text)) {
		line = strings.TrimPrefix(line, "stackwalk: ")
		level, name := 3, " INFO"
		if rest, ok := strings.CutPrefix(line, "error: "); ok {
			line, level, name = rest, 1, "ERROR"
		} else if rest, ok := strings.CutPrefix(line, "warning: "); ok {
			line, level, name = rest, 2, " WARN"
		}
		if level > l.level {
			continue
		}
		if _, err := fmt.Fprintf(l.w, "%s %s", name, line); err != nil {
			return 0, err
		}
	}
	return len(text), nil
}

// evil is the JSON that Mozilla's crash reports have beside the minidump.
type evil struct {
	signers   map[string]string // subject of the certificate by name of the file
	microcode string            // hexadecimal
}

// readEvilJSON reads a file of Mozilla's annotations. ModuleSignatureInfo maps the subject
// of a signing certificate to the modules that it signed; its value is an object, or a
// string with that object as JSON.
func readEvilJSON(path string) (e evil, err error) {
	if path == "" {
		return e, nil
	}
	data, err := smallfile.Read(path, smallfile.Most)
	if err != nil {
		return e, err
	}
	var all struct {
		Microcode any             `json:"CPUMicrocodeVersion"`
		Modules   json.RawMessage `json:"ModuleSignatureInfo"`
	}
	err = json.Unmarshal(data, &all)
	if err != nil {
		return e, fmt.Errorf("%s: %w", path, err)
	}

	// The version of the microcode is a hexadecimal number, or not used.
	var n uint64
	_, err = fmt.Sscanf(fmt.Sprint(all.Microcode), "0x%x", &n)
	if err == nil {
		e.microcode = fmt.Sprintf("0x%x", n)
	}

	var text string
	if json.Unmarshal(all.Modules, &text) == nil {
		all.Modules = json.RawMessage(text)
	}
	var modules map[string][]string
	if all.Modules != nil {
		err = json.Unmarshal(all.Modules, &modules)
		if err != nil {
			return e, fmt.Errorf("%s: ModuleSignatureInfo: %w", path, err)
		}
	}
	e.signers = map[string]string{}
	for subject, files := range modules {
		for _, file := range files {
			e.signers[file] = subject
		}
	}
	return e, nil
}
