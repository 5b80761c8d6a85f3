package load

// SetSegments sets the sizes of segments, of one and of all together, until restore
// is called.
func SetSegments(size, all int) (restore func()) {
	oldSize, oldAll := segmentSize, segmentsBytes
	segmentSize, segmentsBytes = size, all
	return func() { segmentSize, segmentsBytes = oldSize, oldAll }
}

// SetParts sets the sizes of the parts of units until restore is called.
func SetParts(size uint64, most int) (restore func()) {
	oldSize, oldMost := partSize, mostParts
	partSize, mostParts = size, most
	return func() { partSize, mostParts = oldSize, oldMost }
}
