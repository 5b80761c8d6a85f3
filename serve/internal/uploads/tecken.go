package uploads

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"time"

	"symkit/internal/printable"
	"symkit/internal/spool"
	"symkit/serve/gate"
	"symkit/serve/internal/depot"
	"symkit/serve/internal/intake"
	"symkit/serve/internal/tecken"
)

// teckenDesk speaks with clients of Tecken, Mozilla's symbol server (tecken/upload/views.py, docs/upload.rst). In the
// first protocol they send a zip file with many symbol files.
type teckenDesk struct{ *Desk }

// teckenError answers in Tecken's form.
func teckenError(w http.ResponseWriter, status int, text string) {
	if status >= http.StatusInternalServerError {
		w.Header().Set("Retry-After", "10")
	}
	writeJSON(w, status, map[string]string{"error": text})
}

// writeJSON answers with a document.
func writeJSON(w http.ResponseWriter, status int, doc any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	e := json.NewEncoder(&printable.JSONWriter{W: w})
	e.SetEscapeHTML(false)
	_ = e.Encode(doc) // the client is gone, or reads slowly
}

// auth answers POST and GET /upload/auth_info/.
func (s *teckenDesk) auth(w http.ResponseWriter, r *http.Request) {
	token, text := s.authorize(r)
	if token == nil {
		teckenError(w, http.StatusForbidden, text)
		return
	}
	expires := any(nil)
	if !token.Expires.IsZero() {
		expires = token.Expires.Format(time.RFC3339)
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"email": token.Name, "user_id": 0, "try_symbols": false, "token_expires_at": expires, "upload_api_version": 2,
	})
}

// upload answers POST /upload/.
func (s *teckenDesk) upload(w http.ResponseWriter, r *http.Request) {
	c, ok := s.uploader(w, r, "tecken-v1", teckenError)
	if !ok {
		return
	}
	ctx, done, ok := s.admit(w, r)
	if !ok {
		return
	}
	defer done()

	began := time.Now()
	archive, err := s.read(w, r)
	if err != nil {
		s.failed(w, err, teckenError)
		return
	}
	defer archive.Close()
	members, err := tecken.Members(archive, archive.Size())
	if err != nil {
		teckenError(w, http.StatusBadRequest, err.Error())
		return
	}
	if len(members) == 0 {
		teckenError(w, http.StatusBadRequest, "the zip file has no symbol files")
		return
	}
	results, err := s.takeMembers(ctx, c, members)
	if err != nil {
		s.failed(w, err, teckenError)
		return
	}
	s.answer(w, c, archive, results, began)
}

// result is what became of a file of an upload.
type result struct {
	Key string `json:"key"`
	gate.Decision
}

// Bounds of a form.
const (
	maxFields = 64
	maxValue  = 4096 // bytes
)

// read reads the form of an upload into a temporary file, and returns the file. Errors are those of failed.
func (s *teckenDesk) read(w http.ResponseWriter, r *http.Request) (*zipFile, error) {
	form, err := newForm(w, r, s.opt.MaxUpload)
	if err != nil {
		return nil, err
	}
	for range maxFields {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if part.FileName() == "" {
			err := teckenField(part.FormName(), part)
			if err != nil {
				return nil, err
			}
			continue
		}
		// Tecken takes the name of the field for that of the file.
		name := part.FormName()
		if path.Ext(name) != ".zip" && path.Ext(part.FileName()) != ".zip" {
			return nil, intake.Refuse(http.StatusBadRequest, "Unrecognized archive file extension %q", path.Ext(name))
		}
		f, err := spool.NewFile(s.Depot.Spool(), s.opt.MaxUpload)
		if err != nil {
			return nil, err
		}
		_, err = io.Copy(f, part)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return &zipFile{f, name}, nil
	}
	return nil, intake.Refuse(http.StatusBadRequest, "Must be multipart form data with at least one file")
}

// zipFile is a zip file that a client sent.
type zipFile struct {
	*spool.File
	name string
}

// teckenField returns an error about a field of the form that asks for what this server does not do.
func teckenField(name string, value io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(value, maxValue))
	if err != nil {
		return err
	}
	switch name {
	case "try":
		return intake.Refuse(http.StatusBadRequest, "this server has no symbols of try builds: leave out the field try, or give such builds a server of their own")
	case "url":
		u, err := url.Parse(string(text))
		if err != nil || u.Scheme != "https" {
			return intake.Refuse(http.StatusBadRequest, "Insecure URL")
		}
		return intake.Refuse(http.StatusBadRequest, "Not an allowed domain ('%s') to download from.", u.Host)
	}
	return nil
}

// answer answers an upload: 201 unless a file was refused. All other files are in the store then, too.
func (s *teckenDesk) answer(w http.ResponseWriter, c *intake.Client, archive *zipFile, results []result, began time.Time) {
	skipped, refused := []string{}, []string{}
	why := ""
	for _, d := range results {
		switch d.Verdict {
		case gate.Same, gate.Worse:
			skipped = append(skipped, d.Key)
		case gate.Refused:
			refused = append(refused, d.Key)
			if why == "" {
				why = d.Key + ": " + d.Why
			}
		}
	}
	doc := map[string]any{
		"upload": map[string]any{
			"id": c.Upload, "size": archive.Size(), "filename": archive.name, "bucket": s.Depot.Address(), "region": nil, "download_url": nil,
			"try_symbols": false, "redirect_urls": []string{}, "skipped_keys": skipped, "user": c.Token,
			"created_at": began.UTC().Format(time.RFC3339), "completed_at": time.Now().UTC().Format(time.RFC3339),
		},
		"files": results,
	}
	status := http.StatusCreated
	if len(refused) > 0 {
		status = http.StatusBadRequest
		doc["error"] = fmt.Sprintf("%d of %d files were refused, the others are kept. The first: %s", len(refused), len(results), why)
		doc["refused_keys"] = refused
	}
	writeJSON(w, status, doc)
}

// takeMembers takes the members of a zip file, one after the other. The ELF files of a module come first, because its
// symbol file is compared with them.
func (s *teckenDesk) takeMembers(ctx context.Context, c *intake.Client, members []tecken.Member) (results []result, err error) {
	left := s.opt.MaxUnpacked
	byID := map[string][]*tecken.Member{}
	var ids []string
	for i := range members {
		id := members[i].ID
		if byID[id] == nil {
			ids = append(ids, id)
		}
		byID[id] = append(byID[id], &members[i])
	}
	for _, id := range ids {
		more, err := s.takeModule(ctx, c, byID[id], &left)
		results = append(results, more...)
		if err != nil {
			return results, err
		}
	}
	return results, nil
}

// takeModule takes the files of one id. left is how many bytes the rest of the upload may unpack to.
func (s *teckenDesk) takeModule(ctx context.Context, c *intake.Client, members []*tecken.Member, left *int64) (results []result, err error) {
	var elf []string
	for _, m := range members {
		if depot.IsSymbols(m.File) {
			continue
		}
		began := time.Now()
		body, err := s.extract(m.Zip, left)
		if err != nil {
			return results, err
		}
		u := &intake.Sent{Content: body, Name: m.Name, ID: m.ID, File: m.File, Client: c}
		defer u.Close()
		d, path, err := s.TakeOther(ctx, u)
		s.Record(c, m.Key(), body, &d, err, began)
		if err != nil {
			return results, err
		}
		if path != "" {
			elf = append(elf, path)
		}
		results = append(results, result{m.Key(), d})
	}
	for _, m := range members {
		if !depot.IsSymbols(m.File) {
			continue
		}
		began := time.Now()
		body, err := s.extract(m.Zip, left)
		if err != nil {
			return results, err
		}
		u := &intake.Sent{Content: body, Name: m.Name, ID: m.ID, File: m.File, Client: c, ELF: elf}
		d, err := s.Take(ctx, u)
		s.Record(c, m.Key(), body, &d, err, began)
		err = errors.Join(err, body.Close())
		if err != nil {
			return results, err
		}
		results = append(results, result{m.Key(), d})
	}
	return results, nil
}

// extract unpacks a member into a temporary file.
func (s *teckenDesk) extract(f *zip.File, left *int64) (*intake.Content, error) {
	if f.UncompressedSize64 > uint64(*left) {
		return nil, intake.Refuse(http.StatusRequestEntityTooLarge, "the zip file unpacks to more than the server takes at once: send its files in several")
	}
	r, err := f.Open()
	if err != nil {
		return nil, intake.Refuse(http.StatusBadRequest, "%s: %v", printable.String(f.Name), err)
	}
	defer r.Close()
	body, err := s.Receive(r, min(s.MaxFile, *left), depot.IsSymbols(f.Name))
	if errors.Is(err, zip.ErrChecksum) || errors.Is(err, zip.ErrFormat) || errors.Is(err, intake.ErrPacked) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, intake.Refuse(http.StatusBadRequest, "%s: %v: the zip file is damaged; send it again", printable.String(f.Name), err)
	}
	if err != nil {
		return nil, err
	}
	*left -= body.Size()
	return body, nil
}
