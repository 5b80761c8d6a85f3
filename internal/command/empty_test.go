package command

import (
	"bytes"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestEmptyValues: an empty value is an error, in whatever form it is given, for flags of all types.
func TestEmptyValues(t *testing.T) {
	type sub struct {
		Format string `enum:"a,b" default:"a"`
	}
	type grammar struct {
		Run struct {
			Name  string   `short:"n"`
			IDs   []int    `name:"ids"`
			Texts []string `name:"texts"`
			Keep  string   `empty:""`
			Yes   bool
			Args  []string `arg:"" optional:""`
		} `cmd:"" default:"withargs"`
		Sub sub `cmd:""`
	}
	for args, want := range map[string]string{
		"--name=": "--name", "--name ''": "--name", "-n ''": "--name", "--ids=": "--ids", "--ids ''": "--ids", "--texts ''": "--texts",
		"sub --format=": "--format", "--keep=": "", "--keep ''": "", "--yes ''": "", "-- --name= ''": "", "--name x ''": "",
	} {
		fields := strings.Fields(args)
		for i := range fields {
			fields[i] = strings.ReplaceAll(fields[i], "''", "")
		}
		var out bytes.Buffer
		p := Program{Name: "x", Stdout: &out, Stderr: NewMessages("x", &out)}
		code := p.Run(&grammar{}, fields, func(*kong.Context) (int, error) { return 0, nil })
		if want == "" && code == 0 {
			continue
		}
		if text := "x: error: " + want + ": the value is empty; see x --help\n"; code != Misuse || out.String() != text {
			t.Errorf("%s: %d: %s", args, code, out.String())
		}
	}
}
