//go:build oracle

package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"symkit/test/programtest"
	"symkit/test/uploadtest"
)

// TestOracleSentryCLI: the checker of our uploads takes those of Sentry's own program, which has nothing left to send
// after dump_syms, and the other way round.
func TestOracleSentryCLI(t *testing.T) {
	cli := programtest.Peer(t, "sentry-cli")
	dir := t.TempDir()
	programtest.Write(t, filepath.Join(dir, "app"), programtest.Fixture(t, "cxx-x86_64-gcc12-O2-dw5.elf"))
	programtest.Write(t, filepath.Join(dir, "lib"), programtest.Fixture(t, "cxx-x86_64-gcc12-O2-dw5.so"))
	ours := func(args ...string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), args, &stdout, &stderr)
		if code != 0 {
			t.Fatalf("dump_syms %q: exit code %d, %s", args, code, &stderr)
		}
	}
	store := filepath.Join(dir, "store")
	ours("-s", store, filepath.Join(dir, "app"), filepath.Join(dir, "lib"))
	t.Setenv("SYMKIT_TOKEN", "sesametoken")

	for _, opt := range []uploadtest.Options{{}, {ChunkSize: 4 << 10, RequestSize: 20 << 10, Polls: 1}, {ChunkSize: 16 << 10, NoGzip: true}} {
		opt.Token = "sesametoken"
		theirs := func(web *uploadtest.Server, paths ...string) string {
			t.Helper()
			cmd := exec.Command(cli, append([]string{"--url", web.URL, "--auth-token", opt.Token, "debug-files", "upload", "--org", "org", "--project", "app", "--wait"}, paths...)...)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("sentry-cli: %v: %s", err, out)
			}
			return string(out)
		}
		chunks := func(web *uploadtest.Server) (n int) {
			for _, r := range web.Requests() {
				if r == "POST /api/0/organizations/org/chunk-upload/" {
					n++
				}
			}
			return n
		}

		first := uploadtest.New(t, opt)
		out := theirs(first, store)
		if chunks(first) == 0 || len(first.Files()) != 2 {
			t.Fatalf("%d requests with chunks, %d files: %s", chunks(first), len(first.Files()), out)
		}
		before := chunks(first)
		ours("-s", "sentry+"+first.URL+"/org/app", store)
		if chunks(first) != before {
			t.Error("dump_syms sent chunks that sentry-cli had sent")
		}

		second := uploadtest.New(t, opt)
		ours("-s", "sentry+"+second.URL+"/org/app", store)
		before = chunks(second)
		out = theirs(second, store)
		if chunks(second) != before || before == 0 || !strings.Contains(out, "Nothing to upload") {
			t.Errorf("sentry-cli sent chunks that dump_syms had sent: %s", out)
		}

		// What sentry-cli finds in an ELF file is what dump_syms sends with --with-elf.
		third := uploadtest.New(t, opt)
		ours("-s", "sentry+"+third.URL+"/org/app", "--with-elf", filepath.Join(dir, "app"))
		before = chunks(third)
		out = theirs(third, filepath.Join(dir, "app"))
		if chunks(third) != before || !strings.Contains(out, "Nothing to upload") {
			t.Errorf("sentry-cli sent chunks of the ELF file: %s", out)
		}
	}
}
