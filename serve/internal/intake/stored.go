package intake

import (
	"context"
	"errors"
	"time"

	"symkit/internal/mem"
	"symkit/internal/spool"
	"symkit/serve/gate"
	"symkit/serve/internal/depot"
)

// stored is a symbol file of the store, unpacked in a temporary file.
type stored struct {
	depot.File
	content *spool.File
	text    *mem.Mapping
}

// openStored opens a file that Stat returned. The error is depot.ErrChanged if there is another one now.
func (s *Intake) openStored(ctx context.Context, file depot.File) (t *stored, err error) {
	r, now, err := s.Depot.Open(ctx, file.Key)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if now.Tag != file.Tag {
		return nil, depot.ErrChanged
	}
	t = &stored{File: file}
	t.content, err = spool.NewFile(s.Depot.Spool(), s.MaxFile)
	if err != nil {
		return nil, err
	}
	err = depot.Copy(t.content, r, file.Encoding)
	if err == nil {
		t.text, err = t.content.Map()
	}
	if err != nil {
		return nil, errors.Join(err, t.content.Close())
	}
	return t, nil
}

// close removes the temporary file, which was read.
func (t *stored) close() {
	_ = t.text.Release()
	_ = t.content.Close()
}

// examineStored examines the symbol file that the store has of a module, of which the store has got an ELF file. A symbol
// file that is wrong leaves the store. One that only lacks something stays until a better one comes: the ELF file may be
// that of debug information, which the symbol file was made without. The Decision has findings, or is empty; its verdict
// is Refuted or empty.
func (s *Intake) examineStored(ctx context.Context, name, id, elf string, c *Client) (d gate.Decision, err error) {
	key, ok := depot.SymbolKey(name, id, depot.SymbolFileName(name))
	if s.Accept != gate.Check || !ok {
		return d, nil
	}
	for range depot.MaxRaces {
		d, err = s.examineOnce(ctx, gate.Key{Name: name, ID: id}, key, elf, c)
		if !errors.Is(err, depot.ErrChanged) {
			return d, err
		}
	}
	return d, err
}

// examineOnce is one attempt of examineStored. The error is depot.ErrChanged if another process has stored a file
// meanwhile.
func (s *Intake) examineOnce(ctx context.Context, of gate.Key, key, elf string, c *Client) (d gate.Decision, err error) {
	began := time.Now()
	file, err := s.Depot.Stat(ctx, key)
	if depot.Missing(err) {
		return d, nil
	}
	if err != nil {
		return d, err
	}
	examination := elf + "\x00" + key + "\x00" + file.Tag
	_, known := s.examined.get(examination)
	if known {
		return d, nil
	}
	had, err := s.openStored(ctx, file)
	if err != nil {
		return d, err
	}
	defer had.close()
	found, err := s.decide(ctx, gate.Input{Key: of, Sym: had.text.Bytes(), Accept: s.Accept}, nil)
	if err != nil {
		return d, err
	}
	if found.Verdict != gate.Refused {
		s.examined.set(examination, true)
		return d, nil
	}
	if found.Incomplete {
		found.Verdict, found.Why = "", "the symbol file in the store stays until a better one comes: "+found.Why
		return found, nil
	}

	digest, err := s.Depot.Digest(ctx, file)
	if err != nil {
		return d, err
	}
	content, kept := &Content{had.content, digest}, depot.RefutedKey(of.Name, of.ID, digest.MD5)
	err = s.store(ctx, kept, content, "gzip", nil)
	if err != nil && !errors.Is(err, depot.ErrChanged) { // else it was refuted before
		return d, err
	}
	err = s.Depot.Remove(ctx, key, &file)
	if err != nil {
		return d, err
	}
	found.Verdict = gate.Refuted
	found.Why = "the symbol file in the store is wrong, and was moved to " + kept + ": " + found.Why
	s.Record(c, key, content, &found, nil, began)
	s.Changed(of.Name, of.ID)
	return found, nil
}
