package depot

import (
	"bufio"
	"cmp"
	"context"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"symkit/internal/atomicfile"
	"symkit/internal/storefiles"
)

// forms are the names that the file of a key can have, by the encoding of its bytes.
var forms = []struct{ encoding, suffix string }{{"", ""}, {"gzip", ".gz"}, {"zstd", ".zst"}}

// directory is a depot in a directory.
type directory struct {
	root       *os.Root
	dir, spool string

	mu      sync.Mutex
	digests map[string]Digest // by key and tag
}

// maxDigests bounds the digests that are remembered, about 200 bytes each.
const maxDigests = 1 << 16

// OpenDirectory opens the depot in a directory, which is made if it does not exist. Temporary files are in the directory
// spool, or in the depot if spool is empty.
func OpenDirectory(dir, spool string) (Depot, error) {
	err := os.MkdirAll(filepath.Join(dir, Private, "tmp"), 0o777)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		info, statErr := os.Stat(dir)
		if statErr == nil && info.IsDir() {
			err = nil // it can be served
		}
	}
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	spool = cmp.Or(spool, filepath.Join(dir, filepath.FromSlash(Private), "tmp"))
	return &directory{root: root, dir: dir, spool: spool, digests: map[string]Digest{}}, nil
}

func (d *directory) Close() error    { return d.root.Close() }
func (d *directory) Spool() string   { return d.spool }
func (d *directory) Address() string { return d.dir }

func (d *directory) Path(file File) string {
	if file.Encoding != "" {
		return ""
	}
	return filepath.Join(d.dir, filepath.FromSlash(file.Key))
}

// name returns the name of a file below the directory.
func name(key, encoding string) string {
	for _, form := range forms {
		if form.encoding == encoding {
			return key + form.suffix
		}
	}
	return key
}

func (d *directory) Stat(_ context.Context, key string) (File, error) {
	f, file, err := d.open(key)
	if err != nil {
		return File{}, err
	}
	return file, f.Close()
}

func (d *directory) Open(_ context.Context, key string) (io.ReadSeekCloser, File, error) {
	f, file, err := d.open(key)
	if err != nil {
		return nil, File{}, err
	}
	return f, file, nil
}

// open opens the file of a key, in the first form that there is.
func (d *directory) open(key string) (*os.File, File, error) {
	if !valid(key) {
		return nil, File{}, fs.ErrNotExist
	}
	for _, form := range forms {
		// Opening a FIFO in the store would block without O_NONBLOCK.
		f, err := d.root.OpenFile(key+form.suffix, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG) {
			continue
		}
		if err != nil {
			return nil, File{}, err
		}
		info, err := f.Stat()
		if err == nil && info.Mode().IsRegular() {
			tag := fmt.Sprintf("%x-%x", info.Size(), info.ModTime().UnixNano())
			return f, File{Key: key, Encoding: form.encoding, Size: info.Size(), Tag: tag, Modified: info.ModTime()}, nil
		}
		err = errors.Join(err, f.Close())
		if err != nil {
			return nil, File{}, err
		}
	}
	return nil, File{}, fs.ErrNotExist
}

func (d *directory) Put(ctx context.Context, key string, blob *Blob, old *File) error {
	if !valid(key) {
		return fmt.Errorf("%q: %w", key, fs.ErrInvalid)
	}
	unlock, err := storefiles.Lock(d.root, key)
	if err != nil {
		return err
	}
	defer unlock()

	// A file in another form has the same key.
	now, err := d.Stat(ctx, key)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !missing:
		return err
	case missing != (old == nil), old != nil && (now.Tag != old.Tag || now.Encoding != blob.Encoding):
		return ErrChanged
	}

	place := name(key, blob.Encoding)
	made, err := atomicfile.Publish(d.root, []string{place}, old != nil, func(w io.Writer) error {
		_, err := io.Copy(w, io.NewSectionReader(blob, 0, blob.Length))
		return cmp.Or(err, syncFile(atomicfile.Path(w)))
	})
	if err == nil && !made {
		err = ErrChanged
	}
	if err != nil {
		return err
	}
	return syncFile(filepath.Join(d.dir, filepath.FromSlash(path.Dir(place))))
}

// syncFile has the system write what it holds of a file or directory, so that it outlives the machine's power.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
		err = nil // not every file system, and no directory of Windows
	}
	return errors.Join(err, f.Close())
}

func (d *directory) Remove(ctx context.Context, key string, old *File) error {
	if !valid(key) {
		return nil
	}
	if old != nil {
		unlock, err := storefiles.Lock(d.root, key)
		if err != nil {
			return err
		}
		defer unlock()
		now, err := d.Stat(ctx, key)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if now.Tag != old.Tag {
			return ErrChanged
		}
	}
	for _, form := range forms {
		err := d.root.Remove(key + form.suffix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (d *directory) Digest(_ context.Context, file File) (Digest, error) {
	id := file.Key + "\x00" + file.Tag
	d.mu.Lock()
	known, ok := d.digests[id]
	d.mu.Unlock()
	if ok {
		return known, nil
	}
	f, now, err := d.open(file.Key)
	if err != nil {
		return Digest{}, err
	}
	defer f.Close()
	if now.Tag != file.Tag {
		return Digest{}, ErrChanged
	}
	found, err := digestOf(f, now.Encoding)
	if err != nil {
		return Digest{}, fmt.Errorf("%s: %w", filepath.Join(d.dir, filepath.FromSlash(name(file.Key, now.Encoding))), err)
	}

	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.digests) >= maxDigests {
		clear(d.digests)
	}
	d.digests[id] = found
	return found, nil
}

// digestOf returns the digest of a file: the one in the header that Pack wrote, or that of all of the content.
func digestOf(f io.Reader, encoding string) (Digest, error) {
	if encoding == "gzip" {
		start := bufio.NewReaderSize(f, 4096)
		header, _ := start.Peek(maxHeader)
		found, ok := headerDigest(header)
		if ok {
			return found, nil
		}
		f = start
	}
	sum, size := md5.New(), int64(0)
	err := Copy(counter{sum, &size}, f, encoding)
	return Digest{size, hex.EncodeToString(sum.Sum(nil))}, err
}

// counter counts the bytes that are written to w.
type counter struct {
	w io.Writer
	n *int64
}

func (c counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	*c.n += int64(n)
	return n, err
}

// The extra field of a gzip header (RFC 1952, 2.3.1.1) with the digest of the content: the name of the field, its
// length, then size and MD5. Programs that inflate skip it.
const (
	extraName   = "sk"
	extraLength = 8 + md5.Size
)

// PackDigest returns the extra field of a gzip header for a digest.
func PackDigest(d Digest) []byte {
	sum, err := hex.DecodeString(d.MD5)
	if err != nil || len(sum) != md5.Size {
		return nil
	}
	field := binary.LittleEndian.AppendUint16([]byte(extraName), extraLength)
	return append(binary.LittleEndian.AppendUint64(field, uint64(d.Size)), sum...)
}

// A gzip header with an extra field: 10 bytes, the length of the field, the field.
const (
	fixedHeader = 10
	maxHeader   = fixedHeader + 2 + 4 + extraLength
	flagExtra   = 4
)

// headerDigest returns the digest that PackDigest put into a gzip header.
func headerDigest(header []byte) (d Digest, ok bool) {
	if len(header) < maxHeader || header[0] != 0x1f || header[1] != 0x8b || header[3]&flagExtra == 0 ||
		binary.LittleEndian.Uint16(header[fixedHeader:]) != 4+extraLength {
		return d, false
	}
	field := header[fixedHeader+2:]
	if string(field[:2]) != extraName || binary.LittleEndian.Uint16(field[2:]) != extraLength {
		return d, false
	}
	return Digest{int64(binary.LittleEndian.Uint64(field[4:])), hex.EncodeToString(field[12 : 4+extraLength])}, true
}

func (d *directory) Sweep(ctx context.Context, age time.Duration) error {
	for _, part := range []string{"uploads", "tmp"} {
		top := path.Join(Private, part)
		err := fs.WalkDir(d.root.FS(), top, func(name string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || ctx.Err() != nil {
				return cmp.Or(err, context.Cause(ctx))
			}
			info, err := e.Info()
			if err == nil && name != top && time.Since(info.ModTime()) > age {
				_ = d.root.Remove(name) // a directory with files is not removed
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
