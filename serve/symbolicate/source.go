package symbolicate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strconv"
	"strings"

	"symkit/lookup"
	"symkit/lookup/source"
)

// maxSmallBody bounds requests of /source/v1 and /asm/v1, in bytes.
const maxSmallBody = 64 << 10

// address is a number in hexadecimal with 0x, as the Firefox Profiler writes it.
type address uint64

// UnmarshalJSON implements json.Unmarshaler.
func (a *address) UnmarshalJSON(text []byte) error {
	s, ok := stringOf(text)
	digits, prefixed := strings.CutPrefix(s, "0x")
	n, err := strconv.ParseUint(digits, 16, 64)
	if !ok || !prefixed || err != nil {
		return fmt.Errorf("%.40s is not a hexadecimal number with 0x in a string", text)
	}
	*a = address(n)
	return nil
}

// sourceRequest is a request of /source/v1.
type sourceRequest struct {
	DebugName, DebugID *string
	ModuleOffset       *address
	File               *string
}

// readSmall reads a request of /source/v1 or /asm/v1. Names of members are those of samply, in its case.
func readSmall(w http.ResponseWriter, r *http.Request, members map[string]any) error {
	body, err := readBody(w, r, maxSmallBody)
	if err != nil {
		return err
	}
	if !json.Valid(body) {
		return refuse("Couldn't parse request: it is not valid JSON")
	}
	c := cursor{text: body}
	if !c.enter('{') {
		return refuse("Couldn't parse request: it is not an object")
	}
	for c.next() {
		name := c.name()
		value := c.value()
		member := members[name]
		if member == nil {
			continue
		}
		err := json.Unmarshal(value, member)
		if err != nil {
			return refuse(fmt.Sprintf("Couldn't parse request: %s: %v", name, err))
		}
	}
	return nil
}

// missingField is the failure of a request without a member, in samply's words.
func missingField(name string) error {
	return refuse("Couldn't parse request: missing field `" + name + "`")
}

// sourceV1 answers with the text of a source file that the frames at an address name.
func (s *Server) sourceV1(w http.ResponseWriter, r *http.Request) error {
	var q sourceRequest
	err := readSmall(w, r, map[string]any{"debugName": &q.DebugName, "debugId": &q.DebugID, "moduleOffset": &q.ModuleOffset, "file": &q.File})
	switch {
	case err != nil:
		return err
	case q.DebugName == nil:
		return missingField("debugName")
	case q.DebugID == nil:
		return missingField("debugId")
	case q.ModuleOffset == nil:
		return missingField("moduleOffset")
	case q.File == nil:
		return missingField("file")
	}
	m := &module{moduleKey: moduleKey{*q.DebugName, *q.DebugID}}
	err = s.openSymbols(r, m)
	if err != nil {
		return err
	}
	defer m.release()
	err = names(m.file, uint64(*q.ModuleOffset), *q.File)
	if err != nil {
		return err
	}
	text, err := s.sourceText(*q.File)
	if err != nil {
		return err
	}
	answer := []byte(`{"symbolsLastModified":null,"sourceLastModified":null,"file":`)
	answer = appendString(answer, *q.File)
	answer = appendString(append(answer, `,"source":`...), text)
	return reply(w, append(answer, '}'))
}

// openSymbols opens the symbols of the one module of a request.
func (s *Server) openSymbols(r *http.Request, m *module) error {
	if !isName(m.name) || strings.Trim(m.id, hexDigits) != "" {
		return refuse("Couldn't parse request: the name or the id of the module is invalid")
	}
	s.get(r.Context(), m)
	if m.err == nil {
		return nil
	}
	_, message := m.problem()
	return &failure{http.StatusNotFound, "Could not obtain symbols for the requested library: " + message}
}

// names returns samply's error unless the frames at an address name a file.
func names(f *lookup.File, offset uint64, file string) error {
	addr, _ := f.Address(lookup.Relative, offset)
	frames, _ := f.Frames(nil, addr) // damage costs the address its frames
	known := false
	for i := range frames {
		if frames[i].File == file && file != "" {
			return nil
		}
		known = known || frames[i].File != ""
	}
	if !known {
		return &failure{http.StatusNotFound, "Don't have any debug info for the requested library"}
	}
	return &failure{http.StatusForbidden, "The requested path is not present in the symbolication frames"}
}

// sourceText returns the text of a source file from the directory of the Source whose prefix is the longest.
func (s *Server) sourceText(file string) (string, error) {
	unread := func(reason string) error {
		return &failure{http.StatusNotFound, "An error occurred when reading the file: " + reason}
	}
	text, err := s.sources.Text(file)
	switch {
	case errors.Is(err, source.ErrNone):
		return "", unread("the server has no source files with such a path")
	case errors.Is(err, source.ErrText):
		return "", unread(err.Error())
	case errors.Is(err, fs.ErrNotExist):
		return "", unread("the server does not have the file")
	case err != nil:
		s.opt.Log(err)
		return "", unread("the server cannot read the file")
	}
	return string(text), nil
}
