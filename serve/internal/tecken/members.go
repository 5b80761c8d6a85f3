// Package tecken has the rules of Mozilla's symbol server, Tecken, about what clients send: the members of a zip file,
// and the JSON of uploads (tecken/upload/utils.py, tecken/upload/views.py).
package tecken

import (
	"archive/zip"
	"fmt"
	"io"
	"path"
	"strings"

	"symkit/internal/printable"
	"symkit/internal/quantity"
)

// Bounds of a zip file.
const (
	maxMembers   = 20000
	maxDirectory = 16 << 20 // bytes of the central directory
	maxPart      = 250      // bytes of a part of a name
)

// Member is a member of a zip file: NAME/ID/FILE.
type Member struct {
	Name, ID, File string
	Zip            *zip.File
}

// Key returns the name of the member.
func (m *Member) Key() string { return m.Name + "/" + m.ID + "/" + m.File }

// Members returns the members of a zip file that are to be kept. The error is for the client, in Tecken's words.
func Members(r io.ReaderAt, size int64) ([]Member, error) {
	// The reader of zip files holds all names in memory: a file may consist of names alone.
	m := &metered{r: r, left: maxDirectory}
	z, err := zip.NewReader(m, size)
	m.left = -1
	if m.over {
		return nil, fmt.Errorf("the directory of the zip file is larger than %s", quantity.Bytes(maxDirectory))
	}
	if err != nil {
		return nil, errNotZip
	}
	if len(z.File) > maxMembers {
		return nil, fmt.Errorf("the zip file has more than %s files: send several", quantity.Number(maxMembers))
	}

	var all []Member
	sizes := map[string]uint64{}
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") || ignored(f.Name) {
			continue
		}
		had, twice := sizes[f.Name]
		if twice && had != f.UncompressedSize64 {
			return nil, refuse("The zipfile buffer contains two files both called %s and they have different sizes", shown(f.Name))
		}
		sizes[f.Name] = f.UncompressedSize64
		if twice {
			continue
		}
		name, rest, _ := strings.Cut(f.Name, "/")
		id, file, _ := strings.Cut(rest, "/")
		if !IsKey(name, id, file) {
			return nil, refuse("Unrecognized file pattern. Should only be <module>/<hex>/<file> or <name>-symbols.txt and nothing else. (First unrecognized pattern was '%s')", shown(f.Name))
		}
		all = append(all, Member{name, strings.ToUpper(id), file, f})
	}
	return all, nil
}

// errNotZip has the text of Python's module zipfile.
var errNotZip = refuse("File is not a zip file")

// refusal is an error in Tecken's words, which begin with capital letters.
type refusal string

func (r refusal) Error() string { return string(r) }

func refuse(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }

// ignored reports whether a member is a list of symbol files, or of macOS: both are not kept.
func ignored(name string) bool {
	return path.Base(name) == ".DS_Store" || strings.HasSuffix(name, "-symbols.txt") && !strings.Contains(name, "/")
}

// IsKey reports whether NAME/ID/FILE is the name of a file that a server keeps.
func IsKey(name, id, file string) bool {
	return isPart(name) && isPart(file) && id != "" && len(id) <= maxPart && strings.Trim(id, "0123456789abcdefABCDEF") == ""
}

// isPart reports whether a text can be a module's or a file's name.
func isPart(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' || strings.IndexByte("\\^`><{}[]#%\"'|/", s[i]) >= 0 {
			return false
		}
	}
	return s != "" && s != "." && s != ".." && len(s) <= maxPart
}

// maxShown bounds a name in an error, in bytes.
const maxShown = 200

func shown(name string) string { return printable.Elide(printable.String(name), maxShown) }

// metered reads at most a number of bytes.
type metered struct {
	r    io.ReaderAt
	left int64 // below 0: any number
	over bool
}

func (m *metered) ReadAt(p []byte, at int64) (int, error) {
	if m.left >= 0 && int64(len(p)) > m.left {
		m.over = true
		return 0, errNotZip
	}
	if m.left >= 0 {
		m.left -= int64(len(p))
	}
	return m.r.ReadAt(p, at)
}
