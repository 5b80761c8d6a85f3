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
