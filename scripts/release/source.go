package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// source is the checkout that a release is made from.
type source struct {
	root      string
	version   string    // v1.2.3, or a pseudo-version of the go command
	commit    string    // 40 digits
	date      time.Time // of the commit, UTC
	goVersion string    // go1.26.8
	goRoot    string
	fast      bool // build without the profile
}

// number returns the version without the v.
func (s source) number() string { return strings.TrimPrefix(s.version, "v") }

// newSource reads the checkout's commit and versions from git and Go.
func newSource(ctx context.Context, root string, acceptDirty bool) (s source, err error) {
	s.root, err = filepath.Abs(root)
	if err != nil {
		return s, err
	}
	status, err := s.output(ctx, "git", "status", "--porcelain")
	if err != nil {
		return s, err
	}
	if status != "" && !acceptDirty {
		return s, fmt.Errorf("%s differs from its commit, so the release could not be made again: commit, or give --dirty\n%s", s.root, status)
	}

	s.commit, err = s.output(ctx, "git", "rev-parse", "HEAD")
	if err != nil {
		return s, err
	}
	date, err := s.output(ctx, "git", "show", "--no-patch", "--format=%cI", "HEAD")
	if err != nil {
		return s, err
	}
	s.date, err = time.Parse(time.RFC3339, date)
	if err != nil {
		return s, err
	}
	s.date = s.date.UTC()

	s.version = s.findVersion(ctx)
	if status != "" {
		s.version += "+dirty"
	}
	s.goVersion, err = s.output(ctx, "go", "env", "GOVERSION")
	if err != nil {
		return s, err
	}
	s.goRoot, err = s.output(ctx, "go", "env", "GOROOT")
	return s, err
}

// findVersion returns the commit's tag that is a version or, without one, the
// pseudo-version that the go command would give the commit.
func (s source) findVersion(ctx context.Context) string {
	tag, err := s.output(ctx, "git", "describe", "--tags", "--exact-match", "--match", "v[0-9]*", "HEAD")
	if err == nil && semver.IsValid(tag) {
		return tag
	}

	// The latest tag before the commit; there may be none.
	older, err := s.output(ctx, "git", "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "HEAD")
	if err != nil || !semver.IsValid(older) {
		older = ""
	}
	return module.PseudoVersion(semver.Major(older), older, s.date, s.commit[:12])
}

// output runs a program in the checkout and returns its output, without the last line
// feed.
func (s source) output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = s.root
	cmd.Env = append(cleanEnv(), "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, &stderr)
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// cleanEnv returns the environment without the variables that change the output of the go
// command. The levels of processors are the lowest ones: what Go has as its default today.
func cleanEnv() []string {
	var env []string
	for _, v := range os.Environ() {
		switch name, _, _ := strings.Cut(v, "="); name {
		case "GOFLAGS", "GOEXPERIMENT", "GOOS", "GOARCH", "GOFIPS140", "GODEBUG", "GOWORK", "GOTOOLCHAIN":
		default:
			env = append(env, v)
		}
	}
	return append(env, "GOENV=off", "GOWORK=off", "GOTOOLCHAIN=local", "GOFLAGS=",
		"GOAMD64=v1", "GO386=sse2", "GOARM64=v8.0", "GOPPC64=power8", "GORISCV64=rva20u64")
}
