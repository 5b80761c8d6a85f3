package batch

import (
	"encoding/json"
	"io"
	"sync"

	"symkit/internal/printable"
)

// recordVersion increases when a field of Record changes its meaning or is removed.
const recordVersion = 1

// Status is the outcome for an input.
type Status string

// The outcomes.
const (
	Written   Status = "written"
	Existing  Status = "existing"  // all outputs existed before
	Duplicate Status = "duplicate" // has the build id of Of, which is dumped
	NoModule  Status = "no-module" // was found, not named, and has no symbols
	Before    Status = "before"    // a package that --done lists
	Failed    Status = "failed"
)

// Record is a line of a manifest. Each module has one, and each file that is part of no
// module. Fields that do not apply are left out.
type Record struct {
	Version int    `json:"version"`
	Status  Status `json:"status"`
	Input   string `json:"input"`           // path; of a member ARCHIVE!/NAME
	Debug   string `json:"debug,omitempty"` // the separate debug file
	Of      string `json:"of,omitempty"`    // the input that a duplicate is like

	Name   string `json:"name,omitempty"` // of the MODULE record, as are the next three
	ID     string `json:"id,omitempty"`
	OS     string `json:"os,omitempty"`
	Arch   string `json:"arch,omitempty"`
	CodeID string `json:"code_id,omitempty"`

	Outputs []string `json:"outputs,omitempty"` // relative to the store, divided by slashes

	InputBytes  int64 `json:"input_bytes,omitempty"`  // of input and debug
	SymbolBytes int64 `json:"symbol_bytes,omitempty"` // of the symbol file
	StoredBytes int64 `json:"stored_bytes,omitempty"` // of the same, compressed

	Why string `json:"why,omitempty"` // why the file in the store was replaced, or stays; store.Options.Better

	Sources int `json:"sources,omitempty"` // source files in the bundle

	Seconds *Seconds `json:"seconds,omitempty"` // wall clock
	Counts  *Counts  `json:"counts,omitempty"`

	Losses   int      `json:"losses,omitempty"`   // damaged parts left out
	First    []string `json:"first,omitempty"`    // the first of them
	Missing  int      `json:"missing,omitempty"`  // companions that were not found or not read
	Findings uint64   `json:"findings,omitempty"` // of the check
	Warnings []string `json:"warnings,omitempty"` // as on standard error
	Error    string   `json:"error,omitempty"`    // why it failed, or is no module
}

// Seconds is how long the stages of a module took.
type Seconds struct {
	Dump  float64 `json:"dump"`
	Write float64 `json:"write"`
	Check float64 `json:"check,omitempty"`
}

// Counts is how many records there are.
type Counts struct {
	Units   int `json:"units"`
	Funcs   int `json:"functions"`
	Lines   int `json:"lines"`
	Inlines int `json:"inlines"`
	Publics int `json:"publics"`
	FDEs    int `json:"unwind_entries"`
}

// Manifest writes records as JSON lines, each with one call of Write, so that a
// reader sees whole lines while the batch runs. It is safe for concurrent use;
// a nil Manifest writes nothing.
type Manifest struct {
	mu  sync.Mutex
	enc *json.Encoder
	err error
}

// NewManifest writes to w.
func NewManifest(w io.Writer) *Manifest {
	m := &Manifest{enc: json.NewEncoder(&printable.JSONWriter{W: w})}
	m.enc.SetEscapeHTML(false)
	return m
}

// Add sets the version of a record and writes the record. After an error of the writer
// Add writes nothing.
func (m *Manifest) Add(r Record) {
	if m == nil {
		return
	}

	r.Version = recordVersion
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		m.err = m.enc.Encode(&r)
	}
}

// Err returns the first error of the writer.
func (m *Manifest) Err() error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}
