package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestAction runs the script of the GitHub Action up to the download: which file it asks for,
// by version and processor, and what it says of a reference that is no version.
func TestAction(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs bash")
	}
	script, err := filepath.Abs("../../packaging/action.sh")
	if err != nil {
		t.Fatal(err)
	}
	const commit = "9507923a1b2c3d4e5f60718293a4b5c6d7e8f901"
	for _, test := range []struct{ version, ref, machine, want string }{
		{"1.2.3", "", "x86_64", "/o/r/releases/download/v1.2.3/symkit-1.2.3-linux-amd64.tar.gz cannot be fetched"},
		{"v1.2.3", "", "aarch64", "/o/r/releases/download/v1.2.3/symkit-1.2.3-linux-arm64.tar.gz cannot be fetched"},
		{"", "v1.2.3", "armv7l", "/v1.2.3/symkit-1.2.3-linux-armv7.tar.gz"},
		{"", "v1.2.3", "i686", "/v1.2.3/symkit-1.2.3-linux-386.tar.gz"},
		{"v1.2.3", commit, "s390x", "/v1.2.3/symkit-1.2.3-linux-s390x.tar.gz"},
		{"", commit, "x86_64", commit + " is no version: set the input version (with: version: 1.2.3)"},
		{"", "main", "x86_64", "main is no version: set the input version"},
		{"", "", "x86_64", "no tag is no version"},
	} {
		bin := t.TempDir()
		for name, text := range map[string]string{
			"curl":  "#!/bin/sh\nexit 22\n",
			"uname": "#!/bin/sh\n[ \"$1\" = -s ] && echo Linux || echo " + test.machine + "\n",
		} {
			err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755)
			if err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("bash", script)
		cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "RUNNER_TEMP=" + t.TempDir(), "SYMKIT_REPOSITORY=o/r",
			"SYMKIT_VERSION=" + test.version, "SYMKIT_REF=" + test.ref}
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), test.want) {
			t.Errorf("version %q, ref %q, %s: %v, %s", test.version, test.ref, test.machine, err, out)
		}
	}
}

// TestMachines: the Bazel rule and the Yocto recipe know the names of processors that differ from
// those of archives.
func TestMachines(t *testing.T) {
	entry := regexp.MustCompile(`["']([a-z0-9_]+)["']: ["']([a-z0-9]+)["']`)
	for _, name := range []string{"bazel/symkit.bzl", "yocto/symkit-native.bb"} {
		text, err := os.ReadFile("../../packaging/" + name)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, m := range entry.FindAllStringSubmatch(string(text), -1) {
			got[m[1]] = m[2]
		}
		for machine, want := range map[string]string{"x86_64": "amd64", "aarch64": "arm64", "armv7l": "armv7", "armv8l": "armv7", "i686": "386"} {
			if got[machine] != want || !slices.ContainsFunc(targets, func(t target) bool { return t.name() == "linux-"+want }) {
				t.Errorf("%s: %s is %q, want %q", name, machine, got[machine], want)
			}
		}
	}
}
