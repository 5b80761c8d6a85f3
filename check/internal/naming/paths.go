package naming

import (
	"path"
	"strings"
	"sync"
)

// AnyPath is the number of a file whose name is not known.
const AnyPath = 0

// Paths numbers the names of source files: names that mean the same file have the same number. "."
// and ".." are resolved as text, so that a tool that leaves them in is not reported. Control
// characters are escaped as in symbol files.
type Paths struct {
	mu    sync.Mutex
	ids   map[string]uint32
	names []string
	bytes uint64 // of the names

	given      map[string]uint32 // the numbers of texts that ID was called with
	givenBytes int
}

// maxGiven bounds the bytes of Paths.given: units name the same files in the same manner, and to resolve a
// text takes ten times as long as to find it.
const maxGiven = 16 << 20

// NewPaths returns an empty table.
func NewPaths() *Paths {
	return &Paths{ids: map[string]uint32{}, given: map[string]uint32{}, names: []string{"(unknown file)"}}
}

// ID returns the number of a name.
func (t *Paths) ID(text []byte) uint32 {
	t.mu.Lock()
	id, ok := t.given[string(text)]
	t.mu.Unlock()
	if ok {
		return id
	}

	name := cleanPath(Escaped(cleanPath(string(text)))) // an escape is a backslash, which Windows' paths cannot keep
	t.mu.Lock()
	defer t.mu.Unlock()
	id, ok = t.ids[name]
	if !ok {
		// The copy does not keep the section alive that name is in.
		id = uint32(len(t.names))
		name = strings.Clone(name)
		t.bytes += uint64(len(name))
		t.ids[name] = id
		t.names = append(t.names, name)
	}
	if t.givenBytes+len(text) <= maxGiven {
		t.givenBytes += len(text)
		t.given[string(text)] = id
	}
	return id
}

// Size returns the number of bytes of all names.
func (t *Paths) Size() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bytes
}

// Name returns the name with a number.
func (t *Paths) Name(id uint32) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.names[id]
}

// cleanPath resolves "." and "..", and writes Windows' paths with slashes.
func cleanPath(name string) string {
	if isWindowsPath(name) {
		name = strings.ReplaceAll(name, `\`, "/")
	}
	return path.Clean(name)
}

// isWindowsPath reports whether p has the form of C:\x, C:/x or \\host\x.
func isWindowsPath(p string) bool {
	if strings.HasPrefix(p, `\\`) {
		return true
	}
	return len(p) >= 3 && p[1] == ':' && (p[2] == '\\' || p[2] == '/') && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z')
}

// IsAbsolute reports whether a path is not relative to a directory.
func IsAbsolute(p string) bool { return strings.HasPrefix(p, "/") || isWindowsPath(p) }

// SameFile reports whether two numbers can stand for the same file.
func SameFile(a, b uint32) bool { return a == b || a == AnyPath || b == AnyPath }
