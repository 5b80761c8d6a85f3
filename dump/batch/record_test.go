package batch

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// lineWriter wants whole lines, and fails after the second.
type lineWriter struct{ lines []string }

var errFull = errors.New("full")

func (w *lineWriter) Write(p []byte) (int, error) {
	if len(w.lines) == 2 {
		return 0, errFull
	}
	w.lines = append(w.lines, string(p))
	return len(p), nil
}

func TestManifest(t *testing.T) {
	var w lineWriter
	m := NewManifest(&w)
	m.Add(Record{Status: Written, Input: "a<b\nc\xff", ID: "AB", Seconds: &Seconds{Dump: 1.5}})
	m.Add(Record{Status: Failed, Input: "b", Error: "why"})
	if err := m.Err(); err != nil {
		t.Fatal(err)
	}
	m.Add(Record{Status: Failed, Input: "c"})
	m.Add(Record{Status: Failed, Input: "d"})
	if err := m.Err(); !errors.Is(err, errFull) {
		t.Errorf("the writer's error: %v", err)
	}
	want := []string{
		`{"version":1,"status":"written","input":"a<b\nc` + "\ufffd" + `","id":"AB","seconds":{"dump":1.5,"write":0}}` + "\n",
		`{"version":1,"status":"failed","input":"b","error":"why"}` + "\n",
	}
	for i, line := range w.lines {
		// The encoder may write the replacement character itself or its escape.
		if got := strings.ReplaceAll(line, `\ufffd`, "\ufffd"); got != want[i] || !json.Valid([]byte(line)) {
			t.Errorf("line %d: %s, want %s", i, line, want[i])
		}
	}
	var none *Manifest
	none.Add(Record{})
	if err := none.Err(); err != nil {
		t.Error(err)
	}
}
