// Package address has the addresses (URLs) of servers and files, whose text hides what grants
// access: the user and the password, and the values of the query, where tokens and the
// signatures of presigned addresses are. Where an address becomes data, in results, pages,
// manifests, messages and files, its text is that of an Address.
package address

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Address is an address as it was given.
type Address struct{ raw string }

// New returns the address that a text is as a whole. Of a path, which may be in the place of an
// address, nothing is hidden.
func New(raw string) Address { return Address{raw} }

// Raw returns the whole address. It is for requests, and for nothing that is shown or kept.
func (a Address) Raw() string { return a.raw }

// String returns the address without what grants access.
func (a Address) String() string {
	scheme := begin().FindStringIndex(a.raw)
	if scheme == nil || scheme[0] != 0 {
		return a.raw
	}
	return a.raw[:scheme[1]] + rest(a.raw[scheme[1]:])
}

// Place returns the address without what grants access and without the query: the place of a file,
// to which the names of members of the file can be added.
func (a Address) Place() string {
	text := a.String()
	if begin().MatchString(text) {
		text, _, _ = strings.Cut(text, "#")
		text, _, _ = strings.Cut(text, "?")
	}
	return text
}

// GoString implements fmt.GoStringer.
func (a Address) GoString() string { return a.String() }

// MarshalText implements encoding.TextMarshaler.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// Name returns the name of the file at the address or path, without the query.
func (a Address) Name() string {
	name := a.raw
	if begin().MatchString(name) {
		name, _, _ = strings.Cut(name, "#")
		name, _, _ = strings.Cut(name, "?")
		if text, err := url.PathUnescape(name); err == nil {
			name = text
		}
	}
	return name[strings.LastIndexByte(name, '/')+1:]
}

// begin matches the beginning of an address. Addresses of the schemes that are read here are
// found also if they lack a slash.
var begin = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:[a-z][a-z0-9+.-]*://+|\b(?:https?|s3):/)`)
})

// Redact returns a text in which every address is without what grants access: the text of an
// error, of which other packages made a part.
func Redact(text string) string {
	if !strings.Contains(text, ":/") {
		return text
	}

	var out strings.Builder
	for {
		at := begin().FindStringIndex(text)
		if at == nil {
			out.WriteString(text)
			return out.String()
		}
		out.WriteString(text[:at[1]])
		text = text[at[1]:]

		// Quotes and spaces end an address, and so does the punctuation of the sentence.
		end := strings.IndexAny(text, " \t\r\n\"'`<>")
		if end < 0 {
			end = len(text)
		}
		end = len(strings.TrimRight(text[:end], ":;,.)]}\\"))
		out.WriteString(rest(text[:end]))
		text = text[end:]
	}
}

// hidden stands for what is not shown. net/url writes the same.
const hidden = "xxxxx"

// rest returns what follows the scheme of an address, without what grants access.
func rest(text string) string {
	text, fragment, hasFragment := strings.Cut(text, "#")
	text, query, hasQuery := strings.Cut(text, "?")

	// Go refuses passwords with a slash, but they are in its error. A host has no letters after a
	// colon.
	slash := strings.IndexByte(text, '/')
	if slash < 0 {
		slash = len(text)
	}
	_, port, _ := strings.Cut(text[:slash], ":")
	if strings.Trim(port, "0123456789") != "" && !strings.Contains(port, "]") && !strings.Contains(port, "@") {
		slash = len(text)
	}
	at := strings.LastIndexByte(text[:slash], '@')
	if at >= 0 {
		text = hidden + text[at:]
	}

	if hasQuery {
		text += "?" + values(query)
	}
	switch {
	case hasFragment && strings.Contains(fragment, "="):
		text += "#" + hidden
	case hasFragment:
		text += "#" + fragment
	}
	return text
}

// known are the parameters whose values are shown: those that package symserver adds.
var known = []string{"code_file", "code_id"}

// values returns a query with its values hidden.
func values(query string) string {
	parts := strings.Split(query, "&")
	for i, part := range parts {
		name, value, named := strings.Cut(part, "=")
		switch {
		case !named && part != "":
			parts[i] = hidden
		case value != "" && !slices.Contains(known, name):
			parts[i] = name + "=" + hidden
		}
	}
	return strings.Join(parts, "&")
}

// Error returns err with a text in which every address is without what grants access.
func Error(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	// The part of an address that cannot be parsed may be that of a password.
	if e, ok := errors.AsType[*url.Error](err); ok && e.Op == "parse" && e.Err != nil {
		text = strings.ReplaceAll(text, e.Err.Error(), "not a URL")
	}
	text = Redact(text)
	if text == err.Error() {
		return err
	}
	return &redacted{text, err}
}

type redacted struct {
	text string
	err  error
}

func (e *redacted) Error() string { return e.text }
func (e *redacted) Unwrap() error { return e.err }

// likeAddress matches texts that begin like an address. One letter before the colon is a drive of
// Windows.
var likeAddress = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]+):/`) })

// Check returns an error about a text that begins like an address and is none of the schemes, which
// are in small letters. A path has no error.
func Check(text string, schemes ...string) error {
	match := likeAddress().FindStringSubmatch(text)
	if match == nil || slices.Contains(schemes, match[1]) && strings.HasPrefix(text, match[1]+"://") {
		return nil
	}
	if len(schemes) == 0 {
		return fmt.Errorf("%v: is an address; give a path", New(text))
	}
	return fmt.Errorf("%v: not an address that is known; give a path, or an address that begins with %s://", New(text), strings.Join(schemes, ":// or "))
}
