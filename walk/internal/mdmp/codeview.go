package mdmp

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"symkit/internal/wire"
)

// CodeView identifies the debug information of a module.
type CodeView struct {
	Kind CodeViewKind
	// ID is a GUID in the order in which it is printed (PDB70), the signature
	// (PDB20, 4 bytes, the same), or the build id (ELF).
	ID   []byte
	Age  uint32 // PDB70, PDB20
	File []byte // path of the PDB file
	Raw  []byte // the whole record
}

// CodeViewKind is the format of a CodeView record.
type CodeViewKind uint8

// The formats of CodeView records.
const (
	CodeViewNone    CodeViewKind = iota // no record
	CodeViewPDB70                       // "RSDS"
	CodeViewPDB20                       // "NB10"
	CodeViewELF                         // Breakpad's: a build id
	CodeViewUnknown                     // another format: only Raw is set
)

const (
	signaturePDB70 = 0x53445352
	signaturePDB20 = 0x3031424e
	SignatureELF   = 0x4270454c
)

// codeView decodes a CodeView record.
func (d *Dump) codeView(l Location) (v CodeView, err error) {
	if l.Size == 0 {
		return v, nil
	}

	// Raw is the whole record, also of a format that is not decoded here.
	c := d.at(l)
	whole := c
	v.Raw = whole.Bytes(uint64(whole.Len()))
	switch c.U32() {
	case signaturePDB70:
		v.Kind = CodeViewPDB70
		v.ID = guid(&c)
		v.Age = c.U32()
		v.File = cut(&c)
	case signaturePDB20:
		v.Kind = CodeViewPDB20
		c.Skip(4) // offset of the debug data, 0
		// The signature is printed as a number, so its highest byte comes first.
		v.ID = binary.BigEndian.AppendUint32(nil, c.U32())
		v.Age = c.U32()
		v.File = cut(&c)
	case SignatureELF:
		// Breakpad's writers for ELF files put only the build id after the signature.
		v.Kind = CodeViewELF
		v.ID = c.Bytes(uint64(c.Len()))
	default:
		v.Kind = CodeViewUnknown
	}
	if c.Err() != nil {
		return CodeView{}, c.Err()
	}
	return v, nil
}

// cut returns the rest of the cursor up to the first NUL, if there is one.
func cut(c *wire.Cursor) []byte {
	b, _, _ := bytes.Cut(c.Bytes(uint64(c.Len())), []byte{0})
	return b
}

// guid reads a GUID: its first three fields are numbers of 4, 2 and 2 bytes.
func guid(c *wire.Cursor) []byte {
	b := make([]byte, 0, 16)
	b = binary.BigEndian.AppendUint32(b, c.U32())
	b = binary.BigEndian.AppendUint16(b, c.U16())
	b = binary.BigEndian.AppendUint16(b, c.U16())
	return append(b, c.Bytes(8)...)
}

// DebugID returns the identifier of a module's debug information as MODULE records
// have it: the GUID and the age. The first 16 bytes of a build id are read as a
// GUID in the byte order of the dump, with age 0. The identifier is empty if the
// module has no CodeView record.
func (d *Dump) DebugID(m *Module) string {
	v := &m.CodeView
	switch v.Kind {
	case CodeViewPDB70, CodeViewPDB20:
		return fmt.Sprintf("%X%x", v.ID, v.Age)
	case CodeViewELF:
		// A GUID has 16 bytes: a longer build id is cut, a shorter one is padded with zeros.
		var id [16]byte
		copy(id[:], v.ID)
		c := wire.New(Section, id[:], d.big)
		return fmt.Sprintf("%X0", guid(&c))
	}
	return ""
}

// Identified reports whether the identifier has a nonzero byte: writers give files
// without a build id an identifier of zeros.
func (v *CodeView) Identified() bool {
	return len(bytes.Trim(v.ID, "\x00")) > 0
}

// DebugFile returns the path of the file with a module's debug information, or
// the empty string if the path is unknown.
func (m *Module) DebugFile() string {
	switch {
	case m.CodeView.Kind == CodeViewELF:
		return m.Name.String()
	case len(m.CodeView.File) > 0:
		return string(m.CodeView.File)
	}
	return m.MiscName
}

// CodeID returns the identifier of the module itself: the build id of an ELF file,
// the UUID of a Mach-O file, or the time stamp and size of a PE file. It is empty
// if the dump has none of them.
func (d *Dump) CodeID(m *Module) string {
	v := &m.CodeView
	switch {
	case v.Kind == CodeViewELF && v.Identified():
		return hex.EncodeToString(v.ID)
	case v.Kind == CodeViewPDB70 && d.System.OS.Mac():
		// The PDB70 record of a Mach-O file has the file's UUID as its GUID.
		return fmt.Sprintf("%X", v.ID)
	case v.Kind == CodeViewPDB70 || v.Kind == CodeViewPDB20 || v.Kind == CodeViewNone && d.System.OS.Windows():
		return peID(m.Time, m.Size)
	}
	return ""
}

// Version returns the version of a module in the form that the dump's system uses,
// or the empty string if the version is unknown.
func (d *Dump) Version(m *Module) string {
	return m.Version.Dotted(!d.System.OS.Windows() && !d.System.OS.Mac())
}

// debugMisc decodes the name in an IMAGE_DEBUG_MISC.
func (d *Dump) debugMisc(l Location) (string, error) {
	if l.Size == 0 {
		return "", nil
	}
	c := d.at(l)
	c.Skip(4) // type of the data
	at := c.Pos()
	size := c.U32()
	unicode := c.U8() != 0
	c.Skip(3)

	// The record states its own size: another size than the location's is damage.
	if c.Err() == nil && size != l.Size {
		c.Fail(at, ErrRecordSize)
	}
	if c.Err() != nil {
		return "", c.Err()
	}
	// Modules can share one record; the budget bounds the copies of its name.
	if c.Len() > maxName {
		c.Fail(at, ErrString)
		return "", c.Err()
	}
	if !d.spend(&c, c.Len()) {
		return "", c.Err()
	}
	if unicode {
		return fixed(&c, uint64(c.Len()/2)).String(), nil
	}
	return string(cut(&c)), nil
}
