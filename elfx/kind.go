package elfx

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"
)

// ErrNotELF: the file does not begin with the ELF magic number.
var ErrNotELF = errors.New("not an ELF file")

// Kind is the format of a file, in words. The zero Kind is an unknown format.
type Kind struct {
	Name string // "a minidump"
	// Reader is what follows "which": "stackwalk reads". It is empty if no program is known.
	Reader string
}

// String returns the name and the program that reads such files, as in "a minidump, which
// stackwalk reads".
func (k Kind) String() string {
	if k.Reader == "" {
		return k.Name
	}
	return k.Name + ", which " + k.Reader
}

// KindError is ErrNotELF for a file of another known format.
type KindError struct{ Kind Kind }

// Error names the format and the program that reads such files.
func (e *KindError) Error() string { return fmt.Sprintf("%v: it is %v", ErrNotELF, e.Kind) }

// Unwrap returns ErrNotELF.
func (e *KindError) Unwrap() error { return ErrNotELF }

// ReadBy returns Kind.Reader.
func (e *KindError) ReadBy() string { return e.Kind.Reader }

// SymbolFile is the format that dump_syms writes.
var SymbolFile = Kind{"a Breakpad symbol file", "symcheck lint reads"}

// kinds are the formats of files that users give by mistake, with the bytes that
// such files begin with.
var kinds = []struct {
	magic string
	Kind
}{
	{"!<arch>\n", Kind{"an ar archive", ""}},
	{"!<thin>\n", Kind{"a thin ar archive", ""}},
	{"MODULE ", SymbolFile},
	{"MDMP", Kind{"a minidump", "stackwalk reads"}},
	{"PMDM", Kind{"a minidump", "stackwalk reads"}},
	{"KDUMP   ", Kind{"a dump of a Linux kernel", "crash reads"}},
	{"makedumpfile\x00", Kind{"a dump of a Linux kernel", "crash reads"}},
	{"PAGEDU", Kind{"a dump of a Windows kernel", "WinDbg reads"}},
	{"Microsoft C/C++ MSF 7.00\r\n\x1aDS", Kind{"a Windows PDB", "Mozilla's dump_syms reads"}},
	{"Microsoft C/C++ program database 2.00\r\n\x1aJG", Kind{"a Windows PDB of before 1998", ""}},
	{"BSJB", Kind{"a portable PDB of .NET", ""}},
	{"MZ", Kind{"a Windows program", "Mozilla's dump_syms reads"}},
	{"\xcf\xfa\xed\xfe", Kind{"a Mach-O file", "Mozilla's dump_syms reads"}},
	{"\xce\xfa\xed\xfe", Kind{"a Mach-O file", "Mozilla's dump_syms reads"}},
	{"\xfe\xed\xfa\xcf", Kind{"a Mach-O file", "Mozilla's dump_syms reads"}},
	{"\xfe\xed\xfa\xce", Kind{"a Mach-O file", "Mozilla's dump_syms reads"}},
	{"\x1f\x8b", Kind{"gzip data", "gunzip unpacks"}},
	{"\xfd7zXZ\x00", Kind{"xz data", "unxz unpacks"}},
	{"\x28\xb5\x2f\xfd", Kind{"zstd data", "unzstd unpacks"}},
	{"PK\x03\x04", Kind{"a zip archive", ""}},
	{"#!", Kind{"a script", ""}},
}

// microdump is in the first line of Breakpad's microdumps, after the prefix of the
// log that contains them.
const microdump = "-----BEGIN BREAKPAD MICRODUMP-----"

// KindOf returns the format of a file that begins with data. Among ELF files, KindOf
// distinguishes core files from others.
func KindOf(data []byte) Kind {
	for _, k := range kinds {
		if bytes.HasPrefix(data, []byte(k.magic)) {
			return k.Kind
		}
	}

	// Other formats need more than a prefix. A microdump is inside a log, so its start is
	// searched.
	start := data[:min(len(data), 64<<10)]
	switch {
	case len(data) == 0:
		return Kind{Name: "empty"}
	case bytes.HasPrefix(data, []byte(elf.ELFMAG)):
		return kindOfELF(data)
	case bytes.HasPrefix(data, []byte("\xca\xfe\xba\xbe")):
		return kindOfBabe(data)
	case bytes.Contains(start, []byte(microdump)):
		return Kind{"a microdump", "stackwalk reads"}
	case isText(start[:min(len(start), 512)]):
		return Kind{Name: "a text file"}
	}
	return Kind{}
}

// kindOfELF distinguishes core files from others by e_type (gABI, "ELF Header").
func kindOfELF(data []byte) Kind {
	const eType = 16
	if len(data) < eType+2 {
		return Kind{Name: "the start of an ELF file"}
	}

	// e_type is in the byte order of the file.
	order := binary.ByteOrder(binary.LittleEndian)
	if data[elf.EI_DATA] == byte(elf.ELFDATA2MSB) {
		order = binary.BigEndian
	}
	if elf.Type(order.Uint16(data[eType:])) == elf.ET_CORE {
		return Kind{"a core file", "stackwalk reads"}
	}
	return Kind{"an ELF program or library", "dump_syms reads"}
}

// kindOfBabe distinguishes Mach-O universal files from Java classes by the word at 4:
// the number of architectures in the former, a version of at least 45 in the latter.
func kindOfBabe(data []byte) Kind {
	if len(data) >= 8 && binary.BigEndian.Uint32(data[4:]) >= 45 {
		return Kind{Name: "a Java class"}
	}
	return Kind{"a Mach-O universal file", "Mozilla's dump_syms reads"}
}

// isText reports whether data, which can end inside a character, is UTF-8 text without
// control characters.
func isText(data []byte) bool {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		cut := !utf8.FullRune(data[i:]) // the sample ends inside a character
		if r == utf8.RuneError && n == 1 && !cut || r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f {
			return false
		}
		i += n
	}
	return true
}
