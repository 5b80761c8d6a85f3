package elfx

// dropStep is the number of bytes of a section that are read between two calls of
// File.drop.
const dropStep = 4 << 20

// dropper returns the pages of a mapped section to the system as they are consumed:
// otherwise both the compressed and the inflated section would be in memory. The bytes
// remain readable: the system reads them again.
type dropper struct {
	file     *File
	from, to uint64 // file offsets that have not been dropped
	size     uint64 // of the section in the file, in bytes
}

// newDropper returns a dropper for the section's bytes in the file.
func newDropper(s *Section) dropper {
	return dropper{s.file, s.Offset, s.Offset + s.Size, s.Size}
}

// consumed drops about the first done/total of the section. At the end it drops the
// whole section: the estimate can have dropped bytes that were then read again.
func (d *dropper) consumed(done, total int) {
	// The decoder reports output; the position in the input is an estimate from the ratio
	// of the sizes.
	upto := d.to - d.size + uint64(float64(d.size)*(float64(done)/float64(max(total, 1))))
	switch {
	case done == total:
		d.file.drop(d.to-d.size, d.to)
	case upto >= d.from+dropStep:
		d.file.drop(d.from, min(upto, d.to))
		d.from = upto
	}
}

// copied returns a copy of data, which aliases the file from file offset off. The
// pages of data are dropped as they are copied.
func copied(f *File, data []byte, off uint64) []byte {
	// Each step copies some pages and then drops them, so that the section and its copy
	// are never in memory as a whole at the same time.
	out := f.memory.get(uint64(len(data))).Bytes()
	d := dropper{f, off, off + uint64(len(data)), uint64(len(data))}
	for at := 0; at < len(data); at += dropStep {
		n := copy(out[at:min(at+dropStep, len(data))], data[at:])
		d.consumed(at+n, len(data))
	}
	return out
}
