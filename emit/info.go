package emit

// Keys of the Info records that symkit writes.
const (
	KeyCodeID      = "CODE_ID"      // the build id, or the identifier of a file without one, in upper-case hex
	KeyGenerator   = "GENERATOR"    // the program that wrote the file
	KeySignalFrame = "SIGNAL_FRAME" // see SignalFrame
	KeyPublicSizes = "PUBLIC_SIZES" // see PublicSizes
)

// SignalFrame is the Info record which says that the size bytes of code at
// addr are a signal trampoline: a frame there was interrupted, not called, and
// its caller's PC is exact, not a return address. The record is symkit's own;
// other consumers skip Info records that they do not know.
func SignalFrame(addr uint64, size uint32) Info {
	text := appendHex(nil, addr)
	text = appendHex(append(text, ' '), uint64(size))
	return Info{KeySignalFrame, string(text)}
}

// SignalFrame returns the range of a SIGNAL_FRAME record, and false for any
// other record or one whose text is not an address and a size.
func (i *Info) SignalFrame() (Range, bool) {
	if i.Key != KeySignalFrame {
		return Range{}, false
	}
	f := fields{line: []byte(i.Text), more: true}
	r := f.codeRange()
	f.end()
	return r, f.err == nil
}

// PublicSizes has the sizes of the symbols of consecutive PUBLIC records: code after the end of a
// symbol does not bear its name. The Info record is symkit's own, as SignalFrame.
type PublicSizes struct {
	First, Last uint64   // addresses of the first and the last record
	Sizes       []uint32 // of each record from First to Last; 0: unknown
}

// MaxPublicSizes bounds the sizes in one record that dumpers write, which keeps lines short.
const MaxPublicSizes = 256

// Info returns the record.
func (p PublicSizes) Info() Info {
	text := appendHex(nil, p.First)
	text = appendHex(append(text, ' '), p.Last)
	for _, size := range p.Sizes {
		text = appendHex(append(text, ' '), uint64(size))
	}
	return Info{KeyPublicSizes, string(text)}
}

// PublicSizes returns the content of a PUBLIC_SIZES record, and false for any other record or one
// whose text is not two addresses in ascending order and sizes.
func (i *Info) PublicSizes() (p PublicSizes, ok bool) {
	if i.Key != KeyPublicSizes {
		return p, false
	}
	f := fields{line: []byte(i.Text), more: true}
	p.First, p.Last = f.hex64(), f.hex64()
	for f.more && f.err == nil {
		p.Sizes = append(p.Sizes, f.hex32())
	}
	f.end()
	return p, f.err == nil && len(p.Sizes) > 0 && p.First <= p.Last
}
