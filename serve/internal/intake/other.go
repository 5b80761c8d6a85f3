package intake

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"symkit/elfx"
	"symkit/elfx/identity"
	"symkit/internal/spool"
	"symkit/serve/gate"
	"symkit/serve/internal/depot"
)

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
	if d.Verdict == gate.Worse {
		return d, found.path, nil
	}
	for _, kind := range found.kinds {
		for _, id := range []string{found.buildID, found.moduleID} {
			err := depot.PutNote(ctx, s.Depot, depot.ELFKey(id, kind), key)
			if err != nil {
				return d, "", err
			}
		}
	}
	about, err := s.examineStored(ctx, u.Name, found.moduleID, key, u.Client)
	if about.Why != "" {
		d.Why += "; " + about.Why
		d.Against, d.Total, d.Findings = about.Against, about.Total, about.Findings
	}
	return d, found.path, err
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
