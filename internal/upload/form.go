package upload

import (
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"strings"

	"symkit/internal/download"
	"symkit/internal/spool"
)

// form is a form with files as the body of a request (multipart/form-data, RFC 7578).
type form struct {
	boundary string
	parts    joined
}

func newForm() *form { return &form{boundary: "symkit" + rand.Text()} }

// field adds a field.
func (f *form) field(name, value string) {
	f.part(`name="`+quote.Replace(name)+`"`, "", spool.Text(value))
}

// file adds a file.
func (f *form) file(name, filename string, content download.Content) {
	f.part(`name="`+quote.Replace(name)+`"; filename="`+quote.Replace(filename)+`"`, "Content-Type: application/octet-stream\r\n", content)
}

// part adds a part of the form.
func (f *form) part(disposition, header string, content download.Content) {
	f.parts = append(f.parts, spool.Text("--"+f.boundary+"\r\nContent-Disposition: form-data; "+disposition+"\r\n"+header+"\r\n"), content, spool.Text("\r\n"))
}

// quote escapes a name as browsers and package mime/multipart do.
var quote = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", "%0D", "\n", "%0A")

// body returns the whole form.
func (f *form) body() download.Content { return append(f.parts, spool.Text("--"+f.boundary+"--\r\n")) }

// header has the type of the body.
func (f *form) header() http.Header {
	return http.Header{"Content-Type": {"multipart/form-data; boundary=" + f.boundary}}
}

// joined is contents one after the other.
type joined []download.Content

// Size implements download.Content.
func (j joined) Size() (n int64) {
	for _, c := range j {
		n += c.Size()
	}
	return n
}

// Open implements download.Content.
func (j joined) Open() io.Reader {
	r := &joinedReader{}
	for _, c := range j {
		r.parts = append(r.parts, c.Open())
	}
	r.Reader = io.MultiReader(r.parts...)
	return r
}

// joinedReader reads parts, some of which have to be closed.
type joinedReader struct {
	io.Reader
	parts []io.Reader
}

// Close implements io.Closer.
func (r *joinedReader) Close() (err error) {
	for _, part := range r.parts {
		c, ok := part.(io.Closer)
		if ok {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}
