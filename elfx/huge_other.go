//go:build unix && !linux

package elfx

// adviseHuge has no counterpart here.
func adviseHuge([]byte) {}
