package command

import (
	"reflect"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// plainGrammar has each kind of field that the programs have.
type plainGrammar struct {
	Paths []string `arg:"" optional:"" name:"path" help:"Files: \"all\" of them."`
	Out   string   `short:"o" placeholder:"FILE" help:"Write."`
	Mode  string   `name:"the-mode" short:"m" enum:"auto,only,off" default:"auto"`
	Fast  bool     `short:"f"`
	ID    string   `short:"b"`
	Jobs  int      `short:"j" default:"3"`
	Dirs  []string `name:"dir" sep:"none"`
	Split []string
	Size  uint64
	Plain plainEmbedded `embed:""`
}

type plainEmbedded struct{ More bool }

// plainArgs are the arguments that command lines of TestPlain are made of.
var plainArgs = []string{
	"a", "b c", "-", "--", "", "-o", "-ofile", "--out", "--out=x", "--out=", "--out=-x", "-m", "only", "--the-mode=off", "--the-mode=none",
	"-f", "--fast", "--fast=true", "--fast=false", "--no-fast", "-fo", "-b", "--id=7", "-j", "2", "-j2", "--jobs=0x10", "--jobs=010", "--jobs=-1",
	"--dir", "--dir=a,b", "--split=a,b", "--size=5", "--bogus", "--more", "-h", "--version", "=", "-=", "--=x", "-o=x", "--mode=off", "\xff",
}

// TestPlain: whatever Plain takes, kong takes with the same result.
func TestPlain(t *testing.T) {
	taken := 0
	var lines [][]string
	for _, a := range plainArgs {
		lines = append(lines, []string{a})
		for _, b := range plainArgs {
			lines = append(lines, []string{a, b}, []string{"-f", a, b}, []string{a, b, "-o", "end"})
		}
	}
	for _, args := range lines {
		// Plain does not know embed, as the programs embed by anonymous fields.
		var plain, want struct {
			Paths []string `arg:"" optional:"" name:"path" help:"Files: \"all\" of them."`
			Out   string   `short:"o" placeholder:"FILE" help:"Write."`
			Mode  string   `name:"the-mode" short:"m" enum:"auto,only,off" default:"auto"`
			Fast  bool     `short:"f"`
			ID    string   `short:"b"`
			Jobs  int      `short:"j" default:"3"`
			Dirs  []string `name:"dir" sep:"none"`
			Split []string
			Size  uint64

			plainEmbedded `group:"More:"`
		}
		before := plain
		if !Plain(&plain, args) {
			if !reflect.DeepEqual(plain, before) {
				t.Errorf("%q is not taken, but changes the grammar: %+v", args, plain)
			}
			continue
		}

		taken++
		parser, err := kong.New(&want, kong.Exit(func(int) { t.Errorf("%q: kong exits", args) }),
			kong.KindMapper(reflect.String, kong.MapperFunc(asItIs)))
		if err != nil {
			t.Fatal(err)
		}
		_, err = parser.Parse(args)
		if err != nil || !reflect.DeepEqual(plain, want) {
			t.Errorf("%q: %+v, kong has %+v, %v", args, plain, want, err)
		}
	}
	if taken < len(lines)/20 {
		t.Errorf("only %d of %d command lines are taken", taken, len(lines))
	}
	t.Logf("%d of %d command lines are taken", taken, len(lines))
}

// TestPlainGrammars: a grammar with more than Plain knows is left to kong.
func TestPlainGrammars(t *testing.T) {
	for name, grammar := range map[string]any{
		"embed": &plainGrammar{},
		"command": &struct {
			Run struct{} `cmd:""`
		}{},
		"required": &struct {
			A string `required:""`
		}{},
		"variable": &struct {
			A string `default:"${home}"`
		}{},
		"environment": &struct {
			A string `env:"A"`
		}{},
		"two lists": &struct {
			A []string `arg:""`
			B []string `arg:""`
		}{},
	} {
		if Plain(grammar, []string{"x"}) || Plain(grammar, nil) {
			t.Errorf("%s: is taken", name)
		}
	}
	var needs struct {
		A []string `arg:""`
	}
	if Plain(&needs, nil) || !Plain(&needs, []string{"x"}) {
		t.Error("a required argument")
	}
}

type invalidGrammar struct{ Out string }

func (g *invalidGrammar) Validate() error {
	if g.Out == "bad" {
		return ErrInterrupted
	}
	return nil
}

// TestPlainValidates: a command line that Validate refuses is left to kong, which
// reports the error.
func TestPlainValidates(t *testing.T) {
	var g invalidGrammar
	if Plain(&g, []string{"--out=bad"}) || g.Out != "" || !Plain(&g, []string{"--out=good"}) || g.Out != "good" {
		t.Errorf("%+v", g)
	}
	if strings.Contains(plainName("DebugDir"), "d") {
		t.Error("a name of two words needs a tag")
	}
}
