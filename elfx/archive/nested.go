package archive

import (
	"bytes"
	"errors"
	"fmt"

	"symkit/elfx"
	"symkit/internal/limits"
	"symkit/internal/wire"
)

// maxNesting bounds archives in archives: a library in an APK in a bundle in a
// download.
const maxNesting = 4

// ErrNested: archives in archives in archives, too deep to look into.
var ErrNested = errors.New("archives within archives, too deep")

// ErrOverlapping: a zip file whose members have more bytes in all than the file, for
// they share them.
var ErrOverlapping = fmt.Errorf("%w: members lie over each other", ErrArchive)

// nest scans an archive and those in it.
type nest struct {
	left    uint64 // bytes that deflated archives may still become
	members []memberResult
}

// isNested tells whether a member begins as an archive that is looked into.
func isNested(start []byte) bool {
	return bytes.HasPrefix(start, []byte(arMagic)) || bytes.HasPrefix(start, []byte(zipMagic))
}

// scanArchive lists the ELF members of an archive and of archives in it. What
// begins as an archive there and is none is passed over like other members.
func scanArchive(data []byte) ([]memberResult, error) {
	x := nest{left: limits.Inflated(uint64(len(data)))}
	err := x.scan(data, "", 0, nil, 0)
	return x.members, err
}

// scan lists the members of data, an archive at offset base of the file, or of
// what outer inflates to. Their names begin with prefix.
func (x *nest) scan(data []byte, prefix string, base uint64, outer *Member, depth int) error {
	found, err := scanFlat(data)
	var taken uint64 // bytes of data that members are
	tooDeep := false // one error tells it for all members
	for _, r := range found {
		if taken += r.packed; taken > uint64(len(data)) {
			return errors.Join(err, &wire.Error{Section: archiveHeader, Offset: int(base + r.offset), Err: fmt.Errorf("%w: %s", ErrOverlapping, r.Name)})
		}
		if r.err != nil {
			if depth == 0 || !errors.Is(r.err, ErrMemberPacked) {
				x.members = append(x.members, r)
			}
			continue
		}
		packed := data[r.offset:][:r.packed] // nothing of a thin archive's
		r.Name, r.offset, r.outer = prefix+r.Name, base+r.offset, outer
		switch {
		case !r.archived:
			x.members = append(x.members, r)
		default:
			err := x.enter(packed, r.Member, depth+1)
			if errors.Is(err, ErrNested) {
				if tooDeep {
					continue
				}
				tooDeep = true
			}
			if err != nil {
				x.members = append(x.members, memberResult{err: fmt.Errorf("%s: %w", r.Name, err)})
			}
		}
	}
	return err
}

// enter scans the archive m. The error is of m itself.
func (x *nest) enter(data []byte, m Member, depth int) error {
	if depth >= maxNesting {
		return &wire.Error{Section: archiveHeader, Offset: int(m.offset), Err: ErrNested}
	}
	base, outer := m.offset, m.outer
	if m.deflated {
		if m.Size > x.left {
			err := fmt.Errorf("%w: %d bytes to %d", elfx.ErrUnpackedSize, len(data), m.Size)
			return &wire.Error{Section: archiveHeader, Offset: int(m.offset), Err: err}
		}
		x.left -= m.Size
		var err error
		if data, err = m.unpack(data); err != nil {
			return err
		}
		base, outer = 0, &m
	}
	// What could be read of it before the damage is listed.
	_ = x.scan(data, m.Name+elfx.Separator, base, outer, depth)
	return nil
}

// container is the bytes that m's offset is of, of a file with the given bytes.
func (m *Member) container(file []byte) ([]byte, error) {
	if m.outer == nil {
		return file, nil
	}
	if data := unpackedArchives.get(m.outer); data != nil {
		return data, nil
	}
	data, err := m.outer.container(file)
	if err == nil {
		data, err = m.outer.stored(data)
	}
	if err == nil {
		data, err = m.outer.unpack(data)
	}
	if err == nil {
		unpackedArchives.put(m.outer, data)
	}
	return data, err
}

// stored is m's bytes as they are in its container.
func (m *Member) stored(container []byte) ([]byte, error) {
	if m.offset > uint64(len(container)) || m.packed > uint64(len(container))-m.offset {
		return nil, elfx.ErrChanged // it was inside when Members looked
	}
	return container[m.offset:][:m.packed:m.packed], nil
}

// unpack inflates m, of which packed is the stream.
func (m *Member) unpack(packed []byte) ([]byte, error) {
	if err := m.credible(packed); err != nil {
		return nil, err
	}
	dst := make([]byte, m.Size)
	return dst, m.inflateInto(dst, packed)
}

// credible tells why the stream cannot inflate to as many bytes as it should.
func (m *Member) credible(packed []byte) error {
	if m.Size <= min(limits.Inflated(uint64(len(packed))), uint64(len(packed))*limits.MaxDeflate) {
		return nil
	}
	err := fmt.Errorf("%w: %d bytes to %d", elfx.ErrUnpackedSize, len(packed), m.Size)
	return &wire.Error{Section: archiveHeader, Offset: int(m.offset), Err: err}
}
