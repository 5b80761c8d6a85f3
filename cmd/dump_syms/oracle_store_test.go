//go:build oracle && linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestOracleKilled kills fifty batches.
func TestOracleKilled(t *testing.T) { killRuns(t, modules(t, 200), 50) }

func init() { programs["sandboxed"] = sandboxed }

// What a process may do below a directory, for Landlock (landlock(7)).
const (
	mayCreate = unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	mayRename = unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REFER
)

// sandboxed runs "sandboxed MODE DIR COMMAND...". MODE is what the command may do below
// DIR: "read", or "create" but neither rename nor remove. The limits hold for root, too.
func sandboxed() {
	runtime.LockOSThread()
	if err := restrict(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "sandboxed:", err)
		os.Exit(99)
	}
	path, err := exec.LookPath(os.Args[3])
	if err == nil {
		err = syscall.Exec(path, os.Args[3:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, "sandboxed:", err)
	os.Exit(99)
}

func restrict(mode, dir string) error {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: mayCreate | mayRename}
	rules, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr.Handled_access_fs), 0)
	if errno != 0 {
		return fmt.Errorf("Landlock: %w", errno)
	}
	if mode == "create" {
		d, err := os.Open(dir)
		if err != nil {
			return err
		}
		beneath := unix.LandlockPathBeneathAttr{Allowed_access: mayCreate, Parent_fd: int32(d.Fd())}
		_, _, errno = unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, rules, unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&beneath)), 0, 0, 0)
		if errno != 0 {
			return fmt.Errorf("Landlock rule: %w", errno)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, errno = unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, rules, 0, 0); errno != 0 {
		return fmt.Errorf("Landlock: %w", errno)
	}
	return nil
}

// TestOracleNoRename: a read-only store, and one where the process
// may create files but not rename them: a clear error, nothing partial.
func TestOracleNoRename(t *testing.T) {
	app := program(t)
	for _, test := range []struct {
		mode, args string // DIR stands for the directory
		there      bool   // the file is there before
		works      bool   // a file that has its name from the start needs no renaming
		message    string
	}{
		{"read", "-o DIR/app.sym", false, false, "permission denied"},
		{"read", "-o DIR/app.sym", true, false, "permission denied"},
		{"read", "-s DIR", false, false, "the store cannot be written"},
		{"read", "-s DIR/new", false, false, "permission denied"},
		{"create", "-o DIR/app.sym", false, true, ""},
		{"create", "-o DIR/app.sym", true, false, "which is whole, cannot be removed"},
		{"create", "-s DIR", false, true, ""},
	} {
		dir := t.TempDir()
		if test.there {
			if err := os.WriteFile(filepath.Join(dir, "app.sym"), []byte("before"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		args := append([]string{test.mode, dir, "dump_syms"}, strings.Fields(strings.ReplaceAll(test.args, "DIR", dir))...)
		cmd := exec.Command("sandboxed", append(args, app)...)
		out, _ := cmd.CombinedOutput()
		t.Logf("%s %s: %s", test.mode, test.args, out)
		if code := cmd.ProcessState.ExitCode(); test.works != (code == 0) || !test.works && code != 1 || !strings.Contains(string(out), test.message) {
			t.Errorf("%s %s: exit code %d, %s", test.mode, test.args, code, out)
		}
		left, err := readTree(dir)
		if err != nil {
			t.Fatal(err)
		}
		if test.there && left["app.sym"] != "before" {
			t.Errorf("%s %s: the file was %q", test.mode, test.args, left["app.sym"])
		}
		for path, text := range left {
			if whole := strings.HasSuffix(text, "\n") && strings.Contains(text, "\nSTACK CFI"); !whole && text != "before" {
				t.Errorf("%s %s: left behind: %s, %d bytes", test.mode, test.args, path, len(text))
			}
		}
	}
}
