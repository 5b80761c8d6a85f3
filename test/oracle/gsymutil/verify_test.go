//go:build oracle

package gsymutil

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"symkit/test/oracle"
)

// TestOracleVerify: llvm-gsymutil --verify compares our files with the debug information at every address of every
// function, by LLVM's own reader of DWARF, and finds nothing but names that are the same with their scope, and paths that
// are the same without . and .. in them.
func TestOracleVerify(t *testing.T) {
	redirect := filepath.Join(t.TempDir(), "redirect.so")
	run(t, "gcc", "-shared", "-fPIC", "testdata/redirect.c", "-o", redirect, "-ldl")
	verified := 0
	for _, in := range inputs(t) {
		why := unverified(in.Name)
		if why != "" {
			t.Logf("%s is not verified: %s", in.Name, why)
			continue
		}
		ours := write(t, &in)
		if ours == "" {
			continue
		}
		theirs := filepath.Join(t.TempDir(), "llvm.gsym")
		cmd := exec.Command(gsymutil(t), "--convert", in.DWARFFile(), "--out-file", theirs, "--verify", "--num-threads=1")
		cmd.Env = append(os.Environ(), "LD_PRELOAD="+redirect, "FROM="+theirs, "TO="+ours)
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Logf("%s: not converted: %v", in.Name, err)
			continue
		}
		verified++
		wrong := oracle.NewDiffs(t, "errors of "+in.Name)
		labels := strings.HasPrefix(in.Name, "label-") || in.Name == "libc.so.6" // we write the names, not the labels
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "error: address 0x") && !sameName(line, labels) && !samePath(line) {
				wrong.Add("%s", strings.TrimSpace(line))
			}
		}
		wrong.Report()
	}
	t.Logf("%d files", verified)
	if verified < 50 {
		t.Errorf("only %d files", verified)
	}
}

// unverified returns why a fixture is not verified, or "".
func unverified(name string) string {
	for part, why := range map[string]string{
		"-dwz": "LLVM reads no supplementary files", "-sup": "LLVM reads no supplementary files",
		"-split": "LLVM looks for .dwo files elsewhere",
	} {
		if strings.Contains(name, part) {
			return why
		}
	}
	return ""
}

var paths = regexp.MustCompile(`DWARF path "(.*)" doesn't match GSYM path "(.*)"`)

// samePath reports whether an error is about a path of ours, in which . and .. are resolved. LLVM 14 puts a relative
// compilation directory in front of a file in that directory twice.
func samePath(line string) bool {
	m := paths.FindStringSubmatch(line)
	return m != nil && (path.Clean(m[1]) == m[2] || m[2] != "" && strings.HasSuffix(path.Clean(m[1]), "/"+m[2]))
}

var names = regexp.MustCompile(`DWARF function "(.*)" doesn't match GSYM function "(.*)"`)

// sameName reports whether an error is about a name of ours that has its scope, or that LLVM does not know: LLVM
// compares names without their scopes. With labels the error may be about any name.
func sameName(line string, labels bool) bool {
	m := names.FindStringSubmatch(line)
	return m != nil && (labels || m[1] == "<invalid>" || strings.HasSuffix(m[2], "::"+m[1]))
}
