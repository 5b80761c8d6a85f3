package elfx

import (
	"sync"

	"symkit/internal/filename"
	"symkit/internal/mem"
)

// Open maps the file at path and reads its headers and notes. Open fails if the
// file is not an ELF file (ErrNotELF) or if neither header table is usable; lesser
// damage is in Losses.
func Open(path string) (*File, error) { return Options{}.Open(path) }

// Open is the function Open with options.
func (opt Options) Open(path string) (*File, error) {
	f, err := open(path, opt)
	if err != nil {
		return nil, &filename.Error{Path: path, Err: err}
	}
	return f, nil
}

// open is Open without the path in its errors.
func open(path string, opt Options) (*File, error) {
	m, err := mem.Open(path)
	if err != nil {
		return nil, filename.WithoutPath(err)
	}

	// Parsing reads the mapped file, so it is guarded: the file can be truncated at any
	// time.
	f := &File{opt: opt, input: input{path: path, source: m, info: m.Info(), data: m.Bytes()}}
	if err := mem.Guard(f.parse); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// NewFile reads an ELF file in memory. The name takes the place of the path,
// also in errors. The File aliases data.
func NewFile(name string, data []byte) (*File, error) { return Options{}.NewFile(name, data) }

// NewFile is the function NewFile with options.
func (opt Options) NewFile(name string, data []byte) (*File, error) {
	f := &File{opt: opt, input: input{path: name, data: data}}
	if err := f.do(f.parse); err != nil {
		return nil, err
	}
	return f, nil
}

// NewPart reads an ELF file that is inside another file, whose path is archive.
// The File owns source; after an error source is released.
func (opt Options) NewPart(path, archive string, source Source) (*File, error) {
	f := &File{opt: opt, input: input{path: path, archive: archive, source: source, data: source.Bytes()}}
	if err := f.do(f.parse); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// parse reads everything that Open reads.
func (f *File) parse() error {
	if f.paid == 0 {
		f.paid = uint64(len(f.data))
	}
	h, t, err := readHeader(f.data)
	if err != nil {
		return err
	}
	f.Header = h
	f.over = sync.OnceValue(func() map[int]error { return allOverAllowance(f) })
	err = readTables(f, &t)
	if err != nil {
		return err
	}

	// The next steps depend on the tables, in this order.
	nameSections(f, t)
	f.holdsLoaded = findLoaded(f)
	if f.namesLost() {
		synthesize(f)
	}
	f.buildID = findBuildID(f)
	layOut(f)
	findParts(f)
	linkRelocs(f)
	f.reloc.symbols = sync.OnceValues(func() ([]Symbol, error) { return relocationSymbols(f) })
	return nil
}
