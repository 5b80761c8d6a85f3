package tecken

import (
	"encoding/json"
	"strings"
)

// The texts of errors about the request, and about single files (tecken/upload/views.py).
var (
	ErrJSON    = refuse("malformed JSON request body")
	ErrTooMany = refuse("too many files")
)

const (
	textKey = "invalid key"
	textMD5 = "invalid MD5 hex digest"

	maxFiles = 1024
	// MaxRequest bounds the body of a request, in bytes.
	MaxRequest = 4 << 20
)

// File is a file that a client wants to send.
type File struct {
	Key  string `json:"key"`
	Size int64  `json:"size"`
	MD5  string `json:"md5_hash"`

	Name, ID, Base string `json:"-"` // the parts of Key
	Wrong          string `json:"-"` // what is wrong with the file, in Tecken's words
}

// Files reads the body of a request to send files. The error is for the client.
func Files(body []byte) ([]File, error) {
	var doc struct {
		Files []File `json:"files"`
	}
	err := json.Unmarshal(body, &doc)
	if err != nil || doc.Files == nil {
		return nil, ErrJSON
	}
	if len(doc.Files) > maxFiles {
		return nil, ErrTooMany
	}
	for i := range doc.Files {
		f := &doc.Files[i]
		name, rest, _ := strings.Cut(f.Key, "/")
		id, base, _ := strings.Cut(rest, "/")
		f.Name, f.ID, f.Base = name, strings.ToUpper(id), base
		switch {
		case !IsKey(name, id, base):
			f.Wrong = textKey
		case len(f.MD5) != 32 || strings.Trim(f.MD5, "0123456789abcdef") != "":
			f.Wrong = textMD5
		case f.Size < 0:
			f.Wrong = "invalid size"
		}
	}
	return doc.Files, nil
}
