//go:build race

package testfile

// Race: the race detector is on. It allocates, so that tests of what is allocated
// say nothing.
const Race = true
