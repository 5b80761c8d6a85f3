// Package command has the parts that the three programs share: the command line, exit
// codes, signals, standard error, the version.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"symkit/internal/atomicfile"
	"symkit/internal/crash"
	"symkit/internal/usage"
	"symkit/limits"
)

// Exit codes of all programs (docs/design.md, "Errors"). 0 is success.
const (
	Failed = 1  // an input failed
	Bad    = 2  // the work is done, but there are losses (with --strict) or findings, or no thread could be walked
	Misuse = 80 // the command line is wrong; the number is kong's

	// crash.Code is the one of a defect, 70. Go's own, 2, is that of fatal errors alone.
)

// ErrInterrupted is the cause of the context of [Main] after a signal.
var ErrInterrupted = errors.New("interrupted")

// grace is how long a program may take to end by itself after the first signal.
const grace = 500 * time.Millisecond

// Main runs a program with the process' arguments and streams, and ends the
// process with its exit code. The context ends with the first SIGINT or SIGTERM, with the
// cause [ErrInterrupted]. The process ends at the second signal, or after the grace period: a goroutine may be blocked in open(2) of a FIFO or in
// write(2) to a full pipe, where no context reaches it. A pipe without a reader
// is an error of the writer, not the silent end of the process.
func Main(name string, run func(ctx context.Context, args []string, stdout, stderr io.Writer) int) {
	MainUntil(name, grace, run)
}

// MainUntil is Main for a program that may take the time end to end by itself after the first signal.
func MainUntil(name string, end time.Duration, run func(ctx context.Context, args []string, stdout, stderr io.Writer) int) {
	signal.Ignore(syscall.SIGPIPE)
	crash.Exit(name, abandonSoon)
	defer crash.Catch()

	ctx, interrupt := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go await(name, end, signals, interrupt)

	code := run(ctx, os.Args[1:], standardOutput(), os.Stderr)
	atomicfile.Abandon() // run may leave goroutines that write files
	os.Exit(code)
}

// ProgramName returns the last part of a path, which may be one of Windows, without .exe.
func ProgramName(arg0 string) string {
	name := path.Base(strings.ReplaceAll(arg0, `\`, "/"))
	end := strings.ToLower(name)
	if strings.HasSuffix(end, ".exe") {
		name = name[:len(name)-len(".exe")]
	}
	return name
}

// abandonSoon removes files that are not complete, unless the goroutine that panics has their lock.
func abandonSoon() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		atomicfile.Abandon()
	}()
	select {
	case <-done:
	case <-time.After(grace):
	}
}

// await calls interrupt at the first signal. Then it ends the process, unless run has
// returned by then.
func await(name string, end time.Duration, signals <-chan os.Signal, interrupt context.CancelCauseFunc) {
	<-signals
	interrupt(ErrInterrupted)

	select {
	case <-signals:
	case <-time.After(end):
		tryWrite(os.Stderr, fmt.Sprintf("%s: error: %v\n", name, ErrInterrupted))
	}
	atomicfile.Abandon()
	os.Exit(Failed)
}

// tryWrite writes text to f. It gives up after a moment if the write blocks, as on a
// full pipe.
func tryWrite(f *os.File, text string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, ok := terminal(f); ok {
			text = clearLine + text
		}
		_, _ = f.WriteString(text) // an error cannot be reported anywhere; the exit code has the same meaning
	}()

	select {
	case <-done:
	case <-time.After(grace / 5):
	}
}

// Await calls work and returns its error or, as soon as ctx is done, the cause of ctx. work is then abandoned, even in
// the middle of a sort or while it waits for the other end of a pipe.
func Await(ctx context.Context, work func() error) error {
	done := make(chan error, 1)
	go func() {
		defer crash.Catch()
		done <- work()
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Program is one program for [Program.Run].
type Program struct {
	Name        string
	Description string // for --help, before the flags
	Options     []kong.Option
	// Examples are complete command lines, shown if arguments are missing. The key is
	// the name of a subcommand, or "" for a program without subcommands and for the
	// default one.
	Examples map[string]string
	// Env is the prefix of environment variables that set flags: with the prefix PROG,
	// PROG_DEBUG_DIR=x is --debug-dir=x. Empty: the environment sets no flag.
	Env string
	// Variables are other variables of the environment that the program reads.
	Variables []usage.Variable
	// Others returns commands that are not in the grammar, and the programs that the program is
	// by other names, for --help-json. May be nil.
	Others  func() ([]usage.Command, []usage.Program)
	Context context.Context // of the process; its cancellation is reported as "interrupted"
	Stdout  io.Writer       // results, --help, --version
	Stderr  *Messages       // everything else
}

// Run parses args into grammar, a pointer to a struct with kong's tags, calls work
// with the chosen subcommand (nil if the grammar has no subcommands), and returns the
// exit code. An error of work is printed, and makes the code at least Failed.
func (p *Program) Run(grammar any, args []string, work func(*kong.Context) (code int, err error)) (code int) {
	defer p.Stderr.Close()

	// kong's exit function records the code: --help and --version end in Parse.
	exited := false
	options := append(p.options(), kong.Exit(func(status int) { exited, code = true, status }))
	if p.Env != "" {
		unsetEmpty(p.Env + "_")
		options = append(options, kong.DefaultEnvars(p.Env))
	}

	// kong ignores errors of writing the text of --help and --version.
	output := &lastError{w: p.Stdout}
	options = append(options, kong.Writers(output, p.Stderr))
	parser, err := kong.New(grammar, options...)
	if err != nil {
		panic(err) // the tags of grammar are wrong
	}

	// --help-json is for programs, as --help is for people. It is no flag of the grammar.
	if m, ok := p.asked(args, parser.Model); ok {
		exited, err = true, m.WriteJSON(output)
	}

	var chosen *kong.Context
	if !exited && p.Env != "" {
		for _, name := range unknownVariables(parser.Model.Node, p.Env+"_") {
			Line(p.Stderr, "%s: warning: %s in the environment is no flag's variable; see %s --help", p.Name, name, p.Name)
		}
	}
	if !exited {
		err = emptyValue(parser.Model.Node, args)
	}
	if !exited && err == nil {
		chosen, err = parser.Parse(args)
	}
	if output.err != nil {
		fmt.Fprintf(p.Stderr, "%s: error: %v\n", p.Name, output.err)
		return Failed
	}
	if exited { // --help, --help-json, --version
		return code
	}
	if err != nil {
		p.Stderr.Last("%s: error: %s; %ssee %s --help", p.Name, plainMisuse(err), p.example(args, err), p.Name)
		return Misuse
	}

	return p.work(chosen, work)
}

// options returns kong's options for every use of the grammar.
func (p *Program) options() []kong.Option {
	return append([]kong.Option{
		kong.Name(p.Name),
		kong.Description(p.Description),
		kong.ConfigureHelp(kong.HelpOptions{WrapUpperBound: helpColumns(p.Stdout)}),
		kong.KindMapper(reflect.String, kong.MapperFunc(asItIs)),
	}, p.Options...)
}

// emptyValue returns an error about the first flag whose value is empty, as that of a variable
// that is not set. It would count as no flag. Only flags with the tag empty take such a value.
func emptyValue(node *kong.Node, args []string) error {
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		if arg == "--" {
			return nil
		}
		if joined && value != "" || !joined && (i+1 == len(args) || args[i+1] != "") {
			continue
		}
		f := findFlag(node, name)
		if f != nil && !f.IsBool() && !f.Tag.Has("empty") {
			return fmt.Errorf("--%s: the value is empty", f.Name)
		}
	}
	return nil
}

// findFlag returns the flag of a node, or of the subcommands below it, that an argument names.
func findFlag(node *kong.Node, arg string) *kong.Flag {
	for _, f := range node.Flags {
		if arg == "--"+f.Name || f.Short != 0 && arg == "-"+string(f.Short) {
			return f
		}
	}
	for _, child := range node.Children {
		f := findFlag(child, arg)
		if f != nil {
			return f
		}
	}
	return nil
}

// work calls the program's own work and returns the exit code.
func (p *Program) work(chosen *kong.Context, work func(*kong.Context) (code int, err error)) int {
	// Limits are read before any work. Other variables with the prefix SYMKIT_ belong to scripts.
	for _, name := range slices.Sorted(maps.Keys(environment("SYMKIT_LIM"))) {
		if name != limits.Variable {
			Line(p.Stderr, "%s: warning: %s in the environment is not read; the variable is %s", p.Name, name, limits.Variable)
		}
	}
	if err := limits.FromEnv(); err != nil {
		p.Stderr.Last("%s: error: %v", p.Name, err)
		return Misuse
	}

	code, err := work(chosen)
	if err != nil {
		p.fail(err)
		return max(code, Failed)
	}
	return code
}

// environment returns the variables of the environment that begin with prefix.
func environment(prefix string) map[string]string {
	found := map[string]string{}
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, prefix) {
			found[name] = value
		}
	}
	return found
}

// unknownVariables returns the environment variables that begin with prefix and set no flag of a
// node or of a subcommand below it.
func unknownVariables(node *kong.Node, prefix string) []string {
	unknown := environment(prefix)
	_ = kong.Visit(node, func(n kong.Visitable, next kong.Next) error {
		if f, ok := n.(*kong.Flag); ok {
			for _, name := range f.Envs {
				delete(unknown, name)
			}
		}
		return next(nil)
	})
	return slices.Sorted(maps.Keys(unknown))
}

// unsetEmpty removes the environment variables that begin with prefix and are empty. kong
// would parse the empty text as the value of a flag.
func unsetEmpty(prefix string) {
	for name, value := range environment(prefix) {
		if value == "" {
			os.Unsetenv(name)
		}
	}
}

// misuses are forms of kong's errors that mention its parser, and the texts to print
// instead.
var misuses = []struct{ form, plain string }{
	{`^(unknown flag (-[^-]|--.{1,2})), did you mean .*$`, "$1"}, // any short name is near another
	{`^[a-z]+: (--.*)$`, "$1"},                                   // the name of the command that rejects a flag
	{`^[a-z]+: (expected ".*)$`, "$1"},
	{`^[a-z]+: (\S+: not an address that is known; .*)$`, "$1"},
	{`^(--\S+): expected \S+ value but got "EOL" \(<EOL>\)$`, "$1: the value is missing"},
	{`^(--\S+): missing value, expecting "<arg>"$`, "$1: the value is missing"},
	{`^(--\S+): expected duration but got (".*"): time: .*$`, "$1: $2 is not a time, such as 90s or 30m"},
	{`^(--\S+): (.*) \(from envar ([A-Z_]+)=(".*")\)$`, "$1: $2; the environment has $3=$4"},
	{`^(--\S+): expected a valid \d+ bit u?int but got (".*")$`, "$1: $2 is not a number"},
}

// plainMisuse returns the text of an error about the command line.
func plainMisuse(err error) string {
	text := err.Error()
	for _, m := range misuses {
		text = regexp.MustCompile(m.form).ReplaceAllString(text, m.plain)
	}
	return text
}

// lastError is a writer that keeps the error of the last write that failed.
type lastError struct {
	w   io.Writer
	err error
}

func (l *lastError) Write(p []byte) (int, error) {
	n, err := l.w.Write(p)
	if err != nil {
		l.err = err
	}
	return n, err
}

// MissingArgument is an error about an argument that a program misses after kong has parsed the command line. Its
// text is that of kong's errors about missing arguments.
type MissingArgument string

func (m MissingArgument) Error() string { return fmt.Sprintf("expected %q", string(m)) }

// example returns an example of use if err is about missing arguments, else "".
func (p *Program) example(args []string, err error) string {
	_, missing := errors.AsType[MissingArgument](err)
	parse, ok := errors.AsType[*kong.ParseError](err)
	if !missing && !(ok && lacksArguments(parse.Context)) {
		return ""
	}

	example := p.Examples[""]
	if len(args) > 0 && p.Examples[args[0]] != "" {
		example = p.Examples[args[0]]
	}

	if example == "" {
		return ""
	}
	return "for example: " + example + "; "
}

// lacksArguments reports whether a command line that could be parsed lacks a subcommand or an argument.
func lacksArguments(line *kong.Context) bool {
	node := line.Selected()
	if node == nil {
		node = line.Model.Node
	}
	return line.Error == nil && (slices.ContainsFunc(node.Positional, func(v *kong.Value) bool { return v.Required && !v.Set }) ||
		slices.ContainsFunc(node.Children, func(n *kong.Node) bool { return !n.Hidden }))
}

// interrupted reports whether err only says that the context has ended.
func (p *Program) interrupted(err error) bool {
	ctx := p.Context
	return ctx != nil && ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}

// fail prints an error, or each of several that were joined.
func (p *Program) fail(err error) {
	if p.interrupted(err) {
		p.Stderr.Last("%s: error: interrupted", p.Name)
		return
	}

	all := separate(nil, err)
	if len(all) == 1 {
		p.Stderr.Last("%s: error: %v", p.Name, all[0])
		return
	}

	for _, err := range all {
		Line(p.Stderr, "%s: error: %v", p.Name, err)
	}
}

// joinedType is the type of the errors that errors.Join returns.
var joinedType = reflect.TypeOf(errors.Join(io.EOF))

// separate appends to all the errors that errors.Join joined in err, or err itself.
func separate(all []error, err error) []error {
	if reflect.TypeOf(err) != joinedType {
		return append(all, err)
	}
	for _, err := range err.(interface{ Unwrap() []error }).Unwrap() {
		all = separate(all, err)
	}
	return all
}

// asItIs is a kong.MapperFunc that takes a string from the command line unchanged.
// kong's own mapper converts strings through JSON, which replaces bytes that are not
// UTF-8, but names of files can be any bytes.
func asItIs(ctx *kong.DecodeContext, target reflect.Value) error {
	token, err := ctx.Scan.PopValue("string")
	if err != nil {
		return err
	}
	target.SetString(fmt.Sprint(token.Value))
	return nil
}

// UseProcessors limits the process to n processors, if n is not 0, until restore is
// called. GOMAXPROCS is the only effective limit, since a dump has more goroutines
// than processors.
func UseProcessors(n int) (restore func()) {
	old := runtime.GOMAXPROCS(0)
	if n <= 0 || n >= old {
		return func() {}
	}
	runtime.GOMAXPROCS(n)
	return func() { runtime.GOMAXPROCS(old) }
}

// maxJobs is more processors than any of the programs can use.
const maxJobs = 256

// Jobs checks the value of --jobs, where 0 stands for all processors, and returns it,
// at most maxJobs.
func Jobs(n int) (int, error) {
	if n < 0 {
		return 0, fmt.Errorf("--jobs %d: want a number of processors, or 0 for all", n)
	}
	return min(n, maxJobs), nil
}
