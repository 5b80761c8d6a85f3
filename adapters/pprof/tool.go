// Package pprof lets pprof read the symbols of programs with symkit instead of with binutils or llvm-symbolizer: a
// program that calls pprof's driver gets functions, inlined calls, files, lines and columns of C, C++, Rust and other
// programs, and needs no other program.
//
//	tool := &pprof.Tool{}
//	defer tool.Close()
//	err := driver.PProf(&driver.Options{Obj: tool, Sym: tool})
//	if err != nil {
//		return err
//	}
//
// With Obj alone, pprof's own symbolizer asks Tool for each address, demangles, and asks servers for what is missing.
// With Sym, files are found by their build ids too.
package pprof

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/google/pprof/driver"
	"github.com/ianlancetaylor/demangle"

	"symkit/elfx"
	"symkit/internal/disasm"
	"symkit/lookup"
)

// Tool is a driver.ObjTool and a driver.Symbolizer. Its zero value is ready for use. Files stay open until Close.
type Tool struct {
	// Lookup says where files and their companions are searched for.
	Lookup lookup.Options
	// Warn, if not nil, is called with the reason why Symbolize leaves a mapping as it is.
	Warn func(error)

	once  sync.Once
	files *lookup.Cache
}

// Close closes all files. None of the ObjFiles may be in use.
func (t *Tool) Close() { t.cache().Close() }

// cache returns the files.
func (t *Tool) cache() *lookup.Cache {
	t.once.Do(func() {
		t.files = lookup.NewCache(t.Lookup.Memory, func(ctx context.Context, key string) (*lookup.File, error) {
			id, path, _ := strings.Cut(key, " ")
			buildID, err := hex.DecodeString(id)
			if err != nil {
				return nil, err
			}
			return lookup.OpenModule(ctx, path, buildID, t.Lookup)
		})
	})
	return t.files
}

// open opens the file of a mapping. A build id that is not hexadecimal is of another kind, and is not compared.
func (t *Tool) open(path, buildID string, m lookup.Mapping) (*object, error) {
	_, err := hex.DecodeString(buildID)
	if err != nil {
		buildID = ""
	}
	f, release, err := t.cache().Get(context.Background(), buildID+" "+path)
	if err != nil {
		return nil, err
	}
	return &object{f, m, release}, nil
}

// Open implements driver.ObjTool.
func (t *Tool) Open(file string, start, limit, offset uint64, relocationSymbol string) (driver.ObjFile, error) {
	o, err := t.open(file, "", lookup.Mapping{Start: start, Limit: limit, Offset: offset, Symbol: relocationSymbol})
	if err != nil {
		return nil, err
	}
	return o, nil
}

// errMachine: the instructions of a machine are not decoded.
var errMachine = errors.New("instructions of this machine are not decoded")

// Disasm implements driver.ObjTool. The syntax is always that of the GNU assembler. As objdump's, an instruction has the
// line of an inlined call and the name of the function that it is in.
func (t *Tool) Disasm(file string, start, end uint64, _ bool) ([]driver.Inst, error) {
	o, err := t.open(file, "", lookup.Mapping{})
	if err != nil {
		return nil, err
	}
	defer o.release()
	image, err := elfx.Options{Limits: t.Lookup.Limits}.Open(o.file.Path())
	if err != nil {
		return nil, err
	}
	defer image.Close()
	machine := disasm.Machine{Machine: image.Machine, Class: image.Class, BigEndian: image.BigEndian}
	if !machine.Known() {
		return nil, fmt.Errorf("%s: %s: %w", file, image.Machine, errMachine)
	}

	var list []driver.Inst
	var frames []lookup.Frame
	for _, in := range machine.Decode(image.BytesAt(start, end-start), start) {
		inst := driver.Inst{Addr: in.Addr, Text: in.Text}
		frames, _ = o.frames(frames[:0], in.Addr) // an instruction may have no line
		if len(frames) > 0 {
			inst.Function, inst.File, inst.Line = frames[len(frames)-1].Readable(), frames[0].File, int(frames[0].Line)
		}
		list = append(list, inst)
	}
	return list, nil
}

// object is a driver.ObjFile: a file where a process had it in memory.
type object struct {
	file    *lookup.File
	mapping lookup.Mapping
	release func()
}

func (o *object) Name() string    { return o.file.Path() }
func (o *object) BuildID() string { return hex.EncodeToString(o.file.BuildID()) }
func (o *object) Close() error    { o.release(); return nil }

// errAddress: an address is not one of the file's code.
var errAddress = errors.New("not an address of the file's code")

// ObjAddr returns the address in the file. An address may be the end of a range.
func (o *object) ObjAddr(addr uint64) (uint64, error) {
	virtual, ok := o.mapping.Address(o.file, addr)
	if !ok {
		virtual, ok = o.mapping.Address(o.file, addr-1)
		virtual++
	}
	if !ok {
		return 0, fmt.Errorf("%s: %#x: %w", o.file.Path(), addr, errAddress)
	}
	return virtual, nil
}

// frames appends the functions that an address is in, the innermost inlined one first.
func (o *object) frames(dst []lookup.Frame, addr uint64) ([]lookup.Frame, error) {
	virtual, ok := o.mapping.Address(o.file, addr)
	if !ok {
		return dst, fmt.Errorf("%s: %#x: %w", o.file.Path(), addr, errAddress)
	}
	return o.file.Frames(dst, virtual)
}

// SourceLine returns the functions with their linkage names, which pprof demangles.
func (o *object) SourceLine(addr uint64) ([]driver.Frame, error) {
	frames, err := o.frames(nil, addr)
	var list []driver.Frame
	for i := range frames {
		f := &frames[i]
		list = append(list, driver.Frame{Func: systemName(f), File: f.File, Line: int(f.Line), Column: int(f.Column), StartLine: int(f.StartLine)})
	}
	if len(list) > 0 {
		err = nil // damage costs a part of the answer
	}
	return list, err
}

// systemName returns the linkage name of a function, or the name of one that has none.
func systemName(f *lookup.Frame) string {
	if f.Linkage != "" {
		return f.Linkage
	}
	return f.Name
}

// Symbols returns the functions whose names, or readable names in one of pprof's forms, r matches, and that at addr.
func (o *object) Symbols(r *regexp.Regexp, addr uint64) ([]*driver.Sym, error) {
	symbols := o.file.Symbols(nil, "", -1)
	symbols = slices.DeleteFunc(symbols, func(s lookup.Symbol) bool { return s.Data })
	var list []*driver.Sym
	for i := 0; i < len(symbols); {
		// The names of one address. A function without a size ends where the next one begins.
		start, size, names := symbols[i].Addr, uint64(0), []string(nil)
		for ; i < len(symbols) && symbols[i].Addr == start; i++ {
			size = max(size, symbols[i].Size)
			if !slices.Contains(names, symbols[i].Name) {
				names = append(names, symbols[i].Name)
			}
		}
		if size == 0 && i < len(symbols) {
			size = symbols[i].Addr - start
		}
		sym := &driver.Sym{Name: names, File: o.file.Path(), Start: start, End: start + max(size, 1) - 1}
		if addr == 0 || addr < sym.Start || addr > sym.End {
			sym.Name = matching(names, r)
		}
		if sym.Name != nil {
			list = append(list, sym)
		}
	}
	return list, nil
}

// matching returns the first of the names that r matches, as it is or in the form that matches.
func matching(names []string, r *regexp.Regexp) []string {
	for _, name := range names {
		if r == nil || r.MatchString(name) {
			return []string{name}
		}
		for _, mode := range []string{"full", "templates", ""} {
			text := demangle.Filter(name, forms[mode]...)
			if text != name && r.MatchString(text) {
				return []string{text}
			}
		}
	}
	return nil
}

// longest bounds names: of a forged one, a few bytes can stand for gigabytes.
var longest = demangle.MaxLength(16) // a power of two

// forms are the forms of readable names that pprof's flag -symbolize=demangle= chooses.
var forms = map[string][]demangle.Option{
	"full":      {demangle.NoClones, longest},
	"templates": {demangle.NoParams, demangle.NoEnclosingParams, longest},
	"":          {demangle.NoParams, demangle.NoEnclosingParams, demangle.NoTemplateParams, longest},
}
