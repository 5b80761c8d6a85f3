package emit

import (
	"encoding/hex"
	"strings"
)

// Keys of the Info records that symkit writes.
const (
	KeyCodeID      = "CODE_ID"      // the build id, or the identifier of a file without one, in upper-case hex
	KeyGenerator   = "GENERATOR"    // the program that wrote the file
	KeySignalFrame = "SIGNAL_FRAME" // see SignalFrame
)

// CodeID is the Info record of a build id.
func CodeID(buildID []byte) Info {
	return Info{KeyCodeID, strings.ToUpper(hex.EncodeToString(buildID))}
}

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
