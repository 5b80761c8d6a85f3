package archive

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"debug/elf"
	"fmt"
	"io"

	"symkit/located"
)

const (
	zipMagic = "PK\x03\x04"
	// zipEncrypted is bit 0 of the general purpose flags (APPNOTE 4.4.4).
	zipEncrypted = 1
)

// zipEntry begins an entry of the directory of a zip file (APPNOTE 4.3.12).
const zipEntry = "PK\x01\x02"

// scanZip lists the ELF files and archives in a zip file. A file with more than most entries
// of any kind has none, since the directory is read as a whole.
func scanZip(data []byte, most uint64) (list []memberResult, complete bool, err error) {
	if uint64(bytes.Count(data, []byte(zipEntry))) > most {
		return nil, false, nil
	}
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, true, &located.Error{Section: archiveHeader, Err: fmt.Errorf("%w: %w", errArchive, err)}
	}

	var members []memberResult

	// One decoder serves all entries; it only reads their first bytes.
	inflater := flate.NewReader(bytes.NewReader(nil))
	for _, entry := range r.File {
		if entry.UncompressedSize64 < uint64(len(elf.ELFMAG)) {
			continue // directories
		}
		m := zipMember(data, entry, inflater)
		if m.err != nil || m.Name != "" {
			members = append(members, m)
		}
	}
	return members, true, nil
}

// zipMember reads one entry. The result has neither name nor error if the entry is
// neither an ELF file nor an archive.
func zipMember(data []byte, entry *zip.File, inflater io.Reader) (m memberResult) {
	// The offsets of the directory are not trusted.
	off, err := entry.DataOffset()
	size := uint64(len(data))
	switch {
	case err != nil:
		return zipError(0, entry, fmt.Errorf("%w: %w", errArchive, err))
	case uint64(off) > size || entry.CompressedSize64 > size-uint64(off):
		return zipError(int(min(uint64(off), size)), entry, located.ErrTruncated)
	case entry.Flags&zipEncrypted != 0 || entry.Method != zip.Store && entry.Method != zip.Deflate:
		return zipError(int(off), entry, errMemberPacked)
	}

	// The first bytes decide whether the entry is of interest.
	packed := data[off:][:entry.CompressedSize64]
	start := packed
	if entry.Method == zip.Deflate {
		start = make([]byte, len(arMagic))
		// A stream with a damaged start is not known to be an ELF file.
		_ = inflater.(flate.Resetter).Reset(bytes.NewReader(packed), nil)
		_, _ = io.ReadFull(inflater, start)
	}
	m.archived = isNested(start)
	if !m.archived && !isELF(start) {
		return m
	}

	// A stored member has its compressed size, whatever the header says.
	m.Name, m.Size = entry.Name, entry.UncompressedSize64
	m.offset, m.packed = uint64(off), entry.CompressedSize64
	m.deflated, m.sum = entry.Method == zip.Deflate, entry.CRC32
	if !m.deflated {
		m.Size = m.packed
	}
	return m
}

// zipError returns an error about an entry, at a file offset.
func zipError(at int, entry *zip.File, err error) memberResult {
	return memberResult{err: &located.Error{Section: archiveHeader, Offset: at, Err: fmt.Errorf("%s: %w", entry.Name, err)}}
}
