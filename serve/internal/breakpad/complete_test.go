package breakpad

import (
	"strings"
	"testing"
)

// TestComplete: the body as sym_upload sends it, and as its document has it.
func TestComplete(t *testing.T) {
	want := Symbol{"a b.pdb", "AB0", "BREAKPAD"}
	for _, body := range []string{
		`{ symbol_id: {debug_file: "a b.pdb", debug_id: "AB0" }, symbol_upload_type: "BREAKPAD" }`,
		`{"symbol_id": {"debug_file": "a b.pdb", "debug_id": "AB0"}, "symbol_upload_type": "BREAKPAD"}`,
		"{symbol_upload_type:\"BREAKPAD\",\nsymbol_id:{debug_id:\"AB0\",debug_file:\"a b.pdb\"}}",
	} {
		got, err := Complete([]byte(body))
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
	for _, body := range []string{"", "{}", `{ symbol_id: {debug_file: "a" }, symbol_upload_type: "BREAKPAD" }`, `xdebug_file: "a", debug_id: "b", symbol_upload_type: "c"`} {
		_, err := Complete([]byte(body))
		if err != ErrComplete {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// FuzzComplete: each field is of the body, or there is an error.
func FuzzComplete(f *testing.F) {
	f.Add([]byte(`{ symbol_id: {debug_file: "F", debug_id: "I" }, symbol_upload_type: "BREAKPAD" }`))
	f.Add([]byte(`{"symbol_id": {"debug_file": "F", "debug_id": "I"}, "symbol_upload_type": "BREAKPAD"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		s, err := Complete(body)
		if (err == nil) != (s.File != "" && s.ID != "" && s.Type != "") {
			t.Fatalf("%+v, %v", s, err)
		}
		if err == nil && body[0] != '{' && !strings.Contains(string(body), s.File) {
			t.Fatalf("%+v", s)
		}
	})
}
