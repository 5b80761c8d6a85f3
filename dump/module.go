package dump

import (
	"path/filepath"
	"strings"

	"symkit/dump/dwarfx"
	"symkit/elfx"
	"symkit/emit"
)

// Module is a dumped module, ready to be written. Addresses are relative to
// the module's load address. Its texts are gone when the files it was made of are closed.
type Module struct {
	OS, Arch, ID, Name string
	CodeID             string // upper-case hexadecimal; empty without a build id
	Generator          string
	Extra              []string // INFO lines, each "KEY text"

	// Files are the names of the source files, in the order of their numbers.
	Files []string
	// Origins are the names of the inlined functions, likewise, as emit.OriginName leaves them.
	Origins []string
	// Funcs ascend by address and do not overlap.
	Funcs []Func
	// Publics ascend by address. Their names alias the image's files.
	Publics []emit.Public
	// SignalFrames are the ranges of code that a signal's delivery, not a
	// call, makes a frame of.
	SignalFrames []dwarfx.Range

	Stats Stats

	places struct { // by number, index of Files, of Origins
		files, origins []uint32
	}
	bias     uint64      // what addresses are less than virtual ones
	jobs     int         // goroutines for Write
	img      *elfx.Image // what it was made of
	unwinder *unwinder   // makes the STACK CFI records, or nil
}

// Func is one contiguous range of a function.
type Func struct {
	Addr, Size uint64
	Name       string
	Multiple   bool // other functions share its address
	sound      bool // see named
	// lines ascend and do not overlap. Their File is an index of Module.places.
	lines []emit.Line
	// inlines come outer before inner.
	inlines []inline
	ranges  *rangeList // what the spans of inlines are of
}

// inline is one inlined call in a Func. CallFile and Origin are indices of
// Module.places.
type inline = dwarfx.Inline

// moduleName is the SONAME, else the name of the file; a debug file alone
// loses its ending.
func (d *dumper) moduleName() string {
	main := d.img.Main
	soname, err := main.Soname()
	d.loss(err)
	if soname != "" {
		return soname
	}
	name := filepath.Base(main.Path())
	if !main.HoldsLoaded() {
		name = strings.TrimSuffix(name, ".debug")
		d.warnAlone("%s: a debug file alone: the module is named %q; give the binary too, or --name", main.Path(), name)
	}
	return name
}

func (d *dumper) codeID() string {
	if id := d.img.Main.CodeID(); id != "" || d.img.Debug == nil {
		return id
	}
	return d.img.Debug.CodeID()
}
