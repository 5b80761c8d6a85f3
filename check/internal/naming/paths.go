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
	names texts
	bytes uint64 // of the names

	given      texts    // the texts that ID was called with
	numbers    []uint32 // by number in given
	givenBytes int
}

// maxGiven bounds the bytes of Paths.given: units name the same files in the same manner, and to resolve a
// text takes ten times as long as to find it.
const maxGiven = 16 << 20

// NewPaths returns an empty table.
func NewPaths() *Paths {
	return &Paths{names: newTexts(), given: newTexts(), numbers: make([]uint32, 1)}
}

// ID returns the number of a name.
func (t *Paths) ID(text []byte) uint32 {
	hash := t.given.hash(text)
	t.mu.Lock()
	i, ok := t.given.find(hash, text)
	id := t.numbers[i]
	t.mu.Unlock()
	if ok {
		return id
	}

	name := []byte(cleanPath(Escaped(cleanPath(string(text))))) // an escape is a backslash, which Windows' paths cannot keep
	nameHash := t.names.hash(name)
	t.mu.Lock()
	defer t.mu.Unlock()
	before := len(t.names.spans)
	id = t.names.number(nameHash, name)
	if int(id) == before {
		t.bytes += uint64(len(name))
	}
	if len(text) > 0 && t.givenBytes+len(text) <= maxGiven {
		i = t.given.number(hash, text)
		if int(i) == len(t.numbers) { // no other goroutine has been here since
			t.givenBytes += len(text)
			t.numbers = append(t.numbers, id)
		}
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
	if id == AnyPath {
		return "(unknown file)"
	}
	return string(t.names.bytes(id))
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
