// Package archive lists and opens the ELF files in archives: ar archives and thin ar
// archives, zip files, and archives inside archives.
//
//	for m, err := range archive.Members("app.apk") {
//		if err != nil {
//			log.Print(err) // other members follow
//			continue
//		}
//		f, err := m.Open()
//		if err != nil {
//			log.Print(err)
//			continue
//		}
//		fmt.Println(f.Path(), f.Machine)
//		f.Close()
//	}
package archive

import (
	"bytes"
	"debug/elf"
	"errors"
	"path/filepath"

	"symkit/elfx"
	"symkit/limits"
	"symkit/located"
)

var (
	// ErrNotArchive: the file is neither an ar archive nor a zip file.
	ErrNotArchive = errors.New("not an ar archive or a zip file")
	// errThin: the member is in another archive, which a thin archive names.
	errThin = errors.New("thin archive of archives: give the archive that it names")
	// errArchive: the archive is damaged.
	errArchive = errors.New("damaged archive")
	// errMemberPacked: the member is encrypted, or compressed by another method than
	// deflate.
	errMemberPacked = errors.New("member is encrypted or compressed by an unknown method")
	// ErrNoMember: the archive has no ELF file of this name.
	ErrNoMember = errors.New("no such ELF file in the archive")
	// errAmbiguous: several members have the name.
	errAmbiguous = errors.New("several members of this name")
)

// Member is one ELF file in an archive: an object in a .a, a library in a zip
// file (APK, JAR, wheel).
type Member struct {
	// Name is the member's name in the archive, with directories in a zip file.
	// For a member of an archive inside the archive, Name is the inner archive's
	// name, "!/" and the member's name in the inner archive. Several members of a .a
	// can have one name.
	Name string
	// Size is the member's length in bytes, uncompressed.
	Size uint64

	archive  string
	offset   uint64 // of the member's bytes, in the file or in outer
	start    uint64 // of the member's bytes, in the innermost archive
	packed   uint64 // number of the bytes
	deflated bool
	sum      uint32 // CRC-32 of a deflated member
	external bool   // the member is a file that a thin archive names
	archived bool   // the member is an archive, which Members does not yield
	limits   limits.Limits
	// outer is the deflated archive that contains the bytes, or nil if the file
	// contains them.
	outer *Member
}

// Path returns the path of the opened member: the archive's path, "!/" and the name.
// For a member of a thin archive, it is the path of the file that the archive names.
func (m *Member) Path() string {
	switch {
	case !m.external:
		return m.archive + elfx.Separator + m.Name
	case filepath.IsAbs(m.Name):
		return m.Name
	}
	return filepath.Join(filepath.Dir(m.archive), m.Name)
}

// Start returns the offset at which the member begins in the innermost archive that it is in, where Android's linker maps
// libraries of an APK. It returns false if the member is compressed, or a file of its own.
func (m *Member) Start() (offset uint64, ok bool) { return m.start, !m.deflated && !m.external }

// memberResult is a pair that Members yields.
type memberResult struct {
	Member
	err error
}

// failed returns err at the member's offset in the archive.
func (m *Member) failed(err error) error {
	return &located.Error{Section: archiveHeader, Offset: int(m.offset), Err: err}
}

func isELF(data []byte) bool { return bytes.HasPrefix(data, []byte(elf.ELFMAG)) }

// isNested reports whether start is the start of an archive that nest scans.
func isNested(start []byte) bool {
	return bytes.HasPrefix(start, []byte(arMagic)) || bytes.HasPrefix(start, []byte(zipMagic))
}
