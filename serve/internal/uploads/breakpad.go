package uploads

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"symkit/internal/printable"
	"symkit/internal/spool"
	"symkit/serve/gate"
	"symkit/serve/internal/breakpad"
	"symkit/serve/internal/depot"
	"symkit/serve/internal/intake"
)

// breakpadDesk speaks with Breakpad's sym_upload, which has two protocols. It shows no answer to people, so the reason of a refusal is in a header, too,
// for those who look at its traffic, and in the journal.
type breakpadDesk struct{ *Desk }

// reasonHeader has the text of an answer that refuses.
const reasonHeader = "Symserve-Reason"

func breakpadError(w http.ResponseWriter, status int, text string) {
	w.Header().Set(reasonHeader, headerText(text))
	if status >= http.StatusInternalServerError {
		w.Header().Set("Retry-After", "10")
	}
	http.Error(w, text, status)
}

// maxShown bounds a text in a header, in bytes.
const maxShown = 400

// headerText returns a text for a header.
func headerText(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, printable.Elide(text, maxShown))
}

// form answers the one request of the first protocol.
func (s *breakpadDesk) form(w http.ResponseWriter, r *http.Request) {
	c, ok := s.uploader(w, r, "sym-upload-v1", breakpadError)
	if !ok {
		return
	}
	ctx, done, ok := s.admit(w, r)
	if !ok {
		return
	}
	defer done()
	began := time.Now()
	body, fields, err := s.fields(w, r)
	if err != nil {
		s.failed(w, err, breakpadError)
		return
	}
	defer body.Close()

	// What the client does not say is that of the MODULE record.
	name, id := fields["debug_file"], strings.ReplaceAll(fields["debug_identifier"], "-", "")
	if name == "" || id == "" {
		m, err := moduleOf(body)
		if err != nil {
			s.failed(w, err, breakpadError)
			return
		}
		if name == "" {
			name = m.Name
		}
		if id == "" {
			id = m.ID
		}
	}
	s.decide(w, func() (gate.Decision, error) {
		u := &intake.Sent{Content: body, Name: name, ID: id, File: depot.SymbolFileName(name), Client: c}
		d, err := s.Take(ctx, u)
		s.Record(c, name+"/"+id, body, &d, err, began)
		return d, err
	}, func(gate.Decision) string { return "ok\n" })
}

// moduleOf returns what the first lines of a symbol file say.
func moduleOf(body *intake.Content) (gate.Module, error) {
	head, err := io.ReadAll(io.LimitReader(body.Reader(), 64<<10))
	m, ok := gate.Read(head)
	if err == nil && !ok {
		err = intake.Refuse(http.StatusBadRequest, "the field symbol_file is no symbol file: its first line is no MODULE record")
	}
	return m, err
}

// fields reads the form: the file, and the fields with text.
func (s *breakpadDesk) fields(w http.ResponseWriter, r *http.Request) (body *intake.Content, fields map[string]string, err error) {
	fields = map[string]string{}
	form, err := newForm(w, r, s.opt.MaxUpload)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil && body != nil {
			err = errors.Join(err, body.Close())
		}
	}()
	for range maxFields {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return body, nil, err
		}
		if part.FormName() == "symbol_file" {
			if body != nil {
				return body, nil, intake.Refuse(http.StatusBadRequest, "the form has two fields symbol_file: send one file in each request")
			}
			body, err = s.Receive(part, s.MaxFile, true)
			if err != nil {
				return body, nil, err
			}
			continue
		}
		text, err := io.ReadAll(io.LimitReader(part, maxValue))
		if err != nil {
			return body, nil, err
		}
		fields[part.FormName()] = string(text)
	}
	if body == nil {
		return nil, nil, intake.Refuse(http.StatusBadRequest, "the form has no field symbol_file")
	}
	return body, fields, nil
}

// decide answers with a decision. kept returns the body of the answer for a file that is in the store now.
func (s *breakpadDesk) decide(w http.ResponseWriter, decide func() (gate.Decision, error), kept func(gate.Decision) string) {
	d, err := decide()
	if err != nil {
		s.failed(w, err, breakpadError)
		return
	}
	switch d.Verdict {
	case gate.Refused:
		breakpadError(w, http.StatusBadRequest, decisionText(d))
	case gate.Worse:
		breakpadError(w, http.StatusConflict, decisionText(d))
	default:
		w.Header().Set(reasonHeader, headerText(d.Why))
		_, _ = io.WriteString(w, kept(d)) // the client is gone
	}
}

// decisionText returns a decision as lines.
func decisionText(d gate.Decision) string {
	var text strings.Builder
	text.WriteString(d.Why)
	for _, f := range d.Findings {
		text.WriteString("\n  " + f)
	}
	if left := d.Total - min(d.Total, uint64(len(d.Findings))); left > 0 {
		text.WriteString(fmt.Sprintf("\n  and %d more", left))
	}
	return text.String()
}

// breakpadJSON answers with JSON in which a space follows each colon: sym_upload looks for that by regular expressions.
func breakpadJSON(w http.ResponseWriter, fields ...string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	var parts []string
	for i := 0; i < len(fields); i += 2 {
		parts = append(parts, fmt.Sprintf("%q: %q", fields[i], fields[i+1]))
	}
	fmt.Fprintf(w, "{%s}\n", strings.Join(parts, ", "))
}

const breakpadV2 = "sym-upload-v2"

// status answers GET symbols/FILE/ID:checkStatus.
func (s *breakpadDesk) status(w http.ResponseWriter, r *http.Request) {
	token, text := s.authorize(r)
	if token == nil {
		breakpadError(w, http.StatusForbidden, text)
		return
	}
	name := r.PathValue("file")
	id, ok := strings.CutSuffix(r.PathValue("id"), ":checkStatus")
	key, valid := depot.SymbolKey(name, id, depot.SymbolFileName(name))
	if ok && !valid && depot.IsID(id) {
		breakpadJSON(w, "status", "MISSING") // clients ask for a module of zeros to see who answers
		return
	}
	if !ok || !valid {
		breakpadError(w, http.StatusNotFound, "want symbols/DEBUG_FILE/DEBUG_ID:checkStatus")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), shortTime)
	defer cancel()
	_, err := s.Depot.Stat(ctx, key)
	switch {
	case depot.Missing(err):
		breakpadJSON(w, "status", "MISSING")
	case err != nil:
		s.failed(w, err, breakpadError)
	default:
		breakpadJSON(w, "status", "FOUND")
	}
}

// create answers POST uploads:create.
func (s *breakpadDesk) create(w http.ResponseWriter, r *http.Request) {
	c, ok := s.uploader(w, r, breakpadV2, breakpadError)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), shortTime)
	defer cancel()
	n, err := s.begin(ctx, c, nil)
	if err != nil {
		s.failed(w, err, breakpadError)
		return
	}
	at := s.base(r) + "/v1/uploads/" + n.id
	breakpadJSON(w, "uploadUrl", at, "uploadKey", n.id, "upload_url", at, "upload_key", n.id)
}

// put answers PUT of the file.
func (s *breakpadDesk) put(w http.ResponseWriter, r *http.Request) {
	ctx, done, ok := s.admit(w, r)
	if !ok {
		return
	}
	defer done()
	err := s.keep(ctx, w, r)
	if err != nil {
		s.failed(w, err, breakpadError)
		return
	}
	fmt.Fprintln(w, "ok")
}

// keep puts the body of a request into the store, for the session.
func (s *breakpadDesk) keep(ctx context.Context, w http.ResponseWriter, r *http.Request) error {
	n, err := s.session(ctx, r.PathValue("key"), breakpadV2)
	if err != nil {
		return err
	}
	f, err := spool.NewFile(s.Depot.Spool(), s.opt.MaxUpload)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(f, http.MaxBytesReader(w, r.Body, s.opt.MaxUpload))
	if err != nil {
		return err
	}
	return s.putPart(ctx, depot.UploadKey(n.id, "body"), f)
}

// putPart puts a part of a body into the store, in the place of one that there is.
func (s *breakpadDesk) putPart(ctx context.Context, key string, f *spool.File) error {
	blob := &depot.Blob{ReaderAt: f, Length: f.Size(), Type: "application/octet-stream"}
	for range depot.MaxRaces {
		err := s.Depot.Put(ctx, key, blob, nil)
		if !errors.Is(err, depot.ErrChanged) {
			return err
		}
		err = s.Depot.Remove(ctx, key, nil)
		if err != nil {
			return err
		}
	}
	return depot.ErrChanged
}

// post answers POST uploads/KEY:complete.
func (s *breakpadDesk) post(w http.ResponseWriter, r *http.Request) {
	id, ok := strings.CutSuffix(r.PathValue("key"), ":complete")
	if !ok {
		breakpadError(w, http.StatusNotFound, "want uploads/KEY:complete")
		return
	}
	_, ok = s.uploader(w, r, breakpadV2, breakpadError)
	if !ok {
		return
	}
	ctx, done, ok := s.admit(w, r)
	if !ok {
		return
	}
	defer done()
	s.decide(w, func() (gate.Decision, error) { return s.complete(ctx, w, r, id) }, func(d gate.Decision) string {
		w.Header().Set("Content-Type", "application/json")
		if d.Verdict == gate.Same {
			return "{\"result\": \"DUPLICATE_DATA\"}\n"
		}
		return "{\"result\": \"OK\"}\n"
	})
}

// complete decides about the file of a session. If that was done, the decision is the same.
func (s *breakpadDesk) complete(ctx context.Context, w http.ResponseWriter, r *http.Request, id string) (d gate.Decision, err error) {
	began := time.Now()
	n, err := s.session(ctx, id, breakpadV2)
	if err != nil {
		return d, err
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, breakpad.MaxComplete))
	if err != nil {
		return d, err
	}
	symbol, err := breakpad.Complete(text)
	if err != nil {
		return d, intake.Refuse(http.StatusBadRequest, "%v", err)
	}
	err = s.getJSON(ctx, depot.UploadKey(id, "done"), &d)
	if err == nil || !depot.Missing(err) {
		return d, err
	}
	stored, _, err := s.Depot.Open(ctx, depot.UploadKey(id, "body"))
	if depot.Missing(err) {
		return d, intake.Refuse(http.StatusBadRequest, "no file was sent yet: PUT it to uploadUrl first")
	}
	if err != nil {
		return d, err
	}
	defer stored.Close()

	u := &intake.Sent{Name: symbol.File, ID: symbol.ID, Client: n.client(r)}
	take := s.Take
	switch symbol.Type {
	case "BREAKPAD":
		u.File = depot.SymbolFileName(symbol.File)
	case "ELF", "DEBUG_ONLY":
		u.File = symbol.File
		if symbol.Type == "DEBUG_ONLY" {
			u.File += ".debug"
		}
		take = func(ctx context.Context, u *intake.Sent) (gate.Decision, error) {
			d, _, err := s.TakeOther(ctx, u)
			return d, err
		}
	default:
		return d, intake.Refuse(http.StatusBadRequest, "%q: the server takes BREAKPAD, ELF and DEBUG_ONLY", symbol.Type)
	}
	u.Content, err = s.Receive(stored, s.MaxFile, symbol.Type == "BREAKPAD")
	if err != nil {
		return d, err
	}
	defer u.Close()
	d, err = take(ctx, u)
	s.Record(u.Client, symbol.File+"/"+symbol.ID, u.Content, &d, err, began)
	if err != nil {
		return d, err
	}
	err = s.putJSON(ctx, depot.UploadKey(id, "done"), &d)
	return d, errors.Join(err, s.Depot.Remove(ctx, depot.UploadKey(id, "body"), nil))
}
