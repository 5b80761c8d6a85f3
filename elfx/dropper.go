package elfx

// dropStep is how much of a compressed section is read between two calls of
// drop.
const dropStep = 4 << 20

// dropper gives the pages of a mapped section back to the system as they are
// consumed: an inflated section would otherwise count twice. The bytes stay
// readable; they are fetched again.
type dropper struct {
	file     *File
	from, to uint64 // file offsets of what was not dropped yet
	size     uint64 // of the section in the file
}

// consumed drops what lies before about done/total of the section; at its end
// all of it, since what the estimate dropped too early was fetched again.
func (d *dropper) consumed(done, total int) {
	upto := d.to - d.size + uint64(float64(d.size)*(float64(done)/float64(max(total, 1))))
	switch {
	case done == total:
		d.file.drop(d.to-d.size, d.to)
	case upto >= d.from+dropStep:
		d.file.drop(d.from, min(upto, d.to))
		d.from = upto
	}
}
