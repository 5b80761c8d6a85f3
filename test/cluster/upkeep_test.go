package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// upkeepModules are the modules of TestUpkeep; a half of them are old.
const upkeepModules = 10000

// TestUpkeep: dump_syms --prune removes the old modules of a store, in a directory and in a bucket, while two other
// processes of dump_syms add modules and store old ones again, and while it is killed again and again. Nothing that should
// stay is lost, and in the end both stores have the same files.
func TestUpkeep(t *testing.T) {
	g := start(t)
	work := t.TempDir()
	// sources makes a directory of symbol files.
	sources := func(name string, from, to int, text string) string {
		dir := filepath.Join(work, name)
		for i := from; i < to; i++ {
			lib := fmt.Sprintf("lib%03d.so", i%400)
			path := filepath.Join(dir, fmt.Sprintf("%d", i%100), fmt.Sprintf("%d.sym", i))
			data := fmt.Sprintf("MODULE Linux x86_64 %032X0 %s\nFUNC 1000 10 0 %s\n", i+1, lib, text)
			err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(data), 0o666))
			if err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	all := sources("all", 0, upkeepModules, "f")
	added := sources("added", upkeepModules, upkeepModules+2000, "f")
	again := sources("again", upkeepModules/2-1500, upkeepModules/2, "again")

	dir := filepath.Join(work, "store")
	address := "s3://" + bucket + "/sym"
	behind := filepath.Join(g.dir, bucket, "sym")
	for _, where := range []string{dir, address} {
		out, err := dump(t, g.env(), "-s", where, all)
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		files := dir
		if where == address {
			files = behind
		}
		old := time.Now().Add(-1000 * time.Hour)
		for i := range upkeepModules / 2 {
			lib := fmt.Sprintf("lib%03d.so", i%400)
			err := os.Chtimes(filepath.Join(files, lib, fmt.Sprintf("%032X0", i+1), lib+".sym"), old, old)
			if err != nil {
				t.Fatal(err)
			}
		}

		var writers []*exec.Cmd
		var messages [2]bytes.Buffer
		for i, args := range [][]string{{"-s", where, added}, {"-s", where, "--force", again}} {
			cmd := exec.Command(filepath.Join(programs(t), "dump_syms"), args...)
			cmd.Env, cmd.Stderr = g.env(), &messages[i]
			err := cmd.Start()
			if err != nil {
				t.Fatal(err)
			}
			writers = append(writers, cmd)
		}
		ended := make(chan error)
		go func() { ended <- errors.Join(writers[0].Wait(), writers[1].Wait()) }()
		prune := []string{"-s", where, "--prune", "--keep-days", "30", "--yes"}
		kills := 0
		for working := true; working; {
			cmd := exec.Command(filepath.Join(programs(t), "dump_syms"), prune...)
			cmd.Env = g.env()
			err := cmd.Start()
			if err != nil {
				t.Fatal(err)
			}
			gone := make(chan struct{})
			go func() {
				_ = cmd.Wait()
				close(gone)
			}()
			select {
			case <-gone:
			case <-time.After(50*time.Millisecond + rand.N(1500*time.Millisecond)):
				kills++
				_ = cmd.Process.Kill() // it may have ended
				<-gone
			}
			select {
			case err := <-ended:
				if err != nil {
					t.Errorf("%s: %v: %s%s", where, err, &messages[0], &messages[1])
				}
				working = false
			default:
			}
		}
		out, err = dump(t, g.env(), prune...)
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		t.Logf("%s: killed %d times; %s", where, kills, out[max(strings.LastIndex(out, "dump_syms:"), 0):])
		out, err = dump(t, g.env(), "-s", where, "--list")
		if err != nil || !strings.Contains(out, "dump_syms: 8,500 modules") {
			t.Errorf("%v: %s", err, out)
		}
	}

	g.compare(t, "sym", dir)
	kept := tree(t, dir)
	for i := range upkeepModules + 2000 {
		lib := fmt.Sprintf("lib%03d.so", i%400)
		text, ok := kept[filepath.Join(lib, fmt.Sprintf("%032X0", i+1), lib+".sym")]
		want := i >= upkeepModules/2-1500
		if ok != want || want && i < upkeepModules/2 != strings.HasSuffix(string(text), "again\n") {
			t.Errorf("module %d: in the store %v, want %v: %q", i, ok, want, text)
		}
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			entries, _ := os.ReadDir(path)
			if len(entries) == 0 {
				t.Errorf("%s is empty", path)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
