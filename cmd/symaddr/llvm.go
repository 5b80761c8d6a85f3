package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"symkit/elfx/companion"
	"symkit/internal/command"
	"symkit/internal/symbolizers"
	"symkit/internal/usage"
	"symkit/lookup"
)

// llvmUsage is the command line of llvm-symbolizer.
var llvmUsage = usage.Program{
	Description: "Convert addresses into functions, files and lines.\n\nThis is symkit's symaddr, with the command line of llvm-symbolizer. " +
		"Without addresses, questions are read from standard input: [CODE|DATA|FRAME] FILE ADDRESS.\n\nExamples:\n\n  llvm-symbolizer --obj=./app 0x1149\n\n" +
		"  ASAN_SYMBOLIZER_PATH=/usr/bin/llvm-symbolizer ./app\n\nExit codes: 0 done, 1 wrong usage.",
	Node: usage.Node{Name: "llvm-symbolizer", Arguments: []usage.Argument{{Name: "addresses", Help: "Addresses.", Repeated: true}},
		Flags: []usage.Flag{
			{Short: "a", Name: "addresses", Help: "Show addresses"},
			{Name: "print-address", Help: "The same as --addresses"},
			{Name: "adjust-vma", Value: "OFFSET", Help: "Subtract OFFSET from addresses"},
			{Short: "s", Name: "basenames", Help: "Leave out directories"},
			{Name: "build-id", Value: "ID", Help: "The file, by its build id"},
			{Name: "cache-size", Value: "BYTES", Help: "Keep files within BYTES"},
			{Name: "color", Value: "WHEN", Help: "Ignored"},
			{Name: "debug-file-directory", Value: "DIR", Help: "Look for debug files in DIR"},
			{Name: "debuginfod", Help: "Ignored: servers are not asked"},
			{Name: "no-debuginfod", Help: "Ignored: servers are not asked"},
			{Name: "default-arch", Value: "ARCH", Help: "Ignored"},
			{Short: "C", Name: "demangle", Help: "Show readable names (the default)"},
			{Name: "no-demangle", Help: "Show linkage names"},
			{Name: "dia", Help: "Ignored"},
			{Name: "disable-gsym", Help: "Ignored"},
			{Name: "dsym-hint", Value: "DIR", Help: "Ignored"},
			{Name: "dwp", Value: "FILE", Help: "Look for split DWARF in the directory of FILE"},
			{Short: "e", Name: "obj", Value: "FILE", Help: "The file of all addresses"},
			{Name: "exe", Value: "FILE", Help: "The same as --obj"},
			{Name: "fallback-debug-path", Value: "DIR", Help: "Look for debug files in DIR"},
			{Short: "f", Name: "functions", Value: "NAMES", Values: []string{"none", "short", "linkage"}, Help: "Names of functions: none, short or linkage (the default)"},
			{Name: "gsym-file-directory", Value: "DIR", Help: "Ignored"},
			{Short: "h", Name: "help", Help: "Show this help"},
			{Short: "i", Name: "inlines", Help: "Show the functions that inlined calls are in (the default)"},
			{Name: "inlining", Help: "The same as --inlines"},
			{Name: "no-inlines", Help: "Show one function for an address"},
			{Name: "output-style", Value: "STYLE", Values: []string{"LLVM", "GNU", "JSON"}, Help: "LLVM (the default), GNU or JSON"},
			{Name: "pdb", Value: "FILE", Help: "Ignored"},
			{Short: "p", Name: "pretty-print", Help: "One line for each function"},
			{Name: "print-source-context-lines", Value: "N", Help: "Show N lines of source around each place"},
			{Name: "relative-address", Help: "Ignored: it has no effect on ELF files"},
			{Name: "relativenames", Help: "Leave out the directory of the compilation"},
			{Name: "skip-line-zero", Help: "Ignored"},
			{Name: "untag-addresses", Help: "Ignored"},
			{Name: "no-untag-addresses", Help: "Ignored"},
			{Name: "use-symbol-table", Help: "Ignored"},
			{Name: "verbose", Help: "Show all that is known of a place"},
			{Short: "v", Name: "version", Help: "Show the version"}}},
	Environment: []usage.Variable{command.Limits, {Name: "LLVM_SYMBOLIZER_OPTS", Help: "Flags before those of the command line; LLVM_ADDR2LINE_OPTS for llvm-addr2line."}},
}

// runLLVM takes the place of llvm-symbolizer and llvm-addr2line.
func runLLVM(ctx context.Context, name string, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	fail := func(err error) int {
		fmt.Fprintf(stderr, "%s: error: %v\n", name, err)
		return command.Failed
	}
	variable := "LLVM_SYMBOLIZER_OPTS"
	if strings.Contains(name, "addr2line") {
		variable = "LLVM_ADDR2LINE_OPTS"
	}
	v, err := syntax{Optional: []string{"functions", "color"}}.parse(&llvmUsage, append(words(os.Getenv(variable)), args...))
	switch {
	case len(args) == 1 && args[0] == "--help-json":
		return status(fail, llvmUsage.WriteJSON(stdout))
	case err != nil:
		return fail(err)
	case v.has("help"):
		_, err := io.WriteString(stdout, helpText(&llvmUsage, "addresses..."))
		return status(fail, err)
	case v.has("version"):
		_, err := fmt.Fprintf(stdout, "llvm-symbolizer (symkit symaddr) %s\n", command.Version())
		return status(fail, err)
	}
	s := llvmSession{name: name, stderr: stderr, module: cmp.Or(v.flags["obj"], v.flags["exe"])}
	err = s.options(v, strings.Contains(name, "addr2line"))
	if err != nil {
		return fail(err)
	}
	s.files = lookup.NewCache(s.memory, s.open)
	defer s.files.Close()
	if s.id != "" {
		s.module = "BUILDID:" + s.id
	}

	in := stdin
	if len(v.args) > 0 {
		in = strings.NewReader(strings.Join(v.args, "\n") + "\n")
	}
	if len(v.args) > 0 && s.llvm.Style == symbolizers.StyleJSON {
		return status(fail, s.list(ctx, v.args, stdout))
	}
	questions := symbolizers.Questions{
		Addr: func(line []byte) (uint64, bool) {
			n, plain := symbolizers.PlainHex(line)
			if plain {
				return n - s.llvm.Adjust, s.module != "" && !s.indented()
			}
			q, _ := s.llvm.Parse(string(line), s.module)
			return q.Addr, false
		},
		Answerer: func() symbolizers.Answerer { return &llvmAnswerer{llvmSession: &s, ctx: ctx} },
	}
	return status(fail, symbolizers.Serve(ctx, in, stdout, questions))
}

// llvmSession is one run of llvm-symbolizer.
type llvmSession struct {
	name   string
	errors sync.Mutex // held while an error is written
	stderr io.Writer
	llvm   symbolizers.LLVM
	module string // of all questions, or ""
	id     string // build id of the module, or ""
	search companion.Search
	memory int64
	// relative leaves directories out of paths.
	relative bool
	files    *lookup.Cache
}

// options reads the flags. Those of llvm-addr2line have other defaults.
func (s *llvmSession) options(v *values, addr2line bool) error {
	s.llvm = symbolizers.LLVM{Addresses: v.has("addresses") || v.has("print-address"), Pretty: v.has("pretty-print"), Basenames: v.has("basenames"),
		Verbose: v.has("verbose"), Functions: "linkage", Inlines: !addr2line, Demangle: !addr2line, Hex: addr2line}
	if addr2line {
		s.llvm.Functions, s.llvm.Style = "none", symbolizers.StyleGNU
	}
	set := func(on *bool, yes, no string) {
		if v.has(yes) {
			*on = v.flags[yes] != "false"
		}
		if v.has(no) {
			*on = false
		}
	}
	set(&s.llvm.Inlines, "inlining", "")
	set(&s.llvm.Inlines, "inlines", "no-inlines")
	set(&s.llvm.Demangle, "demangle", "no-demangle")
	if v.has("functions") {
		s.llvm.Functions = cmp.Or(v.flags["functions"], "linkage")
	}
	switch s.llvm.Functions {
	case "linkage", "short", "none":
	default:
		return fmt.Errorf("--functions=%s: want none, short or linkage", s.llvm.Functions)
	}
	if v.has("output-style") {
		style, ok := map[string]symbolizers.Style{"LLVM": symbolizers.StyleLLVM, "GNU": symbolizers.StyleGNU, "JSON": symbolizers.StyleJSON}[v.flags["output-style"]]
		if !ok {
			return fmt.Errorf("--output-style=%s: want LLVM, GNU or JSON", v.flags["output-style"])
		}
		s.llvm.Style = style
	}
	if v.has("adjust-vma") {
		n, err := strconv.ParseUint(v.flags["adjust-vma"], 0, 64)
		if err != nil {
			return fmt.Errorf("--adjust-vma=%s: want a number", v.flags["adjust-vma"])
		}
		s.llvm.Adjust = n
	}
	if v.has("cache-size") {
		n, err := strconv.ParseInt(v.flags["cache-size"], 0, 64)
		if err != nil || n < 0 {
			return fmt.Errorf("--cache-size=%s: want a number of bytes", v.flags["cache-size"])
		}
		s.memory = n
	}
	if v.has("print-source-context-lines") {
		n, err := strconv.ParseUint(v.flags["print-source-context-lines"], 0, 16)
		if err != nil {
			return fmt.Errorf("--print-source-context-lines=%s: want a number up to 65535", v.flags["print-source-context-lines"])
		}
		s.llvm.Context = int(n)
	}
	s.relative = v.has("relativenames")
	for _, flag := range []string{"debug-file-directory", "fallback-debug-path"} {
		if v.has(flag) {
			s.search.DebugDirs = append(s.search.DebugDirs, v.flags[flag], companion.DefaultDebugDir)
		}
	}
	s.id = v.flags["build-id"]
	if v.has("dwp") {
		s.search.SplitDirs = append(s.search.SplitDirs, filepath.Dir(v.flags["dwp"]))
	}
	return nil
}

// open opens the module of a key of the cache: a path, or BUILDID: and a build id.
func (s *llvmSession) open(ctx context.Context, key string) (*lookup.File, error) {
	path := key
	digits, found := strings.CutPrefix(key, "BUILDID:")
	if found {
		id, _ := hex.DecodeString(digits) // no file has a part of an id
		paths := s.search.BuildIDPaths(id, ".debug")
		n := slices.IndexFunc(paths, func(path string) bool { _, err := os.Stat(path); return err == nil })
		if n < 0 {
			return nil, fs.ErrNotExist
		}
		path = paths[n]
	}
	f, err := lookup.Open(ctx, path, lookup.Options{Search: s.search, Memory: s.memory, Relative: s.relative})
	if err != nil {
		s.errors.Lock()
		defer s.errors.Unlock()
		command.Line(s.stderr, "%s: error: '%s': %s", s.name, path, cause(err))
		return nil, err
	}
	return f, nil
}

// cause returns the text of an error as the peer words it, for files that cannot be opened.
func cause(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "No such file or directory"
	}
	return err.Error()
}

// llvmAnswerer answers on one goroutine.
type llvmAnswerer struct {
	*llvmSession
	ctx     context.Context
	scratch symbolizers.Scratch
	key     string       // of file
	file    *lookup.File // that of the last question, or nil
	release func()       // of file
}

// Rest releases the file of the last question.
func (a *llvmAnswerer) Rest() {
	if a.file != nil {
		a.release()
		a.file = nil
	}
}

// indented reports whether JSON is in several lines.
func (s *llvmSession) indented() bool { return s.llvm.Style == symbolizers.StyleJSON && s.llvm.Pretty }

// Expect is called before Answer.
func (a *llvmAnswerer) Expect(addrs []uint64) {
	if len(addrs) == 0 {
		return
	}
	err := a.use(a.module)
	if err == nil {
		a.scratch.Sweep.Expect(a.file, addrs)
	}
}

// use gets the file of a key of the cache. The file of the last question is released.
func (a *llvmAnswerer) use(key string) error {
	if a.file != nil && a.key == key {
		return nil
	}
	a.Rest()
	f, release, err := a.files.Get(a.ctx, key)
	if err == nil {
		a.key, a.file, a.release = key, f, release
	}
	return err
}

// Answer appends the answer for a line.
func (a *llvmAnswerer) Answer(dst []byte, asked symbolizers.Question) []byte {
	if a.indented() {
		return appendIndented(dst, a.answer(nil, asked))
	}
	return a.answer(dst, asked)
}

// appendIndented appends JSON in several lines.
func appendIndented(dst, text []byte) []byte {
	var out bytes.Buffer
	err := json.Indent(&out, text, "", "  ")
	if err != nil {
		panic(err) // package symbolizers has made the text
	}
	return append(dst, out.Bytes()...)
}

// answer appends the answer for a line, in one line if it is JSON.
func (a *llvmAnswerer) answer(dst []byte, asked symbolizers.Question) []byte {
	q := symbolizers.Query{Kind: "CODE", Module: a.module, Addr: asked.Addr}
	if !asked.Plain {
		var ok bool
		q, ok = a.llvm.Parse(asked.Line, a.module)
		if !ok {
			return a.llvm.Invalid(dst, asked.Line, a.module)
		}
	}
	key := q.Module
	if q.ByID {
		key = "BUILDID:" + q.Module
	}
	err := a.use(key)
	switch {
	case err != nil && q.Symbol != "":
		return a.llvm.Invalid(dst, asked.Line, a.module)
	case err != nil:
		return a.llvm.Answer(dst, nil, q, cause(err), &a.scratch)
	case q.Symbol != "":
		return a.named(dst, asked.Line, q)
	}
	return a.llvm.Answer(dst, a.file, q, "", &a.scratch)
}

// named appends the answer for a line that asks for a symbol. A line with the name of no symbol is given back.
func (a *llvmAnswerer) named(dst []byte, line string, q symbolizers.Query) []byte {
	answer, found := a.llvm.Named(dst, a.file, q, &a.scratch)
	if !found {
		return a.llvm.Invalid(dst, line, a.module)
	}
	return answer
}

// list writes the answers for addresses of the command line as one JSON array.
func (s *llvmSession) list(ctx context.Context, args []string, stdout io.Writer) error {
	a := &llvmAnswerer{llvmSession: s, ctx: ctx}
	defer a.Rest()
	dst := []byte{'['}
	for i, arg := range args {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = a.answer(dst, symbolizers.Question{Line: arg})
		dst = dst[:len(dst)-1] // without the end of the line
	}
	dst = append(dst, "]\n"...)
	if s.indented() {
		dst = appendIndented(nil, dst)
	}
	_, err := stdout.Write(dst)
	return err
}
