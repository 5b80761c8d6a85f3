package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"symkit/internal/usage"
)

// programs are the programs of a release, each in cmd/.
var programs = usage.Programs

// builtTarget is the programs for one target.
type builtTarget struct {
	target target
	files  map[string][]byte // by the names in programs
	info   map[string]*buildinfo.BuildInfo
}

// build builds the programs for t in a directory.
func build(ctx context.Context, src source, t target, dir string) (builtTarget, error) {
	b := builtTarget{target: t, files: map[string][]byte{}, info: map[string]*buildinfo.BuildInfo{}}
	args := []string{"build", "-trimpath", "-buildvcs=false", "-o", dir + string(filepath.Separator), "-ldflags", linkFlags(src)}
	if src.fast {
		args = append(args, "-pgo=off")
	}

	cmd := exec.CommandContext(ctx, "go", append(args, "./cmd/...")...)
	cmd.Dir = src.root
	cmd.Env = append(cleanEnv(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch, "GOARM="+t.variant)
	cmd.Stderr = os.Stderr
	err := cmd.Run()
	if err != nil {
		return b, fmt.Errorf("go build for %s: %w", t, err)
	}

	for _, name := range programs {
		path := filepath.Join(dir, name+t.exe())
		b.files[name], err = os.ReadFile(path)
		if err != nil {
			return b, err
		}
		b.info[name], err = buildinfo.ReadFile(path)
		if err != nil {
			return b, err
		}
	}
	return b, nil
}

// linkFlags returns the value of -ldflags: no symbol table, no DWARF, and the version
// for --version.
func linkFlags(src source) string {
	const variable = " -X symkit/internal/command."
	return "-s -w" + variable + "version=" + src.version + variable + "commit=" + src.commit +
		variable + "date=" + src.date.Format(time.RFC3339)
}
