package elfx

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"unicode/utf8"
)

// kinds are the formats of files that users give by mistake, with the bytes that
// such files begin with and the program that reads them, if any is known.
var kinds = []struct{ magic, what, reader string }{
	{"!<arch>\n", "an ar archive", ""},
	{"!<thin>\n", "a thin ar archive", ""},
	{"MODULE ", "a Breakpad symbol file", "symcheck lint reads"},
	{"MDMP", "a minidump", "stackwalk reads"},
	{"PMDM", "a minidump", "stackwalk reads"},
	{"Microsoft C/C++ MSF 7.00\r\n\x1aDS", "a Windows PDB", "Mozilla's dump_syms reads"},
	{"Microsoft C/C++ program database 2.00\r\n\x1aJG", "a Windows PDB of before 1998", ""},
	{"BSJB", "a portable PDB of .NET", ""},
	{"MZ", "a Windows program", "Mozilla's dump_syms reads"},
	{"\xcf\xfa\xed\xfe", "a Mach-O file", "Mozilla's dump_syms reads"},
	{"\xce\xfa\xed\xfe", "a Mach-O file", "Mozilla's dump_syms reads"},
	{"\xfe\xed\xfa\xcf", "a Mach-O file", "Mozilla's dump_syms reads"},
	{"\xfe\xed\xfa\xce", "a Mach-O file", "Mozilla's dump_syms reads"},
	{"\x1f\x8b", "gzip data", "gunzip unpacks"},
	{"\xfd7zXZ\x00", "xz data", "unxz unpacks"},
	{"\x28\xb5\x2f\xfd", "zstd data", "unzstd unpacks"},
	{"PK\x03\x04", "a zip archive", ""},
	{"#!", "a script", ""},
}

// microdump is in the first line of Breakpad's microdumps, after the prefix of the
// log that contains them.
const microdump = "-----BEGIN BREAKPAD MICRODUMP-----"

// Kind describes a file that begins with data and the program that reads the file, as
// in "a minidump, which stackwalk reads". Among ELF files, Kind distinguishes core
// files from others. The result is "" for an unknown format.
func Kind(data []byte) string {
	for _, k := range kinds {
		if bytes.HasPrefix(data, []byte(k.magic)) {
			return withReader(k.what, k.reader)
		}
	}

	// Other formats need more than a prefix. A microdump is inside a log, so its start is
	// searched.
	start := data[:min(len(data), 64<<10)]
	switch {
	case len(data) == 0:
		return "empty"
	case bytes.HasPrefix(data, []byte(elf.ELFMAG)):
		return kindOfELF(data)
	case bytes.HasPrefix(data, []byte("\xca\xfe\xba\xbe")):
		return kindOfBabe(data)
	case bytes.Contains(start, []byte(microdump)):
		return withReader("a microdump", "stackwalk reads")
	case isText(start[:min(len(start), 512)]):
		return "a text file"
	}
	return ""
}

// withReader adds the program that reads a format.
func withReader(what, reader string) string {
	if reader == "" {
		return what
	}
	return what + ", which " + reader
}

// kindOfELF distinguishes core files from others by e_type (gABI, "ELF Header").
func kindOfELF(data []byte) string {
	const eType = 16
	if len(data) < eType+2 {
		return "the start of an ELF file"
	}

	// e_type is in the byte order of the file.
	order := binary.ByteOrder(binary.LittleEndian)
	if data[elf.EI_DATA] == byte(elf.ELFDATA2MSB) {
		order = binary.BigEndian
	}
	if elf.Type(order.Uint16(data[eType:])) == elf.ET_CORE {
		return "a core file, which stackwalk reads"
	}
	return "an ELF program or library, which dump_syms reads"
}

// kindOfBabe distinguishes Mach-O universal files from Java classes by the word at 4:
// the number of architectures in the former, a version of at least 45 in the latter.
func kindOfBabe(data []byte) string {
	if len(data) >= 8 && binary.BigEndian.Uint32(data[4:]) >= 45 {
		return "a Java class"
	}
	return "a Mach-O universal file, which Mozilla's dump_syms reads"
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
