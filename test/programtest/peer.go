package programtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Peer returns the path of a program that scripts/peers.sh installs. A test of a program that the script could not
// install is skipped with the reason that the script has noted; a program that is missing without a reason is an error.
func Peer(t testing.TB, name string) string {
	t.Helper()
	peers := os.Getenv("SYMKIT_PEERS")
	path := filepath.Join(peers, name)
	_, err := os.Stat(path)
	if err == nil {
		return path
	}
	noted, err := os.ReadFile(filepath.Join(peers, "SKIPPED"))
	if err != nil {
		t.Fatalf("run scripts/peers.sh, and set SYMKIT_PEERS to where it puts programs: %v", err)
	}
	for line := range strings.Lines(string(noted)) {
		if strings.HasPrefix(line, name+": ") {
			t.Skip(strings.TrimSpace(line))
		}
	}
	t.Fatalf("%s: no such program, and scripts/peers.sh gave no reason", path)
	return ""
}
