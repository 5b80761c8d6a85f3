package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// archiveFile is an archive that was written.
type archiveFile struct {
	target target
	path   string
}

// writeArchive writes the archive of one target into dir: a zip file for Windows, else
// a compressed tar file. All files are in one directory, symkit-1.2.3-linux-amd64.
func writeArchive(dir string, src source, t target, tree []file) (path string, err error) {
	top := "symkit-" + src.number() + "-" + t.name()
	path = filepath.Join(dir, top+".tar.gz")
	write := tarGz
	if t.os == "windows" {
		path = filepath.Join(dir, top+".zip")
		write = zipped
	}

	data, err := write(top+"/", src.date, tree)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return path, os.WriteFile(path, data, 0o666)
}

func tarGz(prefix string, date time.Time, tree []file) ([]byte, error) {
	plain, err := tarred(prefix, date, tree)
	if err != nil {
		return nil, err
	}

	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(plain); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// tarred returns a tar file without names and numbers of users, and with one date.
func tarred(prefix string, date time.Time, tree []file) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	dirs := map[string]bool{"": true, ".": true}
	for _, f := range tree {
		err := tarDirs(w, date, dirs, prefix+f.path)
		if err != nil {
			return nil, err
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: prefix + f.path, Mode: int64(f.mode.Perm()), Size: int64(len(f.data)), ModTime: date}
		if f.link != "" {
			h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, f.link, 0o777
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// tarDirs writes the directories above name that are not in dirs.
func tarDirs(w *tar.Writer, date time.Time, dirs map[string]bool, name string) error {
	for i, c := range name {
		if c != '/' || dirs[name[:i]] {
			continue
		}
		dirs[name[:i]] = true
		err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name[:i+1], Mode: 0o755, ModTime: date})
		if err != nil {
			return err
		}
	}
	return nil
}

func zipped(prefix string, date time.Time, tree []file) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range tree {
		h := &zip.FileHeader{Name: prefix + f.path, Method: zip.Deflate, Modified: date}
		h.SetMode(f.mode)
		entry, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// writeSums writes SHA256SUMS, for sha256sum -c, of all files in dir.
func writeSums(dir string) error {
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range entries {
		sum, err := fileSum(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s  %s\n", sum, e.Name())
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(b.String()), 0o666)
}

// fileSum returns the SHA-256 of a file, in hexadecimal digits.
func fileSum(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}
