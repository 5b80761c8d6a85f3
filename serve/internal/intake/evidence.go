package intake

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/elfx/debuginfod"
	"symkit/elfx/identity"
	"symkit/internal/mem"
	"symkit/internal/spool"
	"symkit/serve/gate"
	"symkit/serve/internal/depot"
)

// evidence returns the ELF file that a symbol file is compared with, nil if there is none: that of the upload, of the
// store or of a debuginfod server. done closes it.
func (s *Intake) evidence(ctx context.Context, u *Sent, sym []byte) (elf *gate.ELF, done func(), err error) {
	var closers []func()
	done = func() {
		for _, c := range closers {
			c()
		}
	}
	paths, from := u.ELF, "the upload"
	if len(paths) == 0 {
		var m gate.Module
		err := mem.Guard(func() error {
			m, _ = gate.Read(sym)
			return nil
		})
		id, hexErr := hex.DecodeString(m.CodeID)
		if err != nil || hexErr != nil || len(id) < 8 {
			return nil, done, err
		}
		paths, from, err = s.findELF(ctx, id, &closers)
		if err != nil {
			done()
			return nil, nil, err
		}
	}
	if len(paths) == 0 {
		return nil, done, nil
	}
	search := companion.Search{}
	if s.Debuginfod != nil {
		search.Fetch = func(ctx context.Context, id []byte) (string, error) {
			return s.Debuginfod.Find(ctx, id, debuginfod.DebugInfo)
		}
	}
	m, _, err := companion.Open(ctx, paths, search)
	if err != nil {
		// A damaged ELF file is no reason against a symbol file.
		s.Log(fmt.Errorf("%s %s cannot be compared with the ELF file of %s: %w", u.Name, u.ID, from, err))
		return nil, done, context.Cause(ctx)
	}
	closers = append([]func(){m.Close}, closers...)
	return &gate.ELF{Image: m.Image, Companions: m.Companions, From: from}, done, nil
}

// findELF looks for the ELF files of a build id in the store, then at debuginfod servers.
func (s *Intake) findELF(ctx context.Context, id []byte, closers *[]func()) (paths []string, from string, err error) {
	for _, kind := range []string{"executable", "debuginfo"} {
		path, done, err := s.ELFPath(ctx, hex.EncodeToString(id), kind)
		if depot.Missing(err) {
			continue
		}
		if err != nil {
			return nil, "", err
		}
		*closers = append(*closers, done)
		paths = append(paths, path)
		if kind == "executable" && hasDebug(path) {
			break
		}
	}
	if len(paths) > 0 || s.Debuginfod == nil {
		return paths, "the store", nil
	}
	for _, kind := range []debuginfod.Kind{debuginfod.Executable, debuginfod.DebugInfo} {
		path, err := s.Debuginfod.Find(ctx, id, kind)
		if err == nil {
			paths = append(paths, path)
			if kind == debuginfod.Executable && hasDebug(path) {
				break
			}
			continue
		}
		if ctx.Err() != nil {
			return nil, "", context.Cause(ctx)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			s.Log(err) // a server that is down is no reason to take nothing
		}
	}
	return paths, "a debuginfod server", nil
}

// hasDebug reports whether an ELF file has debug information.
func hasDebug(path string) bool {
	f, err := elfx.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Section(".debug_info") != nil
}

// ELFPath returns the path of an ELF file of the store, or of a temporary copy, which done removes.
func (s *Intake) ELFPath(ctx context.Context, id, kind string) (path string, done func(), err error) {
	content, file, err := s.OpenELF(ctx, id, kind)
	if err != nil {
		return "", nil, err
	}
	defer content.Close()
	path = s.Depot.Path(file)
	if path != "" {
		return path, func() {}, nil
	}
	f, err := spool.NewFile(s.Depot.Spool(), s.MaxFile)
	if err == nil {
		err = depot.Copy(f, content, file.Encoding)
	}
	if err != nil && f != nil {
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return "", nil, err
	}
	return f.Path(), func() { f.Close() }, nil
}

// TakeOther decides about a file that is no symbol file, and puts it into the store. path is that of the unpacked file
// if it is an ELF file of the module.
func (s *Intake) TakeOther(ctx context.Context, u *Sent) (d gate.Decision, path string, err error) {
	key, ok := u.key()
	if !ok {
		return gate.Decision{Verdict: gate.Refused, Why: "no file of a module has this name"}, "", nil
	}
	found, err := s.identifyELF(u)
	if err != nil {
		return d, "", err
	}
	if found != nil && !strings.EqualFold(found.moduleID, u.ID) && !strings.EqualFold(found.buildID, u.ID) {
		d.Verdict, d.Why = gate.Refused, fmt.Sprintf("the id in the request is %s, but the ELF file has %s (build id %s)", u.ID, found.moduleID, found.buildID)
		return d, "", nil
	}
	stored, err := s.Depot.Stat(ctx, key)
	switch {
	case err == nil:
		same, err := s.IsSame(ctx, stored, u.Digest)
		if err != nil {
			return d, "", err
		}
		d = gate.Decision{Verdict: gate.Same, Why: "the store has this file"}
		if !same {
			d = gate.Decision{Verdict: gate.Worse, Why: "the store has another file of this name, which stays: such files are not compared"}
		}
	case depot.Missing(err):
		err = s.store(ctx, key, u.Content, "", nil)
		d = gate.Decision{Verdict: gate.New, Why: "the store had no such file"}
		if errors.Is(err, depot.ErrChanged) {
			err = nil
			d = gate.Decision{Verdict: gate.Worse, Why: "another process stored a file of this name meanwhile, which stays"}
		}
		if err != nil {
			return d, "", err
		}
	default:
		return d, "", err
	}
	if found == nil {
		return d, "", nil
	}
	for _, kind := range found.kinds {
		err := depot.PutNote(ctx, s.Depot, depot.ELFKey(found.buildID, kind), key)
		if err != nil {
			return d, "", err
		}
	}
	return d, found.path, nil
}

// identified is what is known of an ELF file.
type identified struct {
	path              string // unpacked
	moduleID, buildID string
	kinds             []string // as debuginfod has them
}

// identifyELF opens a file that may be an ELF file, packed or not. It returns nil if the file is none, or has no build
// id.
func (s *Intake) identifyELF(u *Sent) (*identified, error) {
	var start [4]byte
	n, _ := u.ReadAt(start[:], 0)
	at := u.Path()
	if bytes.HasPrefix(start[:n], []byte{0x1f, 0x8b}) {
		plain, err := s.Receive(u.Reader(), s.MaxFile, true)
		if errors.Is(err, ErrPacked) || errors.Is(err, ErrBomb) || errors.Is(err, spool.ErrTooLarge) {
			return nil, Refuse(http.StatusBadRequest, "%s: %v", u.File, err)
		}
		if err != nil {
			return nil, err
		}
		u.unpacked = plain
		at = plain.Path()
		n, _ = plain.ReadAt(start[:], 0)
	}
	if string(start[:n]) != "\x7fELF" {
		return nil, nil
	}
	f, err := elfx.Open(at)
	if err != nil {
		return nil, nil // it is kept as any other file is
	}
	defer f.Close()
	id := f.BuildID()
	if len(id) == 0 {
		return nil, nil
	}
	found := &identified{path: at, moduleID: identity.ModuleID(id, f.BigEndian), buildID: hex.EncodeToString(id)}
	if f.HoldsLoaded() {
		found.kinds = append(found.kinds, "executable")
	}
	if f.Section(".debug_info") != nil {
		found.kinds = append(found.kinds, "debuginfo")
	}
	return found, nil
}
