package batch

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strings"

	"symkit/elfx"
	"symkit/elfx/archive/pkg"
	"symkit/internal/limitof"
)

// The files of packages are read in two steps. Finder.rounds streams every package once
// and reads from each ELF file the traits that Group needs. hold.extract streams the
// packages of a few modules again, and holds the bytes of their files until the modules
// are dumped (hold.go). Files that fit into memory are held from the first step on, so
// that packages of usual sizes are unpacked once.

// contents is the result of indexing one package.
type contents struct {
	inputs []input
	failed []failure
	done   bool   // the package was dumped before
	sum    string // of the package, if Finder.Done is set
}

// index streams a package for f and returns an input for each ELF file, sorted by name. If
// f.Member is set, only the file of this name counts. Damage is added to contents.failed.
func (h *hold) index(ctx context.Context, in *input, f *Finder) (c contents) {
	path, member := in.Path, f.Member
	kept := *in // the round clears its inputs
	p := &pack{path: path, limits: f.Limits, open: kept.openPackage, blob: in.unread.image != ""}

	// A package that was dumped before is not read.
	if f.Done != nil {
		var err error
		c.sum, c.done, err = f.Done.digest(ctx, p)
		if err != nil {
			c.failed = append(c.failed, failure{path, fmt.Errorf("%s: %w", path, err)})
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
			packed := &packed{path, m.Name, b}
			found := member == "" && (in.Found || !p.single && !m.Whole)
			err := h.look(ctx, b, packed.name(), found, r)
			if err != nil && m.Name != "" {
				err = fmt.Errorf("%s: %w", m.Name, err)
			}
			if err != nil {
				return err
			}

			bodies[m.Name] = b
			c.inputs = append(c.inputs, input{Path: path, Packed: packed, Found: found})
			return nil
		},
		Link: func(name, target string) bool {
			b := bodies[target]
			if b == nil || member != "" {
				return false
			}
			bodies[name] = b
			c.inputs = append(c.inputs, input{Path: path, Packed: &packed{path, name, b}, Found: true})
			return true
		},
		Damaged: func(name string, err error) {
			if name != "" {
				name = elfx.Separator + name
			}
			c.failed = append(c.failed, failure{path, fmt.Errorf("%s%s: %w", path, name, err)})
		},
	})

	// An interruption is no fault of the package.
	if err != nil && ctx.Err() == nil {
		c.failed = append(c.failed, failure{path, fmt.Errorf("%s: %w", path, err)})
	}
	if member != "" && err == nil && len(c.inputs) == 0 {
		c.failed = append(c.failed, failure{path, fmt.Errorf("%s: no ELF file %s in the package", path, member)})
	}

	slices.SortStableFunc(c.inputs, func(a, b input) int { return comparePaths(a.Packed.Name, b.Packed.Name) })
	return c
}

// comparePaths orders paths as a walk of the directories would visit them.
func comparePaths(a, b string) int {
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
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
	data, err := read(r, b.size, b.size > h.limit/2 && !keep)
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
	if keep && b.traits.err == nil && b.traits.why(found, false) == nil {
		h.put(b, data)
	} else {
		data.release()
	}
	return nil
}
