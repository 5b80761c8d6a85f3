package serve

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"symkit/internal/filename"
	"symkit/internal/mem"
	"symkit/serve/gate"
	"symkit/serve/internal/depot"
	"symkit/serve/internal/spool"
)

// content is what a client sent, unpacked, in a temporary file.
type content struct {
	*spool.File
	digest depot.Digest
}

// receive copies what r has into a temporary file of at most a number of bytes, packed data unpacked if that is asked for.
func (s *Server) receive(r io.Reader, most int64, unpacked bool) (*content, error) {
	f, err := spool.New(s.depot.Spool(), most)
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
	return &content{f, depot.Digest{Size: f.Size(), MD5: hex.EncodeToString(sum.Sum(nil))}}, nil
}

// sent is a symbol file that a client sent.
type sent struct {
	*content
	name, id, file string // of the address NAME/ID/FILE
	client         *client
	elf            []string // paths of the ELF files of the module that came with it
	unpacked       *content // of a packed file, or nil
}

// Close removes the temporary files.
func (u *sent) Close() error {
	err := u.content.Close()
	if u.unpacked != nil {
		err = errors.Join(err, u.unpacked.Close())
	}
	return err
}

// key returns the key of the file in the store.
func (u *sent) key() (string, bool) { return symbolKey(u.name, u.id, u.file) }

// isSymbols reports whether the name of a file is that of a symbol file.
func isSymbols(file string) bool { return strings.HasSuffix(file, ".sym") }

// symbolFileName returns the name that the symbol file of a module has in a store.
func symbolFileName(name string) string {
	name = filename.Escape(name)
	if n := len(name) - len(".pdb"); n > 0 && strings.EqualFold(name[n:], ".pdb") {
		name = name[:n]
	}
	return name + ".sym"
}

// maxRaces is how often a decision is taken again because another process has stored a file meanwhile.
const maxRaces = 16

// take decides about a symbol file and puts it into the store if it is to be kept. The error is one of the server or of
// the store: nothing was decided.
func (s *Server) take(ctx context.Context, u *sent) (gate.Decision, error) {
	key, ok := u.key()
	if !ok {
		return gate.Decision{Verdict: gate.Refused, Why: fmt.Sprintf("%q is no name of a symbol file: want NAME/ID/FILE.sym", u.name+"/"+u.id+"/"+u.file)}, nil
	}
	release, err := s.work.acquire(ctx, u.Size())
	if err != nil {
		return gate.Decision{}, err
	}
	defer release()

	text, err := u.Map()
	if err != nil {
		return gate.Decision{}, err
	}
	defer text.Release()
	for range maxRaces {
		d, err := s.takeOnce(ctx, u, key, text)
		if errors.Is(err, depot.ErrChanged) {
			continue
		}
		if err == nil && d.Stored() {
			s.note(ctx, text.Bytes(), key)
		}
		return d, err
	}
	return gate.Decision{}, depot.ErrChanged
}

// takeOnce is one attempt of take. The error is depot.ErrChanged if another process has stored a file meanwhile.
func (s *Server) takeOnce(ctx context.Context, u *sent, key string, text *mem.Mapping) (d gate.Decision, err error) {
	stored, err := s.depot.Stat(ctx, key)
	exists := err == nil
	if err != nil && !missing(err) {
		return d, err
	}
	in := gate.Input{Key: gate.Key{Name: u.name, ID: u.id}, Sym: text.Bytes(), Accept: s.opt.Accept}
	old := (*depot.File)(nil)
	if exists {
		same, err := s.isSame(ctx, stored, u.digest)
		if err != nil || same {
			return gate.Decision{Verdict: gate.Same, Why: "the store has this file"}, err
		}
		had, err := s.storedText(ctx, stored)
		if err != nil {
			return d, err
		}
		defer had.Close()
		mapped, err := had.Map()
		if err != nil {
			return d, err
		}
		defer mapped.Release()
		in.Stored, old = mapped.Bytes(), &stored
	}
	if s.opt.Accept == gate.Check {
		elf, done, err := s.evidence(ctx, u, text.Bytes())
		if err != nil {
			return d, err
		}
		defer done()
		in.ELF = elf
	}

	d, err = gate.Decide(ctx, in)
	if err != nil || !d.Stored() {
		return d, err
	}
	encoding := "gzip"
	if exists {
		encoding = stored.Encoding
	}
	return d, s.store(ctx, key, u.content, encoding, old)
}

// isSame reports whether a stored file has a digest.
func (s *Server) isSame(ctx context.Context, stored depot.File, digest depot.Digest) (bool, error) {
	if stored.Encoding == "" && stored.Size != digest.Size {
		return false, nil
	}
	has, err := s.depot.Digest(ctx, stored)
	return has == digest, err
}

// storedText returns the content of a stored file in a temporary file.
func (s *Server) storedText(ctx context.Context, stored depot.File) (*spool.File, error) {
	r, now, err := s.depot.Open(ctx, stored.Key)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if now.Tag != stored.Tag {
		return nil, depot.ErrChanged
	}
	f, err := spool.New(s.depot.Spool(), s.opt.MaxFile)
	if err == nil {
		err = depot.Copy(f, r, stored.Encoding)
	}
	if err != nil && f != nil {
		err = errors.Join(err, f.Close())
	}
	return f, err
}

// store puts a file into the store.
func (s *Server) store(ctx context.Context, key string, c *content, encoding string, old *depot.File) error {
	blob := &depot.Blob{ReaderAt: c.File, Length: c.Size(), Encoding: encoding, Digest: c.digest, Type: contentType(key)}
	if encoding != "" {
		packed, err := s.pack(c, encoding)
		if err != nil {
			return err
		}
		defer packed.Close()
		blob.ReaderAt, blob.Length = packed, packed.Size()
	}
	return s.depot.Put(ctx, key, blob, old)
}

// pack compresses a file into another temporary file. The compressed bytes depend on the content alone.
func (s *Server) pack(c *content, encoding string) (*spool.File, error) {
	f, err := spool.New(s.depot.Spool(), s.opt.MaxFile+s.opt.MaxFile/16)
	if err != nil {
		return nil, err
	}
	var z io.WriteCloser
	if encoding == "gzip" {
		gz := gzip.NewWriter(f)
		gz.Extra = depot.PackDigest(c.digest)
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
func (s *Server) note(ctx context.Context, sym []byte, key string) {
	var m gate.Module
	err := mem.Guard(func() error {
		m, _ = gate.Read(sym)
		return nil
	})
	if err != nil || m.CodeID == "" || !isID(m.CodeID) || len(m.CodeID) >= shortestDebugID {
		return
	}
	name := m.CodeFile
	if name == "" {
		name = m.Name
	}
	text := escapedPath(key)
	err = s.putNote(ctx, codeKey(name, m.CodeID), text)
	if err != nil {
		s.opt.Log(fmt.Errorf("the note that %s has the symbols of %s %s: %w", key, name, m.CodeID, err))
	}
}

// putNote makes a small file, in the place of the one that there is.
func (s *Server) putNote(ctx context.Context, key, text string) error {
	for range maxRaces {
		blob := &depot.Blob{ReaderAt: strings.NewReader(text), Length: int64(len(text)), Type: "text/plain; charset=utf-8"}
		old, err := s.depot.Stat(ctx, key)
		switch {
		case missing(err):
			err = s.depot.Put(ctx, key, blob, nil)
		case err == nil:
			err = s.depot.Put(ctx, key, blob, &old)
		}
		if !errors.Is(err, depot.ErrChanged) {
			return err
		}
	}
	return depot.ErrChanged
}
