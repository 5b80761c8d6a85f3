package command

import (
	"cmp"

	"github.com/alecthomas/kong"

	"symkit/internal/usage"
)

// model returns the command line of p, which --help-json prints.
func (p *Program) model(app *kong.Application) usage.Program {
	m := usage.Program{Description: p.Description, Node: newNode(app.Node), Environment: p.variables()}
	for _, c := range app.Children {
		m.Commands = append(m.Commands, usage.Command{Help: c.Help, Description: c.Detail, Default: c == app.DefaultCmd, Node: newNode(c)})
	}
	if p.Others != nil {
		commands, programs := p.Others()
		m.Commands = append(m.Commands, commands...)
		m.Programs = programs
	}
	return m
}

// Model returns the command line of p for the given grammar.
func (p *Program) Model(grammar any) usage.Program {
	parser, err := kong.New(grammar, p.options()...)
	if err != nil {
		panic(err) // the tags of grammar are wrong
	}
	return p.model(parser.Model)
}

// asked returns what args ask for with --help-json: the program, or a command of the grammar.
func (p *Program) asked(args []string, app *kong.Application) (m usage.Program, ok bool) {
	const flag = "--help-json"
	switch {
	case len(args) == 1 && args[0] == flag:
		return p.model(app), true
	case len(args) != 2 || args[1] != flag:
		return m, false
	}

	m = p.model(app)
	for _, c := range m.Commands {
		if c.Name == args[0] {
			return m.Command(c), true
		}
	}
	return m, false
}

// variables returns the variables of the environment that p reads.
func (p *Program) variables() (all []usage.Variable) {
	if p.Env != "" {
		all = append(all, usage.Variable{Name: p.Env + "_FLAG", Help: "The value of the flag --flag, where the command line does not have the flag: " + p.Env + "_INLINES=1."})
	}
	all = append(all, p.Variables...)
	return append(all, Limits)
}

// Debuginfod and Limits are variables of the environment. All programs read Limits.
var (
	Debuginfod = usage.Variable{Name: "DEBUGINFOD_URLS", Help: "Servers that are asked for missing debug files, separated by spaces."}
	Limits     = usage.Variable{Name: "SYMKIT_LIMITS", Help: "Changes the limits on what a damaged or hostile input may cost."}
)

func newNode(n *kong.Node) usage.Node {
	m := usage.Node{Name: n.Name}
	for _, a := range n.Positional {
		m.Arguments = append(m.Arguments, usage.Argument{Name: a.Name, Help: a.Help, Required: a.Required, Repeated: a.IsCumulative()})
	}
	for _, f := range n.Flags {
		if !f.Hidden {
			m.Flags = append(m.Flags, newFlag(f))
		}
	}
	return m
}

func newFlag(f *kong.Flag) usage.Flag {
	m := usage.Flag{Name: f.Name, Help: f.Help, Repeated: f.IsCumulative()}
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
	m.Value, m.Default = cmp.Or(f.PlaceHolder, "VALUE"), f.Default
	if f.Enum != "" {
		m.Values = f.EnumSlice()
	}
	return m
}
