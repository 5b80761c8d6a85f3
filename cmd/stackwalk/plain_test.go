package main

import (
	"testing"

	"symkit/test/programtest"
)

// TestPlain: usual command lines are read without kong's model, and mean what they
// mean to kong.
func TestPlain(t *testing.T) {
	programtest.Plain[cli](t, map[string]bool{
		"core": true,
		"--symbols store --symbols https://symbols.example.org crash.dmp": true,
		"--exe ./app core":               true,
		"--crashing-only --brief core":   true,
		"-m core":                        true,
		"--format=json core":             true,
		"--thread=3 core":                false, // a list of numbers
		"--symbols http:/typo crash.dmp": false,
		"":                               false,
		"a b":                            false,
		"--help":                         false,
	})
}
