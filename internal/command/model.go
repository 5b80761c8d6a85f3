package command

import (
	"encoding/json"
	"io"

	"github.com/alecthomas/kong"
)

// The types below are the output of --help-json: a program's command line as JSON, for
// programs that make manual pages and shell completions. The output has no text that
// depends on the machine.

// modelVersion is the version of the output. It increases when a field changes its
// meaning or is removed.
const modelVersion = 1

type modelProgram struct {
	Version     int    `json:"version"`
	Description string `json:"description"` // the text of --help above the flags
	modelNode
	Commands []modelCommand `json:"commands,omitempty"`
}

// modelNode has the fields that a program and a command share.
type modelNode struct {
	Name      string          `json:"name"`
	Arguments []modelArgument `json:"arguments,omitempty"` // in their order
	Flags     []modelFlag     `json:"flags"`
}

type modelCommand struct {
	Help    string `json:"help"`
	Default bool   `json:"default,omitempty"` // the name may be left out
	modelNode
}

type modelArgument struct {
	Name     string `json:"name"`
	Help     string `json:"help"`
	Required bool   `json:"required,omitempty"`
	Repeated bool   `json:"repeated,omitempty"` // takes all arguments that are left
}

type modelFlag struct {
	Name     string   `json:"name"`            // without --
	Short    string   `json:"short,omitempty"` // without -
	Help     string   `json:"help"`
	Group    string   `json:"group,omitempty"`
	Value    string   `json:"value,omitempty"`    // the placeholder of the value in --help; empty if the flag has none
	Values   []string `json:"values,omitempty"`   // all that the value can be, if these are few
	Default  string   `json:"default,omitempty"`  // of the value
	Repeated bool     `json:"repeated,omitempty"` // may be given several times
}

// writeModel writes the command line of p as JSON.
func writeModel(w io.Writer, p *Program, app *kong.Application) error {
	m := modelProgram{Version: modelVersion, Description: p.Description, modelNode: newModelNode(app.Node)}
	for _, c := range app.Children {
		m.Commands = append(m.Commands, modelCommand{Help: c.Help, Default: c == app.DefaultCmd, modelNode: newModelNode(c)})
	}

	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "\t")
	return e.Encode(m)
}

func newModelNode(n *kong.Node) modelNode {
	m := modelNode{Name: n.Name}
	for _, a := range n.Positional {
		m.Arguments = append(m.Arguments, modelArgument{Name: a.Name, Help: a.Help, Required: a.Required, Repeated: a.IsCumulative()})
	}
	for _, f := range n.Flags {
		if !f.Hidden {
			m.Flags = append(m.Flags, newModelFlag(f))
		}
	}
	return m
}

func newModelFlag(f *kong.Flag) modelFlag {
	m := modelFlag{Name: f.Name, Help: f.Help, Repeated: f.IsCumulative()}
	if f.Short != 0 {
		m.Short = string(f.Short)
	}
	if f.Group != nil {
		m.Group = f.Group.Title
	}
	if f.IsBool() {
		return m
	}

	// kong shows the default in place of a value that has no name.
	m.Value, m.Default = f.PlaceHolder, f.Default
	if m.Value == "" {
		m.Value = "VALUE"
	}
	if f.Enum != "" {
		m.Values = f.EnumSlice()
	}
	return m
}
