package lookup

// SetStreams changes from which size .debug_info is streamed, and in which steps.
func SetStreams(least, step int) (restore func()) {
	oldLeast, oldStep := leastStreamed, streamStep
	leastStreamed, streamStep = least, step
	return func() { leastStreamed, streamStep = oldLeast, oldStep }
}
