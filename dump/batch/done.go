package batch

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"symkit/internal/filename"
)

// doneVersion increases when a field in the lines of a list of packages changes its meaning.
const doneVersion = 1

// Done is a list of packages that were dumped, by the digest of their bytes. The list is a
// file of JSON lines; each run adds lines to its end. A nil Done lists no package.
type Done struct {
	path  string
	shard string
	known map[string]bool
	torn  bool // the last line has no end
}

type doneLine struct {
	Version int    `json:"version"`
	SHA256  string `json:"sha256"`
	Package string `json:"package"`         // path, for people
	Shard   string `json:"shard,omitempty"` // K/N if only that part was dumped
}

// ReadDone reads the list at path, which need not exist. A package counts as dumped if
// it was dumped as a whole or as the given shard.
func ReadDone(path string, shard Shard) (*Done, error) {
	d := &Done{path: path, shard: shard.String(), known: map[string]bool{}}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file") // lines are added to it
	}
	if err != nil {
		return nil, filename.WithoutPath(err)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, filename.WithoutPath(err)
	}
	defer file.Close()
	return d, d.read(bufio.NewReaderSize(file, maxDoneLine))
}

// maxDoneLine bounds a line of the list, in bytes.
const maxDoneLine = 64 << 10

// read reads the lines of the list.
func (d *Done) read(lines *bufio.Reader) error {
	for n := 1; ; n++ {
		line, err := lines.ReadSlice('\n')
		if err == io.EOF && len(line) == 0 {
			return nil
		}
		d.torn = err == io.EOF
		if err != nil && err != io.EOF {
			return fmt.Errorf("line %d: %w", n, err)
		}
		var l doneLine
		err = json.NewDecoder(bytes.NewReader(bytes.TrimSpace(line))).Decode(&l)
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			continue // a killed run wrote half of the line
		case err != nil:
			return fmt.Errorf("line %d: %w", n, err)
		case l.Version != doneVersion:
			return fmt.Errorf("line %d: version %d is not known", n, l.Version)
		}
		if l.Shard == "" || l.Shard == d.shard {
			d.known[l.SHA256] = true
		}
	}
}

// digest returns the digest of a package, and whether the list has it. For a file on a
// server that has a tag for its content, the digest is that of address, tag and size.
func (d *Done) digest(ctx context.Context, p *pack) (sum string, known bool, err error) {
	file, err := p.open(ctx)
	if err != nil {
		return "", false, err
	}
	defer file.Close()

	h := sha256.New()
	if _, local := file.ReadCloser.(*os.File); !local && file.Tag != "" {
		fmt.Fprintf(h, "%s\x00%s\x00%d", p.path, file.Tag, file.Size)
	} else {
		_, err = io.Copy(h, &interruptible{ctx: ctx, r: file})
	}
	sum = hex.EncodeToString(h.Sum(nil))
	return sum, d.known[sum], err
}

// add appends lines for packages, with one call of the system.
func (d *Done) add(lines []doneLine) error {
	if len(lines) == 0 {
		return nil
	}
	for i := range lines {
		lines[i].Version, lines[i].Shard = doneVersion, d.shard
	}
	slices.SortFunc(lines, func(a, b doneLine) int { return cmp.Compare(a.Package, b.Package) })

	f, err := os.OpenFile(d.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if d.torn {
		out.WriteByte('\n')
		d.torn = false
	}
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for _, line := range lines {
		_ = enc.Encode(&line) // strings and numbers can be encoded
	}
	_, err = f.Write(out.Bytes())
	return errors.Join(err, f.Close())
}
