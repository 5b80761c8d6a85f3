package main

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"symkit/internal/atomicfile"
	"symkit/internal/command"
	"symkit/internal/filename"
	"symkit/internal/gunzip"
	"symkit/internal/profile"
	"symkit/internal/smallfile"
	"symkit/internal/usage"
	"symkit/located"
	"symkit/lookup"
)

const profileSummary = "Fill in the functions and lines of a profile that has addresses alone."

const profileDetail = `A profile is what pprof reads (profile.proto, packed with gzip or not). Each of its addresses gets its functions, with the
inlined calls, files, lines and columns. The files are those at the paths of the profile, below --sysroot, or those with
the build ids of the profile, on this machine, on servers, or in symbol stores. What is not found stays as it is, with a
warning.

Examples:

  symaddr profile cpu.pb.gz -o filled.pb.gz

  symaddr profile --sysroot ./rootfs --debug-dir ./debug cpu.pb.gz -o filled.pb.gz     of another machine

  symaddr profile --symbols https://symbols.example.org cpu.pb.gz -o filled.pb.gz

  symaddr profile --debuginfod cpu.pb.gz -o - | pprof -http=: -

Exit codes: 0 done, 1 a file cannot be read or written, 80 wrong usage.

A file named profile is read with symaddr ./profile.`

// profileCLI is the command line of symaddr profile.
type profileCLI struct {
	Profile string `arg:"" help:"Profile; - for standard input."`
	Output  string `short:"o" required:"" placeholder:"FILE" help:"Write to FILE, which appears whole or not at all; - for standard output."`
	Mangled bool   `help:"Leave linkage names, which pprof makes readable in the form that it is asked for."`
	fileFlags

	Version command.VersionFlag `help:"Print the version and exit."`

	stdin  io.Reader
	stdout io.Writer
	stderr *command.Messages
	files  *lookup.Cache
	first  map[*profile.Mapping]uint64 // where the first bytes of files are, if the profile says
	warned map[*profile.Mapping]bool
}

// runProfile is the whole subcommand. It returns the exit code.
func runProfile(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := profileCLI{stdin: stdin, stdout: stdout, stderr: command.NewMessages("symaddr", stderr), warned: map[*profile.Mapping]bool{}}
	return profileProgram(ctx, stdout, c.stderr).Run(&c, args, func(*kong.Context) (int, error) {
		if c.Verbose {
			c.stderr.ShowAll()
		}
		defer command.UseProcessors(c.Jobs)()
		err := c.fill(ctx)
		if err != nil {
			return command.Failed, err
		}
		return 0, nil
	})
}

// profileProgram returns the subcommand as a program.
func profileProgram(ctx context.Context, stdout io.Writer, stderr *command.Messages) *command.Program {
	return &command.Program{Name: "symaddr profile", Description: profileSummary + "\n\n" + profileDetail, Context: ctx,
		Variables: []usage.Variable{command.Debuginfod},
		Examples:  map[string]string{"": "symaddr profile cpu.pb.gz -o filled.pb.gz"}, Stdout: stdout, Stderr: stderr}
}

// mostProfile bounds a profile in bytes, as it is and unpacked.
const mostProfile = 1 << 30

// errProfile: an input is no profile.
var errProfile = errors.New("no profile of pprof")

// read reads the profile.
func (c *profileCLI) read() (*profile.Profile, error) {
	var data []byte
	var err error
	if c.Profile == "-" {
		data, err = io.ReadAll(io.LimitReader(c.stdin, mostProfile+1))
	} else {
		data, err = smallfile.Read(c.Profile, mostProfile)
	}
	if err == nil && bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		var text *gunzip.Reader
		text, err = gunzip.NewReader(bytes.NewReader(data))
		if err == nil {
			data, err = io.ReadAll(io.LimitReader(text, mostProfile+1))
		}
	}
	if err != nil {
		return nil, &filename.Error{Path: c.Profile, Err: filename.WithoutPath(err)}
	}
	if len(data) > mostProfile {
		return nil, &filename.Error{Path: c.Profile, Err: smallfile.ErrSize}
	}
	p, err := profile.Parse(data)
	if err == nil && len(p.Mappings) == 0 {
		err = errProfile
	}
	if err != nil {
		return nil, &filename.Error{Path: c.Profile, Err: err}
	}
	return p, nil
}

// fill reads the profile and writes it.
func (c *profileCLI) fill(ctx context.Context) error {
	p, err := c.read()
	if err != nil {
		return err
	}
	err = atomicfile.Clobbers(c.Output, c.stdout, c.Profile)
	if err != nil {
		return err
	}
	opened, err := c.modules(ctx, c.stderr)
	if err != nil {
		return err
	}
	defer opened.close()
	c.first = firstBytes(p.Mappings)
	c.files = lookup.NewCache(int64(c.Memory), func(ctx context.Context, key string) (*lookup.File, error) {
		id, path, _ := strings.Cut(key, " ")
		return opened.find(ctx, path, id)
	})
	defer c.files.Close()
	s := profile.Symbols{Name: (*lookup.Frame).Readable,
		Frames: func(dst []lookup.Frame, m *profile.Mapping, addr uint64) []lookup.Frame {
			return c.frames(ctx, dst, m, addr)
		}}
	if c.Mangled {
		s.Name = func(f *lookup.Frame) string { return cmp.Or(f.Linkage, f.Name) }
	}
	return atomicfile.WriteOr(ctx, c.Output, c.stdout, func(w io.Writer) error {
		packed := gzip.NewWriter(w)
		buffered := bufio.NewWriterSize(packed, 64<<10)
		err := p.Write(buffered, s)
		_, damaged := errors.AsType[*located.Error](err)
		if damaged {
			err = &filename.Error{Path: c.Profile, Err: err}
		}
		return cmp.Or(err, buffered.Flush(), packed.Close())
	})
}

// firstBytes returns where the first byte of the file of each mapping is: in the last mapping of that file at or below
// whose offset is 0. Most profiles have mappings of code alone.
func firstBytes(mappings []*profile.Mapping) map[*profile.Mapping]uint64 {
	type file struct{ path, id string }
	last, first := map[file]uint64{}, map[*profile.Mapping]uint64{}
	byStart := func(a, b *profile.Mapping) int { return cmp.Compare(a.Start, b.Start) }
	for _, m := range slices.SortedStableFunc(slices.Values(mappings), byStart) {
		of := file{m.File, m.BuildID}
		if m.Offset == 0 {
			last[of] = m.Start
		}
		first[m] = last[of]
	}
	return first
}

// errPseudo: a mapping is not one of a file.
var errPseudo = errors.New("no file")

// frames appends the functions that an address in a mapping is in.
func (c *profileCLI) frames(ctx context.Context, dst []lookup.Frame, m *profile.Mapping, addr uint64) []lookup.Frame {
	path, symbol := m.File, ""
	inBrackets := strings.HasPrefix(path, "[") // the kernel, one of its modules, or memory without a file
	if inBrackets {
		symbol, _ = strings.CutPrefix(path, "[kernel.kallsyms]")
		path = ""
	}
	id := m.BuildID
	_, err := hex.DecodeString(id)
	if err != nil {
		id = "" // of a kind that no file of ours has
	}
	if path == "" && id == "" {
		c.warn(m, errPseudo)
		return dst
	}
	f, release, err := c.files.Get(ctx, id+" "+path)
	if err != nil {
		c.warn(m, err)
		return dst
	}
	defer release()
	virtual, ok := lookup.Mapping{Start: m.Start, Limit: m.Limit, Offset: m.Offset, First: c.first[m], Symbol: symbol}.Address(f, addr)
	if !ok {
		c.warn(m, fmt.Errorf("%s: %#x is not an address of its code", f.Path(), addr))
		return dst
	}
	dst, err = f.Frames(dst, virtual)
	if err != nil {
		c.warn(m, err)
	}
	return dst
}

// warn writes a warning about a mapping, if it is the first one.
func (c *profileCLI) warn(m *profile.Mapping, err error) {
	if !c.warned[m] {
		c.warned[m] = true
		command.Line(c.stderr, "symaddr profile: warning: mapping %s at %#x: %v", cmp.Or(m.File, "without a name"), m.Start, err)
	}
}

// others returns symaddr profile and the programs that symaddr can replace, for --help-json.
func others() ([]usage.Command, []usage.Program) {
	p := profileProgram(context.Background(), io.Discard, command.NewMessages("symaddr", io.Discard)).Model(new(profileCLI)) // writes nothing
	p.Name = "profile"
	return []usage.Command{{Help: profileSummary, Description: profileDetail, Alone: true, Node: p.Node, Environment: p.Environment}}, nil
}
