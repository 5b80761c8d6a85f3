package lookup

import (
	"bytes"
	"context"
	"iter"

	"symkit/internal/dwarfx"
	"symkit/internal/mem"
)

// Source is a source file that the line tables of an ELF file name.
type Source struct {
	// Path is that which Frames have.
	Path string
	// Text is the text that the compiler has embedded (DW_LNCT_LLVM_source), nil if it has not. It is a copy.
	Text []byte
	// MD5 is the digest of the file when it was compiled, nil if the table does not have it.
	MD5 []byte
}

// maxSourceText bounds the text of a file, in bytes.
const maxSourceText = 16 << 20

// Sources yields the source files that the line tables name, each path once for each content. wanted, if not nil, says
// of a path whether it is yielded at all. Symbol files and GSYM files name no text. An error is about damage of one
// table; the others follow.
func (f *File) Sources(wanted func(path string) bool) iter.Seq2[Source, error] {
	return func(yield func(Source, error) bool) {
		x, ok := f.source.(*module)
		if !ok {
			return
		}
		r := sourceReader{table: dwarfx.LineTable{Texts: true}, seen: map[sourceKey]bool{}, tables: map[dwarfx.LineKey]bool{}, wanted: wanted}
		k, err := x.all(context.Background())
		if err != nil && !yield(Source{}, err) {
			return
		}
		for _, s := range k.slots {
			var found []Source
			err := mem.Guard(func() (err error) {
				found, err = r.read(s.root)
				return err
			})
			for i := range found {
				if !yield(found[i], nil) {
					return
				}
			}
			if err != nil && !yield(Source{}, err) {
				return
			}
		}
	}
}

// sourceKey is a source file: the same path may have been compiled with two contents.
type sourceKey struct {
	path, md5 string
	embedded  bool
}

// sourceReader reads the source files of units.
type sourceReader struct {
	table  dwarfx.LineTable
	seen   map[sourceKey]bool
	tables map[dwarfx.LineKey]bool
	wanted func(path string) bool
	path   []byte
}

// read returns the files of a unit that were not seen before.
func (r *sourceReader) read(u *dwarfx.Unit) (found []Source, err error) {
	if !u.HasLines || r.tables[u.LineKey()] {
		return nil, nil
	}
	r.tables[u.LineKey()] = true
	err = r.table.ReadFiles(u)
	compDir, _ := u.String(u.CompDir) // a string outside of its section is no name
	base := r.table.BaseDir(compDir)
	for n := uint32(0); ; n++ {
		dir, name, ok := r.table.File(n)
		if !ok && n > 0 { // before DWARF 5 there is no file 0
			return found, err
		}
		if len(name) == 0 || len(base)+len(dir)+len(name) > maxName {
			continue
		}
		r.path = appendPath(r.path[:0], base, dir, name)
		text := r.table.Text(n)
		key := sourceKey{string(r.path), string(text.MD5), text.Source != nil}
		if r.seen[key] || r.wanted != nil && !r.wanted(key.path) {
			continue
		}
		r.seen[key] = true
		s := Source{Path: key.path, MD5: bytes.Clone(text.MD5)}
		if text.Source != nil && len(text.Source) <= maxSourceText {
			s.Text = bytes.Clone(text.Source)
		}
		found = append(found, s)
	}
}
