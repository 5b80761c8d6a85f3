package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
)

// The types below are read from a program's --help-json (internal/command/model.go).

type modelProgram struct {
	Version     int
	Description string
	modelNode
	Commands []modelCommand
}

type modelNode struct {
	Name      string
	Arguments []modelArgument
	Flags     []modelFlag
}

type modelCommand struct {
	Help    string
	Default bool
	modelNode
}

type modelArgument struct {
	Name, Help         string
	Required, Repeated bool
}

type modelFlag struct {
	Name, Short, Help, Group string
	Value                    string // what stands for the value; empty if the flag has none
	Values                   []string
	Repeated                 bool
}

// defaultCommand returns the command whose name may be left out.
func (p modelProgram) defaultCommand() (c modelCommand, ok bool) {
	for _, c := range p.Commands {
		if c.Default {
			return c, true
		}
	}
	return c, false
}

// takesFile and takesDir report whether the value of a flag is the path of one.
func (f modelFlag) takesFile() bool { return f.Value == "FILE" || f.Value == "PATH" }
func (f modelFlag) takesDir() bool  { return f.Value == "DIR" }

// summary returns the first sentence of the help.
func (f modelFlag) summary() string { return firstSentence(f.Help) }

func firstSentence(text string) string {
	first, _, more := strings.Cut(text, ". ")
	if more {
		return first
	}
	return strings.TrimSuffix(first, ".")
}

// readModels builds the programs for this machine and runs them.
func readModels(ctx context.Context, src source, dir string) ([]modelProgram, error) {
	// A target of the release is used where there is one: it is built anyway.
	host := target{os: runtime.GOOS, arch: runtime.GOARCH}
	for _, t := range targets {
		if t.String() == host.String() {
			host = t
		}
	}
	_, err := build(ctx, src, host, dir)
	if err != nil {
		return nil, err
	}

	var models []modelProgram
	for _, name := range programs {
		var stdout bytes.Buffer
		cmd := exec.CommandContext(ctx, dir+"/"+name+host.exe(), "--help-json")
		cmd.Stdout = &stdout
		err := cmd.Run()
		if err != nil {
			return nil, fmt.Errorf("%s --help-json: %w", name, err)
		}
		m, err := parseModel(stdout.Bytes())
		if err != nil {
			return nil, fmt.Errorf("%s --help-json: %w", name, err)
		}
		models = append(models, m)
	}
	return models, nil
}

func parseModel(text []byte) (m modelProgram, err error) {
	err = json.Unmarshal(text, &m)
	if err == nil && m.Version != 1 {
		err = fmt.Errorf("version %d is unknown", m.Version)
	}
	return m, err
}
