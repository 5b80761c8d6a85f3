package main

import (
	"testing"

	"symkit/test/programtest"
)

// TestPlain: usual command lines are read without kong's model, and mean what they
// mean to kong.
func TestPlain(t *testing.T) {
	programtest.Plain[cli](t, map[string]bool{
		"app":                        true,
		"app app.debug /srv/debug":   true,
		"-o app.sym app":             true,
		"--inlines --check -j 4 app": true,
		"-s store -R build --compress=gzip --layout breakpad --manifest m.json": true,
		"--debug-dir=a --debug-dir b app":                                       true,
		"--extra-info VERSION_1.2 -v -c app":                                    false, // Validate refuses the value
		"--memory=2G -s store app":                                              false, // a type of its own
		"--sframe=none app":                                                     false,
		"--help":                                                                false,
		"--version":                                                             false,
		"":                                                                      false,
		"--bogus app":                                                           false,
		"-i -s store app":                                                       false,
	})
}
