// Package breakpad reads what Breakpad's sym_upload sends beside files (src/common/linux/symbol_collector_client.cc,
// docs/sym_upload_v2_protocol.md).
package breakpad

import (
	"encoding/json"
	"errors"
	"regexp"
	"sync"
)

// Symbol is what a client says about a file that it has sent.
type Symbol struct {
	File string // debug file
	ID   string // debug id
	Type string // BREAKPAD, ELF, DEBUG_ONLY, …
}

// ErrComplete: the body of :complete has not the three fields.
var ErrComplete = errors.New(`want {"symbol_id": {"debug_file": …, "debug_id": …}, "symbol_upload_type": "BREAKPAD"}`)

// MaxComplete bounds the body of :complete, in bytes.
const MaxComplete = 64 << 10

// Complete reads the body of :complete. sym_upload sends keys without quotes, which is no JSON; clients that were written
// after the document send JSON.
func Complete(body []byte) (Symbol, error) {
	var doc struct {
		ID struct {
			File string `json:"debug_file"`
			ID   string `json:"debug_id"`
		} `json:"symbol_id"`
		Type string `json:"symbol_upload_type"`
	}
	s := Symbol{}
	if json.Unmarshal(body, &doc) == nil {
		s = Symbol{doc.ID.File, doc.ID.ID, doc.Type}
	} else {
		for _, field := range fields() {
			found := field.form.FindSubmatch(body)
			if found != nil {
				*field.of(&s) = string(found[1])
			}
		}
	}
	if s.File == "" || s.ID == "" || s.Type == "" {
		return Symbol{}, ErrComplete
	}
	return s, nil
}

// field is a field of the body.
type field struct {
	form *regexp.Regexp
	of   func(s *Symbol) *string
}

var fields = sync.OnceValue(func() []field {
	form := func(name string) *regexp.Regexp {
		return regexp.MustCompile(`(?:^|[{,\s])` + name + `\s*:\s*"([^"\n]*)"`)
	}
	return []field{
		{form("debug_file"), func(s *Symbol) *string { return &s.File }},
		{form("debug_id"), func(s *Symbol) *string { return &s.ID }},
		{form("symbol_upload_type"), func(s *Symbol) *string { return &s.Type }},
	}
})
