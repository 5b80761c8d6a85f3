package load

// SetSegments sets the sizes of segments, of one and of all together, until restore
// is called.
func SetSegments(size, all int) (restore func()) {
	oldSize, oldAll := segmentSize, segmentsBytes
	segmentSize, segmentsBytes = size, all
	return func() { segmentSize, segmentsBytes = oldSize, oldAll }
}
