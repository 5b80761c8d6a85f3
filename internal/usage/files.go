package usage

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// Programs are the programs of symkit.
var Programs = []string{"dump_syms", "stackwalk", "symaddr", "symcheck", "symserve"}

// Read runs a program with --help-json.
func Read(ctx context.Context, path string) (p Program, err error) {
	var stdout bytes.Buffer
	cmd := exec.CommandContext(ctx, path, "--help-json")
	cmd.Stdout = &stdout
	err = cmd.Run()
	if err == nil {
		p, err = Parse(stdout.Bytes())
	}
	if err != nil {
		return p, fmt.Errorf("%s --help-json: %w", path, err)
	}
	return p, nil
}

// Source is what a page's header says about the program.
type Source struct {
	Version string    // without the v
	Date    time.Time // zero if the date is unknown
}

// Files returns the manual pages and completions of a program, of its commands, and of the
// programs that it is by other names, by paths below the prefix of an installation: where man,
// bash-completion, zsh and fish look.
func Files(src Source, p Program) map[string][]byte {
	files := map[string][]byte{}
	addFiles(files, src, p, pageNames(p))
	for _, other := range p.Programs {
		addFiles(files, src, other, pageNames(p))
	}
	return files
}

// addFiles adds the files of one program, whose pages refer to those in related.
func addFiles(files map[string][]byte, src Source, p Program, related []string) {
	page := func(p Program) { files["share/man/man1/"+pageName(p.Name)+".1"] = manual(src, p, related) }
	page(p)
	for _, c := range p.named() {
		page(p.Command(c))
	}
	files["share/bash-completion/completions/"+p.Name] = bashCompletion(p)
	files["share/zsh/site-functions/_"+p.Name] = zshCompletion(p)
	files["share/fish/vendor_completions.d/"+p.Name+".fish"] = fishCompletion(p)
}

// pageName returns the name of the manual page of a program or of a command, which man finds
// by "man symcheck lint", too.
func pageName(name string) string { return strings.ReplaceAll(name, " ", "-") }

// pageNames returns the names of the pages of a program: its own, those of its commands, those
// of its other names.
func pageNames(p Program) []string {
	names := []string{pageName(p.Name)}
	for _, c := range p.named() {
		names = append(names, pageName(p.Name+" "+c.Name))
	}
	for _, other := range p.Programs {
		names = append(names, pageNames(other)...)
	}
	return names
}
