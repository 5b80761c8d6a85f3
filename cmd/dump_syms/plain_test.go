package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"symkit/internal/command"
)

// TestPlain: usual command lines are read without kong's model, and mean what they
// mean to kong.
func TestPlain(t *testing.T) {
	for line, taken := range map[string]bool{
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
	} {
		args := strings.Fields(line)
		var plain, want cli
		if command.Plain(&plain, args) != taken {
			t.Errorf("%s: taken is not %t", line, taken)
		}
		if !taken {
			continue
		}
		parser, err := kong.New(&want)
		if err != nil {
			t.Fatal(err)
		}
		_, err = parser.Parse(args)
		if err != nil || !reflect.DeepEqual(plain, want) {
			t.Errorf("%s: %+v, kong has %+v, %v", line, plain, want, err)
		}
	}
}
