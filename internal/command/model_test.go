package command

import (
	"bytes"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"symkit/internal/usage"
)

// TestHelpJSON: --help-json has all that --help has, and no hidden flag.
func TestHelpJSON(t *testing.T) {
	var grammar struct {
		All    bool     `short:"a" help:"Everything."`
		Secret bool     `hidden:""`
		Mode   string   `enum:"fast,safe" default:"safe" help:"How: ${enum}." group:"Speed:"`
		Dirs   []string `name:"dir" placeholder:"DIR" help:"Look in DIR."`

		Check struct {
			First string   `arg:"" help:"One."`
			More  []string `arg:"" optional:"" help:"Others."`
			Limit int      `help:"At most."`
		} `cmd:"" default:"withargs" help:"Verify."`
		List struct{} `cmd:"" help:"Show."`
	}
	var stdout, stderr bytes.Buffer
	p := Program{Name: "prog", Description: "Do it.", Stdout: &stdout, Stderr: NewMessages("prog", &stderr)}
	code := p.Run(&grammar, []string{"--help-json"}, func(*kong.Context) (int, error) { return Bad, nil })
	if code != 0 || stderr.Len() > 0 {
		t.Fatalf("exit code %d, %s", code, &stderr)
	}

	got, err := usage.Parse(stdout.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want := usage.Program{
		Version: 1, Description: "Do it.",
		Node: usage.Node{Name: "prog", Flags: []usage.Flag{
			{Name: "help", Short: "h", Help: "Show context-sensitive help."},
			{Name: "all", Short: "a", Help: "Everything."},
			{Name: "mode", Help: "How: fast,safe.", Group: "Speed:", Value: "VALUE", Values: []string{"fast", "safe"}, Default: "safe"},
			{Name: "dir", Help: "Look in DIR.", Value: "DIR", Repeated: true},
		}},
		Commands: []usage.Command{
			{Help: "Verify.", Default: true, Node: usage.Node{Name: "check",
				Arguments: []usage.Argument{{Name: "first", Help: "One.", Required: true}, {Name: "more", Help: "Others.", Repeated: true}},
				Flags:     []usage.Flag{{Name: "limit", Help: "At most.", Value: "VALUE"}}}},
			{Help: "Show.", Node: usage.Node{Name: "list"}},
		},
		Environment: []usage.Variable{Limits},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestHelpJSONAlone: beside other arguments --help-json is an unknown flag.
func TestHelpJSONAlone(t *testing.T) {
	var grammar struct{ All bool }
	var stdout, stderr bytes.Buffer
	p := Program{Name: "prog", Stdout: &stdout, Stderr: NewMessages("prog", &stderr)}
	code := p.Run(&grammar, []string{"--all", "--help-json"}, func(*kong.Context) (int, error) { return 0, nil })
	if code != Misuse || stdout.Len() > 0 {
		t.Errorf("exit code %d, %q", code, &stdout)
	}
}

// TestHelpJSONCommand: after a command, --help-json has the command with the flags of the
// program.
func TestHelpJSONCommand(t *testing.T) {
	var grammar struct {
		All   bool `help:"Everything."`
		Check struct {
			First string `arg:"" help:"One."`
		} `cmd:"" help:"Verify."`
	}
	var stdout, stderr bytes.Buffer
	p := Program{Name: "prog", Description: "Do it.", Stdout: &stdout, Stderr: NewMessages("prog", &stderr)}
	code := p.Run(&grammar, []string{"check", "--help-json"}, func(*kong.Context) (int, error) { return Bad, nil })
	got, err := usage.Parse(stdout.Bytes())
	if code != 0 || err != nil {
		t.Fatal(code, err, &stderr)
	}
	want := usage.Program{Version: 1, Description: "Verify.", Environment: []usage.Variable{Limits}, Node: usage.Node{Name: "prog check",
		Arguments: []usage.Argument{{Name: "first", Help: "One.", Required: true}},
		Flags:     []usage.Flag{{Name: "help", Short: "h", Help: "Show context-sensitive help."}, {Name: "all", Help: "Everything."}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestVersionOfRelease: what the linker wrote counts.
func TestVersionOfRelease(t *testing.T) {
	defer func() { version, commit, date = "", "", "" }()
	version, commit, date = "v1.2.3", "0123456789abcdef0123", "2026-11-23T12:33:20Z"
	if Version() != "v1.2.3" {
		t.Error(Version())
	}
	const want = "(commit 0123456789ab, 2026-11-23T12:33:20Z, go"
	if got := origin(); len(got) < len(want) || got[:len(want)] != want {
		t.Error(got)
	}
}
