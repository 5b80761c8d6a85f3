package pkg

import (
	"archive/tar"
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"symkit/limits"
)

// Bounds of what ReadOrigin reads. The control data of a package is small and at its start.
const (
	maxControl    = 64 << 20 // bytes
	maxControlRow = 1 << 20  // bytes
	// maxFirst bounds the files before .PKGINFO: signatures, .BUILDINFO, .MTREE.
	maxFirst = 16
)

// Tags of RPM's header.
const (
	rpmSize   = 1009
	rpmSource = 1044
)

// Origin has the properties of a whole package that its control data states.
type Origin struct {
	// Source is the name of the source package that the package was built from: a program
	// and its debug file are in packages of one source. Source is empty for formats without
	// one, such as a plain tar file.
	Source string
	// Unpacked is the size of the files in bytes, or 0 if the package does not say.
	Unpacked int64
}

// ReadOrigin reads the control data at the start of a package, and no more. The error is
// an ErrPackage if the control data is damaged.
func ReadOrigin(r io.Reader, l limits.Limits) (o Origin, err error) {
	br := bufio.NewReaderSize(io.LimitReader(r, maxControl), bufferSize)
	head, err := br.Peek(HeadSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return Origin{}, err
	}

	w := &walker{Visitor: Visitor{Limits: l}, left: maxControl}
	switch formatOf(head) {
	case deb:
		return w.debOrigin(br)
	case rpm:
		return rpmOrigin(br)
	case tarball:
		return infoOrigin(br)
	}
	unpack := compressionOf(head)
	if unpack == nil {
		return Origin{}, nil
	}
	u, err := unpack(br, l)
	if err != nil {
		return Origin{}, nil // Walk returns the error
	}
	defer u.Close()
	return infoOrigin(&counter{u, w})
}

// debOrigin reads the fields Source, or Package, and Installed-Size, in KiB, of a Debian
// package (deb-control(5)).
func (w *walker) debOrigin(r *bufio.Reader) (o Origin, err error) {
	_, _ = r.Discard(len(arMagic)) // formatOf has seen them
	for {
		name, size, err := arMember(r)
		if err != nil {
			return o, err
		}
		if !strings.HasPrefix(name, "control.tar") {
			_, err = io.CopyN(io.Discard, r, size+size%2)
			if err != nil {
				return o, fmt.Errorf("%w: %s: %w", ErrPackage, name, err)
			}
			continue
		}

		br := bufio.NewReaderSize(io.LimitReader(r, size), bufferSize)
		head, _ := br.Peek(HeadSize)
		var in io.Reader = br
		if unpack := compressionOf(head); unpack != nil {
			u, err := unpack(br, w.Limits)
			if err != nil {
				return o, fmt.Errorf("%w: control.tar: %w", ErrPackage, err)
			}
			defer u.Close()
			in = &counter{u, w}
		}
		control, err := fields(in, "control", ":")
		if control == nil && err == nil {
			err = fmt.Errorf("%w: no control file", ErrPackage)
		}
		source, _, _ := strings.Cut(control["Source"], " ") // a version may follow
		if source == "" {
			source = control["Package"]
		}
		size, _ = strconv.ParseInt(control["Installed-Size"], 10, 64) // without a size it is 0
		return Origin{signed().ReplaceAllString(source, ""), min(max(size, 0), math.MaxInt32) << 10}, err
	}
}

// signed matches the end of the names of Debian's sources whose files are those of
// another source with a signature: linux-signed-amd64 has the kernel of linux.
var signed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-signed(-[a-z0-9]+)?$`) })

// infoOrigin reads .PKGINFO of a package of Alpine (origin) or Arch (pkgbase).
func infoOrigin(r io.Reader) (o Origin, err error) {
	info, err := fields(r, ".PKGINFO", "=")
	if errors.Is(err, ErrPackage) {
		return o, nil // Walk returns the error
	}
	size, _ := strconv.ParseInt(info["size"], 10, 64) // without a size it is 0
	return Origin{cmp.Or(info["origin"], info["pkgbase"], info["pkgname"]), max(size, 0)}, err
}

// fields returns the lines NAME SEPARATOR VALUE of one of the first files of a tar file.
// The result is nil if none has the name.
func fields(r io.Reader, name, separator string) (map[string]string, error) {
	t := tar.NewReader(r)
	for range maxFirst {
		h, err := t.Next()
		if err == io.EOF {
			return nil, nil
		}
		if err != nil {
			return nil, tarError(err)
		}
		if cleaned(h.Name) != name {
			continue
		}

		found := map[string]string{}
		lines := bufio.NewScanner(t)
		lines.Buffer(nil, maxControlRow)
		for lines.Scan() {
			key, value, _ := strings.Cut(lines.Text(), separator)
			key = strings.TrimRight(key, " ")
			if _, known := found[key]; !known {
				found[key] = strings.TrimSpace(value)
			}
		}
		if lines.Err() != nil {
			return nil, tarError(lines.Err())
		}
		return found, nil
	}
	return nil, nil
}

// tarError returns an error of package tar as an ErrPackage, unless the stream or a limit
// is the cause.
func tarError(err error) error {
	damage := errors.Is(err, tar.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, bufio.ErrTooLong)
	if !damage || errors.Is(err, ErrPackage) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrPackage, err)
}

// rpmOrigin reads the tags SOURCERPM, NAME-VERSION-RELEASE.src.rpm, and SIZE.
func rpmOrigin(r *bufio.Reader) (o Origin, err error) {
	h, err := rpmMain(r)
	if err != nil {
		return o, err
	}
	n, values := h.find(rpmSource, rpmString)
	if n == 0 {
		return o, nil
	}
	o.Source = string(values.CString())
	if err := values.Err(); err != nil {
		return o, fmt.Errorf("%w: %w", ErrPackage, err)
	}
	for range 2 {
		o.Source = o.Source[:max(strings.LastIndexByte(o.Source, '-'), 0)]
	}

	n, values = h.find(rpmSize, rpmInt32)
	if n > 0 {
		o.Unpacked = int64(values.U32())
	}
	return o, nil
}
