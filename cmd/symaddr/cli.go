package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/internal/command"
	"symkit/internal/symbolizers"
	"symkit/lookup"
	"symkit/lookup/logs"
	"symkit/walk"
	"symkit/walk/symbols/sources"
)

const description = `Say what is at an address: functions with the calls inlined there, source files, lines.

FILE is an ELF file, whose debug files are found as debuggers find them, a Breakpad symbol file, or a GSYM file. Without
addresses, standard input is read: a line that is an address is answered; in other lines, those of logs, each address of
FILE is replaced by its place. Without FILE, the addresses of all modules are that logs name.

Examples:

  symaddr ./app 0x1149 0x1170              places of addresses

  symaddr ./app < addresses                one on a line

  ./app 2>&1 | symaddr                     a report of AddressSanitizer, with places

  dmesg | symaddr vmlinux                  an oops

  adb logcat | symaddr --symbols ./apks    Android: libraries in APKs and bundles, by build ids

  symaddr --symbols https://symbols.example.org < report.txt       by build ids, from a symbol server

  symaddr --symbols ./store --build-id=8cb693933a62… libapp.so 0x1149

  symaddr --format=json ./app 0x1149 | jq .

Called addr2line or llvm-symbolizer, symaddr is that program: see docs/symaddr.md.

Exit codes: 0 done, 1 a file cannot be read, 80 wrong usage.`

// cli is the command line of symaddr.
type cli struct {
	File  string   `arg:"" optional:"" help:"ELF file, Breakpad symbol file or GSYM file."`
	Addrs []string `arg:"" optional:"" name:"addr" help:"Address, hexadecimal, or the name of a symbol with an offset: main+0x10."`

	Kind      string `name:"addresses" enum:"virtual,relative,offset" default:"virtual" placeholder:"KIND" help:"Addresses are virtual addresses of the file (default), relative to the address of its first segment, or file offsets."`
	Format    string `short:"f" enum:"text,json" default:"text" placeholder:"FORMAT" help:"Output: text (default), or json: an object on each line."`
	NoInlines bool   `name:"no-inlines" help:"Show the function that has the code alone."`
	Mangled   bool   `help:"Show linkage names."`
	Basenames bool   `help:"Leave out directories of source files."`
	ID        string `name:"build-id" placeholder:"ID" help:"FILE is the name of the module with this build id in --symbols."`
	fileFlags

	Version command.VersionFlag `help:"Print the version and exit."`

	stdin  io.Reader
	stdout io.Writer
	stderr *command.Messages
	opened *modules
	files  *lookup.Cache
	told   sync.Map // texts of warnings
}

// Validate is called by kong.
func (c *cli) Validate() error {
	if c.ID != "" {
		id, err := hex.DecodeString(c.ID)
		if err != nil || len(id) == 0 {
			return fmt.Errorf("--build-id %s: want hexadecimal digits", c.ID)
		}
		if len(c.Symbols) == 0 {
			return errors.New("--build-id is about --symbols: say where symbols are")
		}
	}
	terminal, ok := c.stdin.(*os.File)
	if c.File == "" && ok && command.IsTerminal(terminal) {
		return errNoFile
	}
	return c.fileFlags.Validate()
}

// wantFile is what to give for FILE.
const wantFile = "the path of an ELF file, a symbol file or a GSYM file"

// errNoFile: nobody writes a log to standard input.
const errNoFile = command.MissingArgument("<file>")

// work answers the questions of the command line or of standard input.
func (c *cli) work(ctx context.Context) (int, error) {
	var err error
	c.opened, err = c.modules(ctx, c.stderr)
	if err != nil {
		return command.Failed, err
	}
	defer c.opened.close()
	c.files = lookup.NewCache(int64(c.Memory), c.open)
	defer c.files.Close()
	if c.File == "" {
		return 0, c.serve(ctx, nil)
	}
	key := c.File
	if c.ID != "" {
		key = c.ID + storeMark + c.File
	}
	f, release, err := c.files.Get(ctx, key)
	if errors.Is(err, elfx.ErrNotRegular) {
		return command.Failed, fmt.Errorf("%w; give %s", err, wantFile)
	}
	if err != nil {
		return command.Failed, command.Unreadable("", c.File, err, wantFile)
	}
	defer release()
	defer func() { c.warn(f.Losses()...) }()
	if len(c.Addrs) == 0 {
		return 0, c.serve(ctx, f)
	}

	code := 0
	a := c.answerer(ctx, f)
	w := bufio.NewWriter(c.stdout)
	for _, text := range c.Addrs {
		addr, err := c.address(f, text)
		if err != nil {
			command.Line(c.stderr, "symaddr: error: %v", err)
			code = command.Failed
			continue
		}
		_, err = w.Write(a.answer(nil, text, addr))
		if err != nil {
			return command.Failed, err
		}
	}
	return code, w.Flush()
}

// serve answers the lines of standard input: addresses and logs of f, or logs of all modules if f is nil.
func (c *cli) serve(ctx context.Context, f *lookup.File) error {
	return symbolizers.Serve(ctx, c.stdin, c.stdout, symbolizers.Questions{Split: true,
		Addr: func(line []byte) (uint64, bool) {
			n, plain := symbolizers.PlainHex(line)
			if plain && f != nil {
				_, plain = f.Address(lookup.Kind(c.Kind), n)
				return n, plain
			}
			n, _ = number(string(line)) // what is no number is answered first
			return n, false
		},
		Answerer: func() symbolizers.Answerer { return c.answerer(ctx, f) }})
}

// number reads a hexadecimal number.
func number(text string) (uint64, error) {
	digits := strings.TrimPrefix(strings.TrimPrefix(text, "0x"), "0X")
	n, count := symbolizers.Hex(digits)
	if count == len(digits) && count > 0 && count <= 16 {
		return n, nil
	}
	return strconv.ParseUint(digits, 16, 64)
}

// storeMark separates the build id and the name in the key of a module of --symbols.
const storeMark = "\x00"

// open opens a file for the cache.
func (c *cli) open(ctx context.Context, path string) (*lookup.File, error) {
	id, name, inStore := strings.Cut(path, storeMark)
	if inStore {
		buildID, err := hex.DecodeString(id)
		if err != nil {
			return nil, err
		}
		return c.opened.stored(ctx, name, buildID)
	}
	f, err := c.opened.open(ctx, path)
	if err == nil {
		c.warn(f.Losses()...)
	}
	return f, err
}

// warn writes a warning for each error, once for one text.
func (c *cli) warn(errs ...error) {
	for _, err := range errs {
		text := err.Error()
		missing, ok := errors.AsType[companion.Warning](err)
		switch {
		case errors.Is(err, lookup.ErrNoSplit):
			text += "; --dwo-dir says where"
		case errors.Is(err, lookup.ErrNoDebug):
			text += "; --debug-dir says where its debug file is, --debuginfod asks servers"
		case ok && missing.Problem == companion.Missing:
			text += "; --debug-dir says where, --debuginfod asks servers"
		}
		_, told := c.told.LoadOrStore(text, true)
		if !told {
			command.Line(c.stderr, "symaddr: warning: %s", text)
		}
	}
}

// errAddress: a text is no address.
var errAddress = errors.New("want a hexadecimal address, or a symbol of the file with an offset, such as main+0x10")

// mostChoices is how many addresses of one name an error has.
const mostChoices = 16

// address reads an address of f: a number, or a symbol and an offset.
func (c *cli) address(f *lookup.File, text string) (uint64, error) {
	n, err := number(text)
	if err == nil {
		addr, ok := f.Address(lookup.Kind(c.Kind), n)
		if !ok {
			return 0, fmt.Errorf("%s: no segment of %s has this file offset", text, f.Path())
		}
		return addr, nil
	}

	name, n := text, uint64(0)
	plus := strings.LastIndexByte(text, '+') // operator+(A, B)+0x10
	if plus >= 0 {
		offset, err := strconv.ParseUint(text[plus+1:], 0, 64)
		if err == nil {
			name, n = text[:plus], offset
		}
	}
	all := after(nil, f, name, n, 0)
	switch len(all) {
	case 0:
		return 0, fmt.Errorf("%s: %s: %w", f.Path(), text, errAddress)
	case 1:
		return all[0], nil
	}
	list := strings.Trim(fmt.Sprintf("%#x", all[:min(len(all), mostChoices)]), "[]")
	return 0, fmt.Errorf("%s: %s: %d symbols have this name: give an address, %s", f.Path(), text, len(all), strings.ReplaceAll(list, " ", ", "))
}

// isOf reports whether a reference is into f: its build id is that of f, or the names are the same.
func (c *cli) isOf(f *lookup.File, r *logs.Reference) bool {
	id := f.BuildID()
	switch {
	case r.BuildID != nil && id != nil:
		return bytes.Equal(r.BuildID, id)
	case r.Module == "":
		return true
	}
	module := walk.Module{Path: r.Module}
	name, own := module.File(), filepath.Base(f.Path())
	own = strings.TrimSuffix(strings.TrimSuffix(own, ".debug"), ".sym")
	kernel := strings.ReplaceAll(strings.TrimSuffix(own, ".ko"), "-", "_") // as the kernel writes names of modules
	return name == own || name == kernel || name == f.CodeFile()
}

// module returns the path of the file that a reference names, or "" if there is none.
func (c *cli) module(r *logs.Reference) string {
	if r.Module == "" {
		return ""
	}
	for _, root := range append(c.Sysroot, "") {
		path := root + r.Module
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() && !sources.IsArchiveName(path) {
			return path
		}
	}
	return c.opened.elsewhere(r)
}
