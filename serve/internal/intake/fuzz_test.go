package intake

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"symkit/internal/spool"
	"symkit/serve/gate"
	"symkit/serve/internal/depot"
	"symkit/test/testfile"
)

// newIntake returns the Intake of a directory of the test.
func newIntake(t testing.TB) *Intake {
	t.Helper()
	d, err := depot.OpenDirectory(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	return New(d, Options{Accept: gate.Check, MaxFile: 1 << 22, Memory: 1 << 30, Log: func(error) {}, Count: func(string, string, int64) {}, Changed: func(string, string) {}})
}

// packed returns data as gzip packs them.
func packed(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(data) // into memory
	z.Close()
	return b.Bytes()
}

// FuzzUnpack: whatever is sent, the content is what was sent or what that unpacks to, within the bound, or the error says
// what is wrong with it.
func FuzzUnpack(f *testing.F) {
	sym := []byte("MODULE Linux x86_64 9393B68C623AA7237971790E89F1DBA90 app\n")
	f.Add(sym)
	f.Add(packed(sym))
	f.Add(packed(make([]byte, 1<<20)))
	f.Add([]byte("\x28\xb5\x2f\xfd\x04\x00\x19\x00\x00abc"))
	i := newIntake(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := i.Receive(bytes.NewReader(body), i.MaxFile, true)
		if err != nil {
			if !errors.Is(err, ErrPacked) && !errors.Is(err, ErrBomb) && !errors.Is(err, spool.ErrTooLarge) {
				t.Fatal(err)
			}
			return
		}
		defer c.Close()
		text, err := io.ReadAll(c.Reader())
		if err != nil || int64(len(text)) > i.MaxFile || c.Digest.Size != int64(len(text)) {
			t.Fatalf("%d bytes, %+v, %v", len(text), c.Digest, err)
		}
	})
}

// FuzzELF: a file that may be an ELF file is kept once, or refused, and examines the symbol file of its module.
func FuzzELF(f *testing.F) {
	elf, err := testfile.Read("../../../testdata/elf/hello-x86_64-gcc12-O2-dw5.elf")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(elf)
	f.Add(packed(elf))
	f.Add([]byte("\x7fELF"))
	const id = "672F3E1B0D87F3E5E3697F4C1C0782700"
	f.Fuzz(func(t *testing.T, body []byte) {
		i := newIntake(t)
		c := &Client{Protocol: "fuzz"}
		sym, err := i.Receive(strings.NewReader("MODULE Linux x86_64 "+id+" app\n"), i.MaxFile, true)
		if err != nil {
			t.Fatal(err)
		}
		u := &Sent{Content: sym, Name: "app", ID: id, File: "app.sym", Client: c}
		_, err = i.Take(t.Context(), u)
		if err != nil || u.Close() != nil {
			t.Fatal(err)
		}
		for n := range 2 {
			content, err := i.Receive(bytes.NewReader(body), i.MaxFile, false)
			if err != nil {
				return // too large
			}
			u := &Sent{Content: content, Name: "app", ID: id, File: "app", Client: c}
			d, _, err := i.TakeOther(context.Background(), u)
			closed := u.Close()
			if _, refused := errors.AsType[*Refusal](err); refused {
				continue
			}
			if err != nil || closed != nil {
				t.Fatalf("%v, %v", err, closed)
			}
			if want := []gate.Verdict{gate.New, gate.Same}[n]; d.Verdict != want && d.Verdict != gate.Refused {
				t.Fatalf("%d: %+v", n, d)
			}
		}
	})
}
