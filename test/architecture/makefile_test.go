package architecture

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestMakeHelp: every target of the Makefile has a line of `make help`.
func TestMakeHelp(t *testing.T) {
	t.Chdir(top)
	text, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	phony := regexp.MustCompile(`(?m)^\.PHONY: (.*)$`).FindSubmatch(text)
	if phony == nil {
		t.Fatal("the Makefile has no .PHONY line")
	}
	out, err := exec.Command("make", "--no-print-directory", "help").CombinedOutput()
	if err != nil {
		t.Fatalf("make help: %v: %s", err, out)
	}
	for target := range strings.FieldsSeq(string(phony[1])) {
		line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(target) + ` +\S`)
		if !line.Match(out) {
			t.Errorf("make help has no line about %s:\n%s", target, out)
		}
	}
}
