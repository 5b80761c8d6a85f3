package archive

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"symkit/elfx"
	"symkit/internal/bounds"
	"symkit/internal/limitof"
	"symkit/internal/mem"
	"symkit/limits"
	"symkit/located"
)

// maxNesting bounds the depth of archives inside archives: a library in an APK in a
// bundle in a download.
const maxNesting = 4

// usualName is the length of a name that a member may have at no cost, in bytes.
const usualName = 256

// errNested: archives are nested more than maxNesting deep.
var errNested = errors.New("archives within archives, too deep")

// errOverlapping: the members of a zip file share bytes, and have more bytes together
// than the file.
var errOverlapping = fmt.Errorf("%w: members lie over each other", errArchive)

// nest scans an archive and the archives inside it.
type nest struct {
	limits  limits.Limits
	left    uint64 // bytes that deflated archives may still inflate to
	size    uint64 // of the file in bytes
	listed  uint64 // members so far, of all archives; a long name counts as several
	members []memberResult
}

// scanFlat lists the members of an archive that are ELF files or archives, at most most of
// them. complete reports whether the archive has no more.
func scanFlat(data []byte, most uint64) (list []memberResult, complete bool, err error) {
	switch {
	case bytes.HasPrefix(data, []byte(thinMagic)):
		return scanAr(data, true, most)
	case bytes.HasPrefix(data, []byte(arMagic)):
		return scanAr(data, false, most)
	case bytes.HasPrefix(data, []byte(zipMagic)):
		return scanZip(data, most)
	}
	return nil, true, &located.Error{Section: archiveHeader, Err: ErrNotArchive}
}

// scanArchive lists the ELF members of an archive and of the archives inside it. A
// member that begins like an archive but is none is skipped.
func scanArchive(data []byte, l limits.Limits) ([]memberResult, error) {
	x := nest{limits: l, left: bounds.Inflated(l, uint64(len(data))), size: uint64(len(data))}
	err := x.scan(data, "", 0, nil, 0)
	return x.members, err
}

// scan lists the members of the archive data, which is at offset base of the file, or
// of the inflated archive outer. The names of the members begin with prefix.
func (x *nest) scan(data []byte, prefix string, base uint64, outer *Member, depth int) error {
	most := bounds.Members(x.limits, x.size)
	tooMany := x.limits.Exceeded(limitof.Members, bounds.MembersSize(x.size))
	found, complete, err := scanFlat(data, most-min(x.listed, most))
	if !complete {
		err = tooMany
	}
	var taken uint64 // bytes of all members so far
	tooDeep := false // one error stands for all archives that are too deep
	for _, r := range found {
		x.listed += 1 + uint64(len(prefix)+len(r.Name))/usualName
		if x.listed > most {
			return tooMany
		}
		r.limits = x.limits
		taken += r.packed
		if taken > uint64(len(data)) {
			return errors.Join(err, &located.Error{Section: archiveHeader, Offset: int(base + r.offset), Err: fmt.Errorf("%w: %s", errOverlapping, r.Name)})
		}
		if r.err != nil {
			if depth == 0 || !errors.Is(r.err, errMemberPacked) {
				x.members = append(x.members, r)
			}
			continue
		}

		// The name and the offset become those in the file, or in the inflated archive
		// that contains the member.
		packed := data[r.offset:][:r.packed] // empty for a thin archive's member
		r.Name, r.start, r.offset, r.outer = prefix+r.Name, r.offset, base+r.offset, outer
		if !r.archived {
			x.members = append(x.members, r)
			continue
		}

		err := x.enter(packed, r.Member, depth+1)
		nested := errors.Is(err, errNested)
		if err != nil && !(nested && tooDeep) {
			x.members = append(x.members, memberResult{err: fmt.Errorf("%s: %w", r.Name, err)})
		}
		tooDeep = tooDeep || nested
	}
	return err
}

// enter scans the archive m, whose bytes in its container are data. The error is about m
// itself.
func (x *nest) enter(data []byte, m Member, depth int) error {
	if depth >= maxNesting {
		return m.failed(errNested)
	}

	base, outer := m.offset, m.outer
	if m.deflated {
		if m.Size > x.left {
			return m.tooLarge(data)
		}
		x.left -= m.Size
		var err error
		data, err = m.unpack(data)
		if err != nil {
			return err
		}
		base, outer = 0, &m
	}

	// The members before any damage are listed.
	err := x.scan(data, m.Name+elfx.Separator, base, outer, depth)
	if errors.Is(err, limits.ErrExceeded) {
		return m.failed(err)
	}
	return nil
}

// container returns the bytes that m's offset refers to: those of the file, or of the
// inflated archive m.outer.
func (m *Member) container(file []byte) ([]byte, error) {
	if m.outer == nil {
		return file, nil
	}
	if data := unpackedArchives.get(m.outer); data != nil {
		return data, nil
	}

	// Inflate the archive, and the archives around it first; not on two goroutines at a time.
	unpackedArchives.filling.Lock()
	defer unpackedArchives.filling.Unlock()
	return m.outer.inflated(file)
}

// inflated returns the bytes of the deflated archive m. unpackedArchives.filling is locked.
func (m *Member) inflated(file []byte) ([]byte, error) {
	if data := unpackedArchives.get(m); data != nil {
		return data, nil
	}
	data, err := file, error(nil)
	if m.outer != nil {
		data, err = m.outer.inflated(file)
	}
	if err == nil {
		data, err = m.stored(data)
	}
	if err == nil {
		data, err = m.unpack(data)
	}
	if err == nil {
		unpackedArchives.put(m, data)
	}
	return data, err
}

// stored returns m's bytes as they are in container.
func (m *Member) stored(container []byte) ([]byte, error) {
	if m.offset > uint64(len(container)) || m.packed > uint64(len(container))-m.offset {
		return nil, elfx.ErrChanged // Members had checked the offsets
	}
	return container[m.offset:][:m.packed:m.packed], nil
}

// unpack inflates the stream packed into memory of the Go heap.
func (m *Member) unpack(packed []byte) ([]byte, error) {
	// The size is checked before memory is allocated.
	if err := m.credible(packed); err != nil {
		return nil, err
	}
	dst := make([]byte, m.Size)
	return dst, m.inflateInto(dst, packed)
}

// credible returns an error if the stream packed cannot inflate to m.Size bytes.
func (m *Member) credible(packed []byte) error {
	if m.Size <= min(bounds.Inflated(m.limits, uint64(len(packed))), uint64(len(packed))*bounds.MaxDeflate) {
		return nil
	}
	return m.tooLarge(packed)
}

// tooLarge returns the error for a stream packed whose size is not credible.
func (m *Member) tooLarge(packed []byte) error {
	return m.failed(fmt.Errorf("%w: %d bytes to %d", elfx.ErrUnpackedSize, len(packed), m.Size))
}

// inflateInto inflates the stream packed, whose size and checksum must be those of the
// header, into dst.
func (m *Member) inflateInto(dst, packed []byte) error {
	// Read exactly the size of the header; the stream must end there.
	r := flate.NewReader(bytes.NewReader(packed))
	_, err := io.ReadFull(r, dst)
	if err == nil {
		var more [1]byte
		n, end := r.Read(more[:])
		if n != 0 || end != io.EOF {
			err = errors.New("longer than its header says")
		} else if crc32.ChecksumIEEE(dst) != m.sum {
			err = errors.New("wrong checksum")
		}
	}
	if err == nil {
		return nil
	}
	return m.failed(fmt.Errorf("%w: %w", errArchive, err))
}

// inflate inflates the stream packed into a new buffer.
func (m *Member) inflate(packed []byte) (*mem.Buffer, error) {
	if err := m.credible(packed); err != nil {
		return nil, err
	}
	buffer := mem.NewBuffer(int(m.Size))
	if err := m.inflateInto(buffer.Bytes(), packed); err != nil {
		buffer.Release()
		return nil, err
	}
	return buffer, nil
}
