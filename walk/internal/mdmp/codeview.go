package mdmp

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"symkit/internal/wire"
)

// codeView decodes a CodeView record.
func (d *Dump) codeView(l Location) (v CodeView, err error) {
	if l.Size == 0 {
		return v, nil
	}

	// Raw is the whole record, also of a format that is not decoded here.
	c := d.at(l)
	start := c
	v.Raw = c.Rest()
	v.Signature = c.U32()
	switch v.Signature {
	case SignaturePDB70:
		var r pdb70
		read(&start, &r)
		v.ID, v.GUID, v.Age, v.File = r.ID.Bytes(), r.ID, r.Age, cut(&start)
		c.Inherit(&start)
	case SignaturePDB20:
		read(&start, &v.PDB20)
		// The signature is printed as a number, so its highest byte comes first.
		v.ID, v.Age, v.File = binary.BigEndian.AppendUint32(nil, v.PDB20.Time), v.PDB20.Age, cut(&start)
		c.Inherit(&start)
	case SignatureELF:
		// Breakpad's writers for ELF files put only the build id after the signature.
		v.ID = c.Bytes(uint64(c.Len()))
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

// BuildGUID returns the first 16 bytes of a build id as a GUID. A shorter build id is padded with
// zeros.
func (d *Dump) BuildGUID(id []byte) (g GUID) {
	var first [16]byte
	copy(first[:], id)
	c := wire.New(Section, first[:], d.BigEndian)
	read(&c, &g)
	return g
}

// DebugID returns the identifier of a module's debug information as MODULE records
// have it: the GUID and the age. The first 16 bytes of a build id are read as a
// GUID in the byte order of the dump, with age 0. The identifier is empty if the
// module has no CodeView record.
func (d *Dump) DebugID(m *Module) string {
	v := &m.CodeView
	switch v.Signature {
	case SignaturePDB70, SignaturePDB20:
		return fmt.Sprintf("%X%x", v.ID, v.Age)
	case SignatureELF:
		return fmt.Sprintf("%X0", d.BuildGUID(v.ID).Bytes())
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
	case m.CodeView.Signature == SignatureELF:
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
	case v.Signature == SignatureELF && v.Identified():
		return hex.EncodeToString(v.ID)
	case v.Signature == SignaturePDB70 && d.System.OS.Mac():
		// The PDB70 record of a Mach-O file has the file's UUID as its GUID.
		return fmt.Sprintf("%X", v.ID)
	case v.Signature == SignaturePDB70 || v.Signature == SignaturePDB20 || v.Raw == nil && d.System.OS.Windows():
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
	var r debugMisc
	read(&c, &r)

	// The record states its own size: another size than the location's is damage.
	if c.Err() == nil && r.Size != l.Size {
		c.Fail(r.At, ErrRecordSize)
	}
	if c.Err() != nil {
		return "", c.Err()
	}
	// Modules can share one record; the budget bounds the copies of its name.
	if c.Len() > maxName {
		c.Fail(r.At, ErrString)
		return "", c.Err()
	}
	if !d.spend(&c, c.Len()) {
		return "", c.Err()
	}
	if r.Unicode != 0 {
		units := make([]uint16, c.Len()/2)
		read(&c, units)
		return TextOf(units).String(), nil
	}
	return string(cut(&c)), nil
}
