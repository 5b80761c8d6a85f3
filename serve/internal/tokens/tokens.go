// Package tokens has the tokens that clients show, in a file that is read again when it changes:
//
//	# NAME      SCOPE    TOKEN                                    EXPIRES
//	ci-linux    upload   6f0c1b2e9d8a47c5b3a1f0e2d4c6b8a9         2027-06-30
//	laptop      upload   sha256:2c26b46b68ffc68ff99b453c1d304134…
//
// The one scope is "upload". A token has no hyphen and at least 16 characters; the file may have its SHA-256, in
// hexadecimal digits, in its place. It is valid until the end of the day EXPIRES, in UTC, or for ever.
package tokens

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"symkit/internal/smallfile"
)

// upload is the scope of sending symbols.
const upload = "upload"

// The reasons for which a token does not count.
var (
	ErrUnknown = errors.New("no such token")
	ErrExpired = errors.New("the token has expired")
)

// Token is what the file says about a token.
type Token struct {
	Name    string
	Expires time.Time // zero: never
}

// table has the tokens by the SHA-256 of their text, so that the time of a look-up says nothing about a token.
type table map[[sha256.Size]byte]*Token

const (
	maxFile  = 4 << 20 // bytes
	shortest = 16      // characters of a token
	hashed   = "sha256:"
)

// parse reads the text of a file. An error has the number of the line, and nothing of the token.
func parse(text []byte) (table, error) {
	all := table{}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		line, _, _ = bytes.Cut(line, []byte("#"))
		fields := strings.Fields(string(line))
		if len(fields) == 0 {
			continue
		}
		key, token, err := parseLine(fields)
		if err == nil && all[key] != nil {
			err = errors.New("the token is that of an earlier line")
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		all[key] = token
	}
	return all, nil
}

// parseLine reads the words of a line.
func parseLine(fields []string) (key [sha256.Size]byte, t *Token, err error) {
	if len(fields) < 3 || len(fields) > 4 {
		return key, nil, errors.New("want NAME upload TOKEN [EXPIRES]")
	}
	t = &Token{Name: fields[0]}
	if fields[1] != upload {
		return key, nil, fmt.Errorf("the scope is not %s", upload)
	}

	digest, isHash := strings.CutPrefix(fields[2], hashed)
	switch {
	case isHash:
		sum, err := hex.DecodeString(digest)
		if err != nil || len(sum) != len(key) {
			return key, nil, fmt.Errorf("want 64 hexadecimal digits after %s", hashed)
		}
		key = [sha256.Size]byte(sum)
	case len(fields[2]) < shortest:
		return key, nil, fmt.Errorf("the token has less than %d characters", shortest)
	case strings.Contains(fields[2], "-"):
		return key, nil, errors.New("the token has a hyphen, after which clients may write a comment")
	default:
		key = sha256.Sum256([]byte(fields[2]))
	}

	if len(fields) == 4 {
		day, err := time.Parse(time.DateOnly, fields[3])
		if err != nil {
			return key, nil, errors.New("the date is not of the form 2027-06-30")
		}
		t.Expires = day.AddDate(0, 0, 1)
	}
	return key, t, nil
}

// File is a file of tokens. Its methods may be called from any number of goroutines.
type File struct {
	path string
	log  func(error)

	mu    sync.Mutex
	all   table
	info  os.FileInfo // of the file that was read
	asked time.Time
	told  string // the last error that was logged
}

// often is the time between two looks at the file.
const often = time.Second

// Open reads the file at a path. log is called with the reason when a later version cannot be read; then the last one
// that could be read counts.
func Open(path string, log func(error)) (*File, error) {
	f := &File{path: path, log: log}
	return f, f.read()
}

// read reads the file unless it is the one that was read.
func (f *File) read() error {
	info, err := os.Stat(f.path)
	if err != nil {
		return err
	}
	if f.info != nil && os.SameFile(info, f.info) && info.ModTime().Equal(f.info.ModTime()) && info.Size() == f.info.Size() {
		return nil
	}
	text, err := smallfile.Read(f.path, maxFile)
	if err != nil {
		return err
	}
	f.info = info // a damaged file is reported once
	all, err := parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	f.all = all
	return nil
}

// again reads the file if it has changed, and logs each reason once for which the file cannot be read.
func (f *File) again() {
	err := f.read()
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != "" && text != f.told {
		f.log(fmt.Errorf("the tokens that were read last count: %w", err))
	}
	f.told = text
}

// Find returns the token of a text, of which the part after the first hyphen is a comment.
func (f *File) Find(text string) (*Token, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.asked) > often {
		f.asked = time.Now()
		f.again()
	}

	text, _, _ = strings.Cut(text, "-")
	t := f.all[sha256.Sum256([]byte(text))]
	switch {
	case t == nil:
		return nil, ErrUnknown
	case !t.Expires.IsZero() && !time.Now().Before(t.Expires):
		return t, ErrExpired
	}
	return t, nil
}
