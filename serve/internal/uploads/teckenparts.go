package uploads

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"

	"symkit/internal/par"
	"symkit/internal/spool"
	"symkit/serve/gate"
	"symkit/serve/internal/depot"
	"symkit/serve/internal/intake"
	"symkit/serve/internal/tecken"
)

// The second protocol of Tecken: the client announces files, and sends each that the server lacks to an address of its
// own, at once or in parts, as Google Cloud Storage takes resumable uploads. Parts of files are in the store, named by
// their offset, until the last has arrived.

const teckenV2 = "tecken-v2"

// partStep is what sizes of parts but the last are multiples of.
const partStep = 256 << 10

// announce answers POST /upload/v2/.
func (s *teckenDesk) announce(w http.ResponseWriter, r *http.Request) {
	c, ok := s.uploader(w, r, teckenV2, teckenError)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeoutCause(r.Context(), s.opt.Timeout, errTimeout)
	defer cancel()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, tecken.MaxRequest))
	if err != nil {
		s.failed(w, err, teckenError)
		return
	}
	files, err := tecken.Files(body)
	if err != nil {
		teckenError(w, http.StatusBadRequest, err.Error())
		return
	}

	number := newNumber()
	c.Upload = strconv.FormatUint(number, 10)
	same := make([]bool, len(files))
	err = par.For(ctx, announceJobs, len(files), func(i int) (err error) {
		same[i], err = s.hasAnnounced(ctx, &files[i])
		return err
	})
	if err != nil {
		s.failed(w, err, teckenError)
		return
	}
	n, err := s.begin(ctx, c, sessionFiles(files))
	if err != nil {
		s.failed(w, err, teckenError)
		return
	}
	actions := make([]map[string]any, len(files))
	for i := range files {
		actions[i] = map[string]any{"key": files[i].Key, "action": s.action(r, n, i, &files[i], same[i])}
	}
	writeJSON(w, http.StatusCreated, map[string]any{
		"id": number, "created_at": n.Created.Format(time.RFC3339), "user": c.Token, "try_symbols": false,
		"upload_protocol": "gcs-resumable", "files": actions,
	})
}

// announceJobs is how many files of an announcement are looked for at one time.
const announceJobs = 16

// newNumber returns the number of an upload: JSON has integers of 53 bits.
func newNumber() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:]) >> 11
}

// sessionFiles returns what a session keeps of the files.
func sessionFiles(files []tecken.File) (all []sessionFile) {
	for _, f := range files {
		all = append(all, sessionFile{f.Name, f.ID, f.Base, f.Size, f.MD5})
	}
	return all
}

// hasAnnounced reports whether the store has the file that a client announces.
func (s *teckenDesk) hasAnnounced(ctx context.Context, f *tecken.File) (bool, error) {
	key, ok := depot.SymbolKey(f.Name, f.ID, f.Base)
	if !ok || f.Wrong != "" {
		return false, nil
	}
	stored, err := s.Depot.Stat(ctx, key)
	if depot.Missing(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return s.IsSame(ctx, stored, depot.Digest{Size: f.Size, MD5: f.MD5})
}

// action returns what the client is to do with a file.
func (s *teckenDesk) action(r *http.Request, n *session, i int, f *tecken.File, same bool) map[string]any {
	switch {
	case f.Wrong != "":
		return map[string]any{"type": "error", "msg": f.Wrong}
	case f.Size > s.MaxFile:
		return map[string]any{"type": "error", "msg": "the file is larger than the server takes"}
	case same:
		return map[string]any{"type": "skip"}
	}
	encoding := any(nil)
	if depot.IsSymbols(f.Base) {
		encoding = "gzip"
	}
	return map[string]any{"type": "upload", "url": fmt.Sprintf("%s/upload/v2/%s/%d", s.base(r), n.id, i), "content_encoding": encoding}
}

// put answers PUT /upload/v2/SESSION/N.
func (s *teckenDesk) put(w http.ResponseWriter, r *http.Request) {
	ctx, done, ok := s.admit(w, r)
	if !ok {
		return
	}
	defer done()
	d, have, err := s.part(ctx, w, r)
	switch {
	case err != nil:
		s.failed(w, err, teckenError)
	case d == nil:
		if have > 0 {
			w.Header().Set("Range", fmt.Sprintf("bytes=0-%d", have-1))
		}
		w.WriteHeader(http.StatusPermanentRedirect) // which means "resume" here
	case d.Verdict == gate.Refused:
		writeJSON(w, http.StatusBadRequest, map[string]any{"error": decisionText(*d), "decision": d})
	case d.Verdict == gate.Worse:
		writeJSON(w, http.StatusConflict, map[string]any{"error": decisionText(*d), "decision": d})
	default:
		writeJSON(w, http.StatusOK, map[string]any{"decision": d})
	}
}

// transfer is the file of a session that a request is about.
type transfer struct {
	*session
	number int
	file   sessionFile
}

// key returns the key of a part of the file, or of what is noted about it.
func (t *transfer) key(name string) string {
	return depot.UploadKey(t.id, strconv.Itoa(t.number)+"."+name)
}

// part takes the bytes of a request. d is nil while bytes are missing; then have is how many have arrived.
func (s *teckenDesk) part(ctx context.Context, w http.ResponseWriter, r *http.Request) (d *gate.Decision, have int64, err error) {
	t, err := s.transfer(ctx, r)
	if err != nil {
		return nil, 0, err
	}
	done := &gate.Decision{}
	err = s.getJSON(ctx, t.key("done"), done)
	if err == nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, s.opt.MaxUpload)) // the answer comes after the body
		return done, 0, nil
	}
	if !depot.Missing(err) {
		return nil, 0, err
	}

	part := tecken.Range{Total: -1, Part: true}
	header := r.Header.Get("Content-Range")
	if header != "" {
		var ok bool
		part, ok = tecken.ParseRange(header)
		if !ok || part.Total > s.opt.MaxUpload {
			return nil, 0, intake.Refuse(http.StatusBadRequest, "Content-Range %q: want bytes A-B/TOTAL or bytes */TOTAL", header)
		}
	}
	have, err = s.arrived(ctx, t)
	if err != nil {
		return nil, 0, err
	}
	if part.Part && part.First <= have {
		n, whole, err := s.keepPart(ctx, w, r, t, part, have)
		if err != nil {
			return nil, have, err
		}
		have += n
		if header == "" && whole {
			part.Total = have
		}
	}
	if part.Total < 0 || have < part.Total {
		return nil, have, nil
	}
	if have > part.Total {
		return nil, have, intake.Refuse(http.StatusBadRequest, "%d bytes have arrived, more than the %d of Content-Range: begin a new upload", have, part.Total)
	}
	d, err = s.finish(ctx, t, r, have)
	return d, have, err
}

// transfer returns what a request is about.
func (s *teckenDesk) transfer(ctx context.Context, r *http.Request) (*transfer, error) {
	n, err := s.session(ctx, r.PathValue("session"), teckenV2)
	if err != nil {
		return nil, err
	}
	i, err := strconv.Atoi(r.PathValue("n"))
	if err != nil || i < 0 || i >= len(n.Files) {
		return nil, intake.Refuse(http.StatusNotFound, "the upload has no such file")
	}
	return &transfer{n, i, n.Files[i]}, nil
}

// arrived returns how many bytes of a file are in the store: the parts, of which each begins where the last ends.
func (s *teckenDesk) arrived(ctx context.Context, t *transfer) (have int64, err error) {
	last := s.hints.get(t.key(""))
	have = last
	for {
		part, err := s.Depot.Stat(ctx, t.key(strconv.FormatInt(have, 10)))
		switch {
		case depot.Missing(err) && have == last && last > 0:
			last, have = 0, 0 // the upload began again at another server
		case depot.Missing(err):
			return have, nil
		case err != nil:
			return 0, err
		default:
			s.hints.set(t.key(""), have)
			have += part.Size
		}
	}
}

// keepPart puts the bytes of a request into the store that come after those that it has. n is their number; whole states
// that the body had all that were announced. Of a body that breaks off, what has arrived is kept.
func (s *teckenDesk) keepPart(ctx context.Context, w http.ResponseWriter, r *http.Request, t *transfer, part tecken.Range, have int64) (n int64, whole bool, err error) {
	body := io.Reader(http.MaxBytesReader(w, r.Body, s.opt.MaxUpload))
	_, err = io.CopyN(io.Discard, body, have-part.First)
	if err == io.EOF {
		return 0, false, nil // all of it had arrived
	}
	if err != nil {
		return 0, false, err
	}
	f, err := spool.NewFile(s.Depot.Spool(), s.opt.MaxUpload-have)
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	_, err = io.Copy(f, body)
	broken := errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, syscall.ECONNRESET)
	if err != nil && !broken {
		return 0, false, err
	}
	length := f.Size()
	if broken {
		length -= length % partStep
	}
	if !broken && r.Header.Get("Content-Range") != "" && length != part.Last+1-have {
		return 0, false, intake.Refuse(http.StatusBadRequest, "the body has %d bytes, Content-Range says %d", length+have-part.First, part.Last+1-part.First)
	}
	if length > 0 {
		// The connection, and with it the request's context, may be gone.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shortTime)
		defer cancel()
		blob := &depot.Blob{ReaderAt: f, Length: length, Type: "application/octet-stream"}
		putErr := s.Depot.Put(ctx, t.key(strconv.FormatInt(have, 10)), blob, nil)
		if errors.Is(putErr, depot.ErrChanged) {
			putErr = intake.Refuse(http.StatusServiceUnavailable, "another request sends the same part: ask which bytes have arrived, and go on there")
		}
		if putErr != nil {
			return 0, false, putErr
		}
	}
	return length, !broken, err
}

// finish decides about a file of which all bytes have arrived.
func (s *teckenDesk) finish(ctx context.Context, t *transfer, r *http.Request, size int64) (*gate.Decision, error) {
	began := time.Now()
	parts := &parts{ctx: ctx, s: s, t: t, size: size}
	defer parts.close()
	body, err := s.Receive(parts, s.MaxFile, depot.IsSymbols(t.file.File))
	if errors.Is(err, intake.ErrPacked) || errors.Is(err, intake.ErrBomb) || errors.Is(err, spool.ErrTooLarge) {
		err = s.forget(ctx, t, size, err)
	}
	if err != nil {
		return nil, err
	}
	u := &intake.Sent{Content: body, Name: t.file.Name, ID: t.file.ID, File: t.file.File, Client: t.client(r)}
	defer u.Close()
	if announced := (depot.Digest{Size: t.file.Size, MD5: t.file.MD5}); body.Digest != announced {
		return nil, s.forget(ctx, t, size, intake.Refuse(http.StatusBadRequest, "the file has %d bytes and the MD5 %s, but %d and %s were announced: send it again",
			body.Digest.Size, body.Digest.MD5, announced.Size, announced.MD5))
	}

	d := gate.Decision{}
	if depot.IsSymbols(t.file.File) {
		d, err = s.Take(ctx, u)
	} else {
		d, _, err = s.TakeOther(ctx, u)
	}
	s.Record(u.Client, t.file.Name+"/"+t.file.ID+"/"+t.file.File, body, &d, err, began)
	if err != nil {
		return nil, err
	}
	err = s.putJSON(ctx, t.key("done"), &d)
	return &d, errors.Join(err, s.forget(ctx, t, size, nil))
}

// forget removes the parts of a file, the last first, so that a client can begin again. It returns why, or the error of
// the store.
func (s *teckenDesk) forget(ctx context.Context, t *transfer, size int64, why error) error {
	var at []int64
	for have := int64(0); have < size; {
		part, err := s.Depot.Stat(ctx, t.key(strconv.FormatInt(have, 10)))
		if err != nil {
			return errors.Join(why, err)
		}
		at = append(at, have)
		have += part.Size
	}
	s.hints.set(t.key(""), 0)
	for i := len(at) - 1; i >= 0; i-- {
		err := s.Depot.Remove(ctx, t.key(strconv.FormatInt(at[i], 10)), nil)
		if err != nil {
			return errors.Join(why, err)
		}
	}
	return why
}

// parts reads the parts of a file, one after the other.
type parts struct {
	ctx  context.Context
	s    *teckenDesk
	t    *transfer
	size int64
	at   int64
	r    io.ReadCloser
	err  error
}

func (p *parts) Read(b []byte) (n int, err error) {
	for p.at < p.size {
		if p.r == nil {
			p.r, _, p.err = p.s.Depot.Open(p.ctx, p.t.key(strconv.FormatInt(p.at, 10)))
			if p.err != nil {
				p.r = nil
				return 0, p.err
			}
		}
		n, err := p.r.Read(b)
		p.at += int64(n)
		if err == io.EOF {
			p.err = p.r.Close()
			p.r = nil
			err = p.err
			if n == 0 && err == nil {
				continue
			}
		}
		if err != nil {
			p.err = err
		}
		return n, err
	}
	return 0, io.EOF
}

func (p *parts) close() {
	if p.r != nil {
		_ = p.r.Close() // it was read
	}
}
