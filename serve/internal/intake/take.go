package intake

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"symkit/internal/mem"
	"symkit/internal/spool"
	"symkit/serve/gate"
	"symkit/serve/internal/depot"
)

// Content is what a client sent, unpacked, in a temporary file.
type Content struct {
	*spool.File
	Digest depot.Digest
}

// Receive copies what r has into a temporary file of at most a number of bytes, packed data unpacked if that is asked for.
func (s *Intake) Receive(r io.Reader, most int64, unpacked bool) (*Content, error) {
	f, err := spool.NewFile(s.Depot.Spool(), most)
	if err != nil {
		return nil, err
	}
	sum := md5.New()
	if unpacked {
		err = unpack(io.MultiWriter(f, sum), r)
	} else {
		_, err = io.Copy(io.MultiWriter(f, sum), r)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Content{f, depot.Digest{Size: f.Size(), MD5: hex.EncodeToString(sum.Sum(nil))}}, nil
}

// Sent is a symbol file that a client sent.
type Sent struct {
	*Content
	Name, ID, File string // of the address NAME/ID/FILE
	Client         *Client
	ELF            []string // paths of the ELF files of the module that came with it
	unpacked       *Content // of a packed file, or nil
}

// Close removes the temporary files.
func (u *Sent) Close() error {
	err := u.Content.Close()
	if u.unpacked != nil {
		err = errors.Join(err, u.unpacked.Close())
	}
	return err
}

// key returns the key of the file in the store.
func (u *Sent) key() (string, bool) { return depot.SymbolKey(u.Name, u.ID, u.File) }

// Take decides about a symbol file and puts it into the store if it is to be kept. The error is one of the server or of
// the store: nothing was decided.
func (s *Intake) Take(ctx context.Context, u *Sent) (gate.Decision, error) {
	key, ok := u.key()
	if !ok {
		return gate.Decision{Verdict: gate.Refused, Why: fmt.Sprintf("%q is no name of a symbol file: want NAME/ID/FILE.sym", u.Name+"/"+u.ID+"/"+u.File)}, nil
	}
	text, err := u.Map()
	if err != nil {
		return gate.Decision{}, err
	}
	defer text.Release()
	for range depot.MaxRaces {
		d, err := s.takeOnce(ctx, u, key, text)
		if errors.Is(err, depot.ErrChanged) {
			continue
		}
		if err == nil && d.Stored() {
			s.note(ctx, text.Bytes(), key)
			s.Changed(u.Name, u.ID)
		}
		return d, err
	}
	return gate.Decision{}, depot.ErrChanged
}

// takeOnce is one attempt of take. The error is depot.ErrChanged if another process has stored a file meanwhile.
func (s *Intake) takeOnce(ctx context.Context, u *Sent, key string, text *mem.Mapping) (d gate.Decision, err error) {
	in := gate.Input{Key: gate.Key{Name: u.Name, ID: u.ID}, Sym: text.Bytes(), Accept: s.Accept}
	encoding, old := "gzip", (*depot.File)(nil)
	file, err := s.Depot.Stat(ctx, key)
	if err != nil && !depot.Missing(err) {
		return d, err
	}
	if err == nil {
		same, err := s.IsSame(ctx, file, u.Digest)
		if err != nil || same {
			return gate.Decision{Verdict: gate.Same, Why: "the store has this file"}, err
		}
		had, err := s.openStored(ctx, file)
		if err != nil {
			return d, err
		}
		defer had.close()
		in.Stored, encoding, old = had.text.Bytes(), file.Encoding, &file
	}

	d, err = s.decide(ctx, in, u.ELF)
	if err != nil || !d.Stored() {
		return d, err
	}
	return d, s.store(ctx, key, u.Content, encoding, old)
}

// decide has a symbol file examined when there is memory for that. sent has the paths of ELF files that came with it.
func (s *Intake) decide(ctx context.Context, in gate.Input, sent []string) (d gate.Decision, err error) {
	size, elfSize := int64(max(len(in.Sym), len(in.Stored))), int64(0)
	if s.Accept == gate.Check {
		found, err := s.evidence(ctx, in.Key, in.Sym, sent)
		if err != nil {
			return d, err
		}
		defer found.close()
		in.ELF, elfSize = found.elf, found.size
	}
	release, err := s.work.acquire(ctx, size, elfSize)
	if err != nil {
		return d, err
	}
	defer release()
	return gate.Decide(ctx, in)
}

// IsSame reports whether a stored file has a digest.
func (s *Intake) IsSame(ctx context.Context, stored depot.File, digest depot.Digest) (bool, error) {
	if stored.Encoding == "" && stored.Size != digest.Size {
		return false, nil
	}
	has, err := s.Depot.Digest(ctx, stored)
	return has == digest, err
}

// store puts a file into the store.
func (s *Intake) store(ctx context.Context, key string, c *Content, encoding string, old *depot.File) error {
	blob := &depot.Blob{ReaderAt: c.File, Length: c.Size(), Encoding: encoding, Digest: c.Digest, Type: depot.ContentType(key)}
	if encoding != "" {
		packed, err := s.pack(c, encoding)
		if err != nil {
			return err
		}
		defer packed.Close()
		blob.ReaderAt, blob.Length = packed, packed.Size()
	}
	return s.Depot.Put(ctx, key, blob, old)
}

// pack compresses a file into another temporary file. The compressed bytes depend on the content alone.
func (s *Intake) pack(c *Content, encoding string) (*spool.File, error) {
	f, err := spool.NewFile(s.Depot.Spool(), s.MaxFile+s.MaxFile/16)
	if err != nil {
		return nil, err
	}
	var z io.WriteCloser
	if encoding == "gzip" {
		gz := gzip.NewWriter(f)
		gz.Extra = depot.PackDigest(c.Digest)
		z = gz
	} else {
		z, err = zstd.NewWriter(f, zstd.WithEncoderConcurrency(1))
	}
	if err == nil {
		_, err = io.Copy(z, c.Reader())
		err = errors.Join(err, z.Close())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// note notes the debug name and id of a code file, so that they are found by its name and id. A note that cannot be
// written is logged: the symbol file itself is found.
func (s *Intake) note(ctx context.Context, sym []byte, key string) {
	m, err := moduleOf(sym)
	if err != nil || m.CodeID == "" || !depot.IsID(m.CodeID) || len(m.CodeID) >= depot.ShortestDebugID {
		return
	}
	name := m.CodeFile
	if name == "" {
		name = m.Name
	}
	text := escapedPath(key)
	err = depot.PutNote(ctx, s.Depot, depot.CodeKey(name, m.CodeID), text)
	if err != nil {
		s.Log(fmt.Errorf("the note that %s has the symbols of %s %s: %w", key, name, m.CodeID, err))
	}
}
