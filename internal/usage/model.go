// Package usage has the command line of a program as a value, which --help-json prints as JSON,
// and makes manual pages and completions for shells of such values.
package usage

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Version is the version of the JSON. It increases when a field changes its meaning or is
// removed.
const Version = 1

// Program is the command line of a program. It has no text that depends on the machine.
type Program struct {
	Version     int    `json:"version,omitempty"`
	Description string `json:"description"` // the text of --help above the flags
	Node
	Commands    []Command  `json:"commands,omitempty"`
	Environment []Variable `json:"environment,omitempty"`
	Programs    []Program  `json:"programs,omitempty"` // what the program is when called by other names
}

// Node has the fields that a program and a command share.
type Node struct {
	Name      string     `json:"name"`
	Arguments []Argument `json:"arguments,omitempty"` // in their order
	Flags     []Flag     `json:"flags"`
}

// Command is a command of a program.
type Command struct {
	Help        string `json:"help"`
	Description string `json:"description,omitempty"` // the text of the command's --help after Help
	Default     bool   `json:"default,omitempty"`     // the name may be left out
	Alone       bool   `json:"alone,omitempty"`       // must be the first argument; does not take the flags of the program
	Node
	Environment []Variable `json:"environment,omitempty"` // of a command that is alone; others read what the program reads
}

// Argument is an argument that is no flag.
type Argument struct {
	Name     string `json:"name"`
	Help     string `json:"help"`
	Required bool   `json:"required,omitempty"`
	Repeated bool   `json:"repeated,omitempty"` // takes all arguments that are left
}

// Flag is a flag.
type Flag struct {
	Name     string   `json:"name"`            // without --; empty if the flag has only a letter
	Short    string   `json:"short,omitempty"` // without -
	Help     string   `json:"help"`
	Group    string   `json:"group,omitempty"`
	Value    string   `json:"value,omitempty"`    // the placeholder of the value in --help; empty if the flag has none
	Values   []string `json:"values,omitempty"`   // all that the value can be, if these are few
	Default  string   `json:"default,omitempty"`  // of the value
	Repeated bool     `json:"repeated,omitempty"` // may be given several times
}

// Variable is a variable of the environment that a program reads.
type Variable struct {
	Name string `json:"name"`
	Help string `json:"help"`
}

// WriteJSON writes p as JSON, with the version.
func (p Program) WriteJSON(w io.Writer) error {
	p.Version = Version
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "\t")
	return e.Encode(p)
}

// Parse reads what WriteJSON wrote.
func Parse(text []byte) (p Program, err error) {
	err = json.Unmarshal(text, &p)
	if err == nil && p.Version != Version {
		err = fmt.Errorf("version %d is unknown", p.Version)
	}
	return p, err
}

// Command returns a command of p as a program of its own, with the flags of p that the command
// takes.
func (p Program) Command(c Command) Program {
	q := Program{Description: c.Help, Node: c.Node, Environment: p.Environment}
	q.Name = p.Name + " " + c.Name
	if c.Description != "" {
		q.Description += "\n\n" + c.Description
	}
	if c.Alone {
		q.Environment = c.Environment
	} else {
		q.Flags = append(q.Flags[:len(q.Flags):len(q.Flags)], p.Flags...)
	}
	return q
}

// main returns the node of p without a command's name: that of the default command, with the
// flags of p.
func (p Program) main() Node {
	n := p.Node
	for _, c := range p.Commands {
		if c.Default {
			n.Arguments = c.Arguments
			n.Flags = append(c.Flags[:len(c.Flags):len(c.Flags)], p.Flags...)
		}
	}
	return n
}

// named returns the commands that are called by their names: all but the default one.
func (p Program) named() (all []Command) {
	for _, c := range p.Commands {
		if !c.Default {
			all = append(all, c)
		}
	}
	return all
}

// alone reports whether the commands of p must be the first argument.
func (p Program) alone() bool {
	for _, c := range p.Commands {
		if c.Alone {
			return true
		}
	}
	return false
}

// takesFile and takesDir report whether the value of a flag is the path of one.
func (f Flag) takesFile() bool { return f.Value == "FILE" || f.Value == "PATH" }
func (f Flag) takesDir() bool  { return f.Value == "DIR" }

// spellings returns the flag as it is typed: -o, --output.
func (f Flag) spellings() (all []string) {
	if f.Short != "" {
		all = append(all, "-"+f.Short)
	}
	if f.Name != "" {
		all = append(all, "--"+f.Name)
	}
	return all
}

// summary returns the first sentence of the help.
func (f Flag) summary() string { return firstSentence(f.Help) }

func firstSentence(text string) string {
	first, _, more := strings.Cut(text, ". ")
	if more {
		return first
	}
	return strings.TrimSuffix(first, ".")
}

func commandNames(commands []Command) []string {
	var names []string
	for _, c := range commands {
		names = append(names, c.Name)
	}
	return names
}
