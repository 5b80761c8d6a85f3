package uploads

import (
	"bytes"
	"net/http/httptest"
	"strings"
	"testing"

	"symkit/serve/internal/depot"
	"symkit/serve/internal/intake"
)

// FuzzForm: any body of a form has an answer, and leaves no temporary file open.
func FuzzForm(f *testing.F) {
	f.Add([]byte("--x\r\nContent-Disposition: form-data; name=\"symbol_file\"; filename=\"a\"\r\n\r\nMODULE Linux x86_64 AB a\n\r\n--x--\r\n"))
	f.Add([]byte("--x\r\nContent-Disposition: form-data; name=\"debug_file\"\r\n\r\na\r\n--x--\r\n"))
	f.Add([]byte("--x\r\n" + strings.Repeat("A: b\r\n", 100) + "\r\n\r\n--x"))
	f.Add(bytes.Repeat([]byte("--x\r\n\r\n\r\n"), 100))
	f.Add([]byte("--x\r\nContent-Disposition: form-data; name=\"symbol_file\"; filename=\"a\"\r\n\r\n\x1f\x8b\x08\r\n--x--\r\n"))
	dir := f.TempDir()
	d, err := depot.OpenDirectory(dir, "")
	if err != nil {
		f.Fatal(err)
	}
	i := intake.New(d, intake.Options{MaxFile: 1 << 24, Log: func(error) {}, Count: func(string, string, int64) {}, Changed: func(string, string) {}})
	s := &breakpadDesk{New(i, Options{MaxUpload: 1 << 20})}
	f.Fuzz(func(t *testing.T, body []byte) {
		r := httptest.NewRequest("POST", "/sym-upload", bytes.NewReader(body))
		r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
		w := httptest.NewRecorder()
		content, fields, err := s.fields(w, r)
		if err != nil {
			s.failed(w, err, breakpadError)
			if w.Code < 400 || w.Code == 503 {
				t.Fatalf("%d: %v", w.Code, err)
			}
			return
		}
		if len(fields) > maxFields || content.Size() > s.MaxFile {
			t.Fatalf("%d fields, %d bytes", len(fields), content.Size())
		}
		err = content.Close()
		if err != nil {
			t.Fatal(err)
		}
	})
}
