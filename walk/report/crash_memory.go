package report

import (
	"fmt"
	"strings"

	"symkit/internal/quantity"
)

// Limits of the stack memory of one frame on the page.
const (
	maxMemory   = 512 // bytes
	maxPointers = 32
)

// memory returns a hex dump of the memory of a frame, which reaches up to its caller's
// stack pointer. Bytes that the dump lacks are spaces.
func (b *pageBuilder) memory(from, to uint64) string {
	const perRow = 16
	if to <= from {
		return ""
	}

	var out strings.Builder
	end := min(to, from+maxMemory)
	known := false
	for at := from; at < end; at += perRow {
		fmt.Fprintf(&out, "%s ", b.json.hex(at))
		text := make([]byte, 0, perRow)
		for i := range min(perRow, end-at) {
			c := b.r.Process.Memory.Bytes(at+i, 1)
			if c == nil {
				out.WriteString("   ")
				text = append(text, ' ')
				continue
			}

			// Characters outside of ASCII are dots.
			known = true
			fmt.Fprintf(&out, " %02x", c[0])
			if c[0] >= ' ' && c[0] < 0x7f {
				text = append(text, c[0])
			} else {
				text = append(text, '.')
			}
		}
		fmt.Fprintf(&out, "%*s  %s\n", 3*(perRow-len(text)), "", text)
	}

	if !known {
		return ""
	}
	if end < to {
		fmt.Fprintf(&out, "and %s more\n", quantity.Bytes(to-end))
	}
	return out.String()
}
