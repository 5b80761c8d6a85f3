package symbolicate

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"symkit/internal/par"
	"symkit/lookup"
)

// opening is how many modules of one request are opened at a time.
const opening = 8

// module is a module of a request.
type module struct {
	moduleKey
	wanted  bool   // a frame is in the module
	shown   string // its name in frames
	file    *lookup.File
	release func()
	err     error // why there is no file

	// For the Debug header: whether the store was asked, and how long the file took.
	asked  bool
	waited time.Duration
	jobs   int

	told int // 1 and the number of the job that was told about the module last
}

// found reports whether a module that is wanted has symbols; asked is false if it is not wanted, or has no name or id.
func (m *module) found() (found, asked bool) {
	return m.file != nil, m.wanted && m.name != "" && m.id != ""
}

// errInvalidID: an id is none that MODULE records have.
var errInvalidID = errors.New("the id is not one of a MODULE record, which has 33 to 40 hexadecimal digits")

// openModules opens the modules that frames are in. The caller closes them.
func (s *Server) openModules(ctx context.Context, r *request) error {
	var wanted []*module
	for _, m := range r.modules {
		_, asked := m.found()
		if asked {
			wanted = append(wanted, m)
		}
	}
	return par.For(ctx, opening, len(wanted), func(i int) error {
		s.get(ctx, wanted[i])
		return context.Cause(ctx)
	})
}

// closeModules ends the use of the files of a request.
func closeModules(r *request) {
	for _, m := range r.modules {
		if m.release != nil {
			m.release()
		}
	}
}

// get opens the file of a module.
func (s *Server) get(ctx context.Context, m *module) {
	if len(m.id) < 33 || len(m.id) > 40 {
		m.err = errInvalidID
		return
	}
	start := time.Now()
	key := s.key(m.name, m.id)
	ctx = context.WithValue(ctx, askedKey{}, &m.asked)
	m.file, m.release, m.err = s.files.Get(ctx, key)
	m.waited = time.Since(start)
	if m.err != nil {
		// The store may have the symbols, or be well, the next time.
		if !errors.Is(m.err, lookup.ErrOther) {
			s.files.Forget(key)
		}
		if !errors.Is(m.err, fs.ErrNotExist) && ctx.Err() == nil {
			s.opt.Log(m.err)
		}
		return
	}
	name := m.file.CodeFile()
	if name != "" {
		m.shown = name
	}
}

// problem returns why a module has no symbols, in samply's word for it and in a sentence.
func (m *module) problem() (name, message string) {
	switch {
	case errors.Is(m.err, errInvalidID):
		return "InvalidBreakpadId", m.err.Error()
	case errors.Is(m.err, fs.ErrNotExist):
		return "NoCandidatePathForDebugFile", m.err.Error()
	case errors.Is(m.err, lookup.ErrOther):
		return "BreakpadParsing", m.err.Error()
	}
	return "OpenFile", "the store cannot be read now"
}
