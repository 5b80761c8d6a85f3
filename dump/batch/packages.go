package batch

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"symkit/elfx"
	"symkit/elfx/archive/pkg"
	"symkit/internal/address"
	"symkit/internal/filename"
	"symkit/internal/limitof"
	"symkit/limits"
	"symkit/located"
)

// The files of packages are read in two steps. Finder.rounds streams every package once
// and reads from each ELF file the traits that Group needs. hold.extract streams the
// packages of a few modules again, and holds the bytes of their files until the modules
// are dumped (hold.go). Files that fit into memory are held from the first step on, so
// that packages of usual sizes are unpacked once.

// Packed is an ELF file in a package.
type Packed struct {
	Package string // path of the package
	Name    string // path in the package
	*body
}

// body is the content of a file in a package. Hard links share one.
type body struct {
	pack   *pack
	at     int // number of the file among the ELF files of the package
	size   int64
	traits traits
	sum    [sha256.Size]byte // of a file without a build id

	held *held // nil while the bytes are not held
	err  error // why the file could not be extracted again
}

// pack is a package, as it was when it was indexed.
type pack struct {
	path   string
	limits limits.Limits
	open   func(ctx context.Context) (*Stream, error)
	size   int64  // in bytes, -1 if the server does not send the size
	tag    string // changes with the content
	read   bool   // size and tag are known
	blob   bool   // a layer of an OCI image layout
	single bool   // an ELF file, not a package
}

// Stream is an open package, or a single ELF file, on this machine or on a server.
type Stream struct {
	io.ReadCloser
	Size int64  // in bytes, -1 if the server does not send the size
	Tag  string // changes with the content; may be empty
}

// openLocal opens the file at path.
func openLocal(_ context.Context, path string) (*Stream, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, filename.WithoutPath(err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, filename.WithoutPath(err)
	}
	return &Stream{file, info.Size(), info.ModTime().String()}, nil
}

// opener returns the function that opens a package.
func (f *Finder) opener(in *Input) func(ctx context.Context) (*Stream, error) {
	path, address := in.Path, in.unread.address
	if raw := address.Raw(); raw != "" {
		return func(ctx context.Context) (*Stream, error) {
			file, err := f.Remote(ctx, raw)
			return file, unnamed(err, address)
		}
	}
	return func(ctx context.Context) (*Stream, error) { return openLocal(ctx, path) }
}

// unnamed returns an error about the file at an address without the address: the names of inputs
// are without the query.
func unnamed(err error, a address.Address) error {
	if err == nil {
		return nil
	}
	text, ok := strings.CutPrefix(err.Error(), a.String()+": ")
	if !ok {
		return address.Error(err)
	}
	return &reason{text, err}
}

// reason is an error whose text is a part of that of err.
type reason struct {
	text string
	err  error
}

func (e *reason) Error() string { return e.text }
func (e *reason) Unwrap() error { return e.err }

// limit returns how many bytes the package may unpack to.
func (p *pack) limit() uint64 { return p.limits.Max(limitof.Package, uint64(max(p.size, 0))) }

// sameContent reports whether two files of packages have the same bytes. For files with
// build ids the result is false.
func (p *Packed) sameContent(other *Packed) bool {
	return p.body == other.body || p.traits.id == "" && p.sum == other.sum && p.size == other.size && p.sum != [sha256.Size]byte{}
}

// name returns the path of the package and the name in it. An ELF file by itself has no
// name in it.
func (p *Packed) name() string {
	if p.Name == "" {
		return p.Package
	}
	return p.Package + elfx.Separator + p.Name
}

// open opens the file, whose bytes must be held.
func (p *Packed) open() (*elfx.File, error) {
	name := p.name()
	switch {
	case p.err != nil:
		return nil, fmt.Errorf("%s: %w", name, p.err)
	case p.held == nil:
		return nil, fmt.Errorf("%s: %w", name, errNotHeld)
	}
	return elfx.Options{Limits: p.pack.limits}.NewPart(name, p.Package, borrowed(p.held.bytes()))
}

var errNotHeld = errors.New("was not extracted from its package")

// borrowed is the content of an ELF file whose bytes the Hold owns.
type borrowed []byte

func (b borrowed) Bytes() []byte    { return b }
func (borrowed) Drop(_, _ uint64)   {}
func (borrowed) Release() (_ error) { return nil }

// contents is the result of indexing one package.
type contents struct {
	inputs []Input
	failed []Failure
	done   bool   // the package was dumped before
	sum    string // of the package, if Finder.Done is set
}

// index streams a package for f and returns an Input for each ELF file, sorted by name. If
// f.Member is set, only the file of this name counts. Damage is added to contents.failed.
func (h *hold) index(ctx context.Context, in *Input, f *Finder) (c contents) {
	path, member := in.Path, f.Member
	p := &pack{path: path, limits: f.Limits, open: f.opener(in), blob: in.unread.image != ""}

	// A package that was dumped before is not read.
	if f.Done != nil {
		var err error
		c.sum, c.done, err = f.Done.digest(ctx, p)
		if err != nil {
			c.failed = append(c.failed, Failure{path, fmt.Errorf("%s: %w", path, err)})
		}
		if err != nil || c.done {
			return c
		}
	}

	// A file and the hard links to it share a body.
	bodies := map[string]*body{} // by name
	at := 0
	err := p.walk(ctx, pkg.Visitor{
		File: func(m pkg.Member, r io.Reader) error {
			b := &body{pack: p, at: at, size: m.Size}
			at++
			if member != "" && member != m.Name {
				return nil
			}
			packed := &Packed{path, m.Name, b}
			found := member == "" && !p.single
			err := h.look(ctx, b, packed.name(), found, r)
			if err != nil && m.Name != "" {
				err = fmt.Errorf("%s: %w", m.Name, err)
			}
			if err != nil {
				return err
			}

			bodies[m.Name] = b
			c.inputs = append(c.inputs, Input{Path: path, Packed: packed, Found: found})
			return nil
		},
		Link: func(name, target string) bool {
			b := bodies[target]
			if b == nil || member != "" {
				return false
			}
			bodies[name] = b
			c.inputs = append(c.inputs, Input{Path: path, Packed: &Packed{path, name, b}, Found: true})
			return true
		},
		Damaged: func(name string, err error) {
			if name != "" {
				name = elfx.Separator + name
			}
			c.failed = append(c.failed, Failure{path, fmt.Errorf("%s%s: %w", path, name, err)})
		},
	})

	// An interruption is no fault of the package.
	if err != nil && ctx.Err() == nil {
		if !strings.HasPrefix(err.Error(), path+": ") {
			err = fmt.Errorf("%s: %w", path, err)
		}
		c.failed = append(c.failed, Failure{path, err})
	}
	if member != "" && err == nil && len(c.inputs) == 0 {
		c.failed = append(c.failed, Failure{path, fmt.Errorf("%s: no ELF file %s in the package", path, member)})
	}

	slices.SortStableFunc(c.inputs, func(a, b Input) int { return comparePaths(a.Packed.Name, b.Packed.Name) })
	return c
}

// comparePaths orders paths as a walk of the directories would visit them.
func comparePaths(a, b string) int {
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
}

// walk streams the package. The first call stores the size and the tag of the file; later
// calls fail if the file has changed. An ELF file counts as a package with one member,
// whose name is empty.
func (p *pack) walk(ctx context.Context, v pkg.Visitor) error {
	file, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer file.Close()
	if !p.read {
		p.size, p.tag, p.read = file.Size, file.Tag, true
	}
	if file.Size != p.size || file.Tag != p.tag {
		return elfx.ErrChanged
	}

	in := &interruptible{ctx: ctx, r: file}
	v.Limits = p.limits
	if p.blob {
		v.Blob = filepath.ToSlash(p.path)
	}
	if at, ok := file.ReadCloser.(io.ReaderAt); ok {
		v.At = interruptibleAt{ctx, at}
	}
	r := bufio.NewReaderSize(in, pkg.HeadSize)
	head, _ := r.Peek(pkg.HeadSize) // a shorter file is read, too
	if isELF(head) && !pkg.IsImage(head) {
		p.single = true
		if p.size < 0 {
			return errors.New("the server does not tell the size of the file")
		}
		err = v.File(pkg.Member{Size: p.size}, r)
		if errors.Is(err, pkg.ErrStop) {
			err = nil
		}
	} else {
		err = pkg.Walk(r, p.size, v)
	}
	if errors.Is(err, pkg.ErrPackage) {
		err = &located.Error{Section: "package", Offset: int(in.n), Err: err}
	}
	return err
}

// interruptible is a reader that fails when ctx ends. n counts the bytes.
type interruptible struct {
	ctx context.Context
	r   io.Reader
	n   int64
}

func (r *interruptible) Read(p []byte) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	n, err := r.r.Read(p)
	r.n += int64(n)
	return n, err
}

// interruptibleAt is an io.ReaderAt that fails when ctx ends.
type interruptibleAt struct {
	ctx context.Context
	r   io.ReaderAt
}

func (r interruptibleAt) ReadAt(p []byte, at int64) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	return r.r.ReadAt(p, at)
}

// look reads the traits of a file from r, and keeps the file's bytes if they fit and the file
// may be part of a module. found is that of the file's Input.
func (h *hold) look(ctx context.Context, b *body, name string, found bool, r io.Reader) error {
	if uint64(b.size) > b.pack.limit() && uint64(b.size) > uint64(max(b.pack.size, 0)) {
		return b.pack.limits.Exceeded(limitof.Package, uint64(max(b.pack.size, 0)))
	}

	keep := h.reserve(b.size)
	if !keep {
		release, err := h.borrow(ctx, b.size)
		if err != nil {
			return err
		}
		defer release()
	}
	data, err := h.read(r, b.size, b.size > h.limit/2 && !keep)
	if err != nil {
		if keep {
			h.free(b.size)
		}
		return err
	}

	file, err := elfx.Options{Limits: b.pack.limits}.NewPart(name, b.pack.path, borrowed(data.bytes()))
	b.traits = traits{err: err}
	if err == nil {
		b.traits = traitsOf(file)
		file.Close()
	}
	if b.traits.id == "" {
		b.sum = sha256.Sum256(data.bytes())
	}
	if keep {
		h.free(b.size) // put counts the file
	}
	if keep && b.traits.err == nil && b.traits.why(&Input{Found: found}) == nil {
		h.put(b, data)
	} else {
		data.release()
	}
	return nil
}

// extract holds the files of the modules. Other files are given up if there is not enough memory. A
// member that cannot be extracted is an error of the files. The error of extract is the cause of
// ctx's end.
func (h *hold) extract(ctx context.Context, modules []*module, jobs int) error {
	wanted := bodiesOf(modules)

	// A module that is larger than the memory to hold it is held on disk.
	var sum, missing int64
	packs := map[*pack][]*body{}
	var order []*pack
	for _, b := range wanted {
		sum += b.size
		if b.held != nil {
			continue
		}
		missing += b.size
		if packs[b.pack] == nil {
			order = append(order, b.pack)
		}
		packs[b.pack] = append(packs[b.pack], b)
	}
	onDisk := sum > h.limit
	h.evict(wanted, missing)

	return each(ctx, len(order), jobs, func(i int) { h.unpack(ctx, order[i], packs[order[i]], onDisk) })
}

// unpack reads the bytes of files in one package.
func (h *hold) unpack(ctx context.Context, p *pack, files []*body, onDisk bool) {
	slices.SortFunc(files, func(a, b *body) int { return cmp.Compare(a.at, b.at) })
	at := 0
	left := files
	err := p.walk(ctx, pkg.Visitor{File: func(m pkg.Member, r io.Reader) error {
		at++
		if left[0].at != at-1 {
			return nil
		}
		b := left[0]
		left = left[1:]
		data, err := h.read(r, b.size, onDisk)
		if err != nil {
			return err
		}
		h.put(b, data)
		if len(left) == 0 {
			return pkg.ErrStop
		}
		return nil
	}})
	for _, b := range files {
		if b.held == nil {
			b.err = cmp.Or(err, elfx.ErrChanged)
		}
	}
}

// bodiesOf returns the files of packages that belong to modules, each once.
func bodiesOf(modules []*module) (list []*body) {
	seen := map[*body]bool{}
	for _, m := range modules {
		for _, in := range append([]*Input{&m.Main, m.Debug}, m.Extra...) {
			if in != nil && in.Packed != nil && !seen[in.Packed.body] {
				seen[in.Packed.body] = true
				list = append(list, in.Packed.body)
			}
		}
	}
	return list
}

// maxWave bounds the modules of a wave: each takes some kB from the look at its files to its record.
const maxWave = 1024

// waves divides modules into groups whose files h can hold at a time. Every group but
// the last has as many modules as fit, at most maxWave; a module that is larger is a group of its own.
// Modules that are not in packages take no memory to hold.
func (h *hold) waves(modules []module) (waves [][]*module) {
	var wave []*module
	var sum int64
	seen := map[*body]bool{} // files of the wave
	for i := range modules {
		m := &modules[i]
		var size int64
		files := bodiesOf([]*module{m})
		for _, b := range files {
			if !seen[b] {
				size += b.size
			}
		}
		if len(wave) == maxWave || len(wave) > 0 && size > 0 && sum+size > h.limit {
			waves = append(waves, wave)
			wave, sum = nil, 0
			clear(seen)
			for _, b := range files {
				sum += b.size
			}
		} else {
			sum += size
		}
		for _, b := range files {
			seen[b] = true
		}
		wave = append(wave, m)
	}
	if len(wave) > 0 {
		waves = append(waves, wave)
	}
	return waves
}

// layers returns the paths of the layers if dir is an OCI image layout. The result is
// nil if it is not.
func layers(dir string) (list []string, incomplete []error, err error) {
	root := os.DirFS(dir)
	if !pkg.IsLayout(root) {
		return nil, nil, nil
	}
	list, incomplete, err = pkg.Layers(root)
	if err == nil && len(list)+len(incomplete) == 0 {
		err = errors.New("an OCI image layout without layers")
	}
	return list, incomplete, err
}
