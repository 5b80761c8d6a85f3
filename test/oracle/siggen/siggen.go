//go:build oracle

package siggen

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// version is that of the lists in walk/signature.
const version = "siggen==2.2.20241029"

// Signature is siggen's signature of a crash.
type Signature struct{ Text, Proto string }

// Signatures returns siggen's signatures of crashes in siggen's schema, or of processed
// crashes. script is the path of walk/signature/testdata/signatures.py. SYMKIT_SIGGEN names a
// directory in which siggen is installed; without it, pip installs siggen in a temporary
// directory.
func Signatures(t *testing.T, script string, crashes []any) (out []Signature) {
	t.Helper()
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, c := range crashes {
		if err := enc.Encode(c); err != nil {
			t.Fatal(err)
		}
	}

	path, err := filepath.Abs(script)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("python3", path)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+directory(t))
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("siggen: %v", err)
	}

	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var fields [2]string
		if err := json.Unmarshal(lines.Bytes(), &fields); err != nil {
			t.Fatal(err)
		}
		out = append(out, Signature{fields[0], fields[1]})
	}
	if len(out) != len(crashes) {
		t.Fatalf("siggen wrote %d signatures of %d crashes", len(out), len(crashes))
	}
	return out
}

// directory returns the directory in which siggen is installed.
func directory(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("SYMKIT_SIGGEN"); dir != "" {
		return dir
	}
	dir := t.TempDir()
	out, err := exec.Command("python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", dir, version).CombinedOutput()
	if err != nil {
		t.Fatalf("pip install %s: %v\n%s", version, err, out)
	}
	return dir
}
