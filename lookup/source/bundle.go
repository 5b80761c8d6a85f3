package source

import (
	"archive/zip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// A bundle in Sentry's format (symbolic's sourcebundle, version 2) is an 8-byte header and a zip file, whose manifest.json
// names the files.
const (
	bundleMagic   = "SYSB"
	bundleVersion = 2
)

// BundleModule identifies the module of a bundle.
type BundleModule struct {
	DebugID string // of the MODULE record
	CodeID  string // the build id in hexadecimal digits; may be empty
	Name    string // of the module
	Arch    string // in the MODULE record
}

// Limits of a bundle.
const (
	maxBundleFiles = 1 << 16
	maxBundleBytes = 2 << 30
)

// ErrBundle: the source files of a module are more than a bundle may have.
var ErrBundle = errors.New("more than 65,536 source files, or 2 GiB of them")

// Bundle writes a bundle.
type Bundle struct {
	zip   *zip.Writer
	files map[string]bundleFile
	seen  map[string]bool // paths
	bytes int64
	m     BundleModule
}

// bundleFile is the entry of a file in the manifest.
type bundleFile struct {
	Type string `json:"type"`
	Path string `json:"path"`
}

// NewBundle begins a bundle. Close ends it.
func NewBundle(w io.Writer, m BundleModule) (*Bundle, error) {
	header := binary.LittleEndian.AppendUint32([]byte(bundleMagic), bundleVersion)
	_, err := w.Write(header)
	b := &Bundle{zip: zip.NewWriter(w), files: map[string]bundleFile{}, seen: map[string]bool{}, m: m}
	b.zip.SetOffset(int64(len(header)))
	return b, err
}

// Len returns the number of files.
func (b *Bundle) Len() int { return len(b.files) }

// Add adds a source file. Of two with one path the first stays. Text that is not UTF-8 is left out, as Sentry's programs
// do.
func (b *Bundle) Add(name string, text []byte) error {
	known := b.seen[name]
	b.seen[name] = true
	if known || !isText(text) {
		return nil
	}
	b.bytes += int64(len(text))
	if len(b.files) >= maxBundleFiles || b.bytes > maxBundleBytes {
		return ErrBundle
	}
	place := "files/" + strings.TrimPrefix(path.Clean("/"+strings.NewReplacer(`\`, "/", ":", "").Replace(name)), "/")
	for n := 1; ; n++ {
		_, taken := b.files[place]
		if !taken {
			break
		}
		place = fmt.Sprintf("%s.%d", place, n)
	}
	b.files[place] = bundleFile{"source", name}
	w, err := b.zip.Create(place)
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// Close writes the manifest, and ends the bundle.
func (b *Bundle) Close() error {
	manifest := map[string]any{"files": b.files, "debug_id": debugID(b.m.DebugID), "object_name": b.m.Name, "arch": b.m.Arch}
	if b.m.CodeID != "" {
		manifest["code_id"] = strings.ToLower(b.m.CodeID)
	}
	w, err := b.zip.Create("manifest.json")
	if err == nil {
		err = json.NewEncoder(w).Encode(manifest)
	}
	return errors.Join(err, b.zip.Close())
}

// debugID returns the id of a MODULE record as a UUID, followed by the age unless the age is 0.
func debugID(id string) string {
	id = strings.ToLower(id)
	if len(id) < 33 {
		return id
	}
	uuid := id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:32]
	if age := id[32:]; age != "0" {
		uuid += "-" + age
	}
	return uuid
}
