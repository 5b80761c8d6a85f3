package cluster

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestPackages: dump_syms on hundreds of program and debug packages writes the store that it writes of the
// unpacked files, in at most 1.3 times the processor time and the time of decompression, and needs no more disk
// than the largest program with its debug file. The same files as packages of other kinds give the same store.
func TestPackages(t *testing.T) {
	list := packages(t, 300)
	work := t.TempDir()
	root := filepath.Join(work, "root")
	unpack(t, root, list)
	largest := largestPair(t, root)
	if largest < 8<<20 {
		t.Fatalf("the largest module has %d bytes, want 8 MiB or more", largest)
	}

	// Three rounds, of which the fastest counts: other programs use the caches of this machine, too.
	var files, packs, unpacking time.Duration
	tree1, tree2 := filepath.Join(work, "tree1"), filepath.Join(work, "tree2")
	for round := range 3 {
		fastest := func(old *time.Duration, now time.Duration) {
			if round == 0 || now < *old {
				*old = now
			}
		}
		program := filepath.Join(programs(t), "dump_syms")
		fastest(&files, timed(t, program, "--force", "-j", "1", "-s", tree1, "-R", root, "--sysroot", root))
		fastest(&packs, timed(t, program, append([]string{"--force", "-j", "1", "-s", tree2}, list...)...))
		fastest(&unpacking, decompression(t))
	}
	want := symbolFiles(t, tree1)
	if got := symbolFiles(t, tree2); len(want) < 500 || !reflect.DeepEqual(got, want) {
		t.Errorf("%d symbol files of packages differ from the %d of files", len(got), len(want))
	}
	t.Logf("%d packages, %d symbol files; processor time: files %v, packages %v, decompression %v: %.2f times", len(list), len(want),
		files, packs, unpacking, (packs-unpacking).Seconds()/files.Seconds())
	if packs > files*13/10+unpacking {
		t.Errorf("packages took %v, want at most 1.3 × %v + %v", packs, files, unpacking)
	}

	// With little memory, the files of a large module are on disk while it is dumped.
	disk := filepath.Join(work, "disk")
	used := diskUse(t, append([]string{"--memory", "24M", "-s", disk}, list...))
	t.Logf("%d bytes of temporary files; the largest program with its debug file has %d", used, largest)
	if used == 0 || used > largest {
		t.Errorf("%d bytes of temporary files, want 1 to %d", used, largest)
	}
	if !reflect.DeepEqual(symbolFiles(t, disk), want) {
		t.Error("with little memory the store differs")
	}

	// Some of the packages are enough for the other kinds.
	list = list[:120]
	few, store := filepath.Join(work, "few"), filepath.Join(work, "store")
	unpack(t, few, list)
	if out, err := dump(t, os.Environ(), append([]string{"-s", store}, list...)...); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want = symbolFiles(t, store)
	for kind, repack := range map[string]func(*testing.T, string, string) string{
		"rpm": repackRPM, "Alpine": repackAlpine, "Arch": repackArch, "tar.zst": repackTar, "OCI": repackOCI,
	} {
		dir := filepath.Join(work, kind)
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		path, store := repack(t, few, dir), filepath.Join(dir, "store")
		out, err := dump(t, os.Environ(), "-s", store, path)
		if err != nil {
			t.Errorf("%s: %v: %s", kind, err, out)
			continue
		}
		got := symbolFiles(t, store)
		if len(want) < 100 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d symbol files differ from %d", kind, len(got), len(want))
		}
		t.Logf("%s: %d symbol files", kind, len(got))
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
}

// symbolFiles returns the files of a store. It leaves out one program, which has no build id: its debug file is found
// by its path, in directories and not in packages.
func symbolFiles(t *testing.T, store string) map[string][]byte {
	t.Helper()
	files := tree(t, store)
	maps.DeleteFunc(files, func(name string, _ []byte) bool { return strings.HasPrefix(name, "hvmloader/") })
	return files
}

// decompression returns the user time that the packages take to decompress, with the reader of dump_syms.
func decompression(t *testing.T) time.Duration {
	t.Helper()
	cmd := exec.Command("go", "test", "-pgo=off", "-run", "^$", "-bench", "^BenchmarkPackages$", "-benchtime", "1x", "-cpu", "1", "./elfx/archive/pkg")
	cmd.Dir = "../.."
	out, err := cmd.CombinedOutput()
	match := regexp.MustCompile(`([0-9.]+) user-s/op`).FindSubmatch(out)
	if err != nil || match == nil {
		t.Fatalf("%v: %s", err, out)
	}
	seconds, err := strconv.ParseFloat(string(match[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(seconds * float64(time.Second))
}

// unpack unpacks Debian's packages into one directory, as on a machine where they are installed.
func unpack(t *testing.T, root string, list []string) {
	t.Helper()
	for _, path := range list {
		command(t, "dpkg-deb", "-x", path, root)
	}
}

// command runs a program that must succeed.
func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %.200q: %v: %s", name, args, err, out[max(len(out)-2000, 0):])
	}
}

// timed runs a program that must succeed and returns its user time.
func timed(t *testing.T, name string, args ...string) time.Duration {
	t.Helper()
	cmd := exec.Command(name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v: %s", name, err, stderr.Bytes()[max(stderr.Len()-2000, 0):])
	}
	return cmd.ProcessState.UserTime()
}

// largestPair returns the bytes of the largest program or library together with its debug file, by their build
// id.
func largestPair(t *testing.T, root string) (largest int64) {
	t.Helper()
	sizes := map[string]int64{}
	out, err := exec.Command("sh", "-c", `find "$1" -type f -print0 | xargs -0 file -N --no-pad -e tar -e compress`, "sh", root).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		path, about, _ := strings.Cut(strings.TrimSpace(line), ": ELF ")
		_, id, ok := strings.Cut(about, "BuildID[sha1]=")
		if !ok {
			id = path
		}
		info, err := os.Stat(path)
		if about == "" || err != nil {
			continue
		}
		id, _, _ = strings.Cut(id, ",")
		sizes[id] += info.Size()
		largest = max(largest, sizes[id])
	}
	return largest
}

// diskUse runs dump_syms and returns the most bytes that its temporary files had, which have no names.
func diskUse(t *testing.T, args []string) (most int64) {
	t.Helper()
	temp := t.TempDir()
	cmd := exec.Command(filepath.Join(programs(t), "dump_syms"), args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Fatalf("%v: %s", err, stderr.Bytes()[max(stderr.Len()-2000, 0):])
			}
			return most
		case <-time.After(time.Millisecond):
			most = max(most, openBytes(cmd.Process.Pid, temp))
		}
	}
}

// openBytes returns the bytes on disk of the files below a directory that a process has open, and of those with
// names there. A file counts once.
func openBytes(pid int, dir string) (sum int64) {
	seen := map[string]bool{}
	count := func(path, name string) {
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() && !seen[name] {
			seen[name] = true
			sum += info.Size()
		}
	}
	fds := fmt.Sprintf("/proc/%d/fd", pid)
	entries, _ := os.ReadDir(fds) // the process may have ended
	for _, e := range entries {
		name, err := os.Readlink(filepath.Join(fds, e.Name()))
		if err == nil && strings.HasPrefix(name, dir+"/") {
			count(filepath.Join(fds, e.Name()), strings.TrimSuffix(name, " (deleted)"))
		}
	}

	// A mapped file needs no descriptor.
	maps := fmt.Sprintf("/proc/%d/map_files", pid)
	entries, _ = os.ReadDir(maps)
	for _, e := range entries {
		name, err := os.Readlink(filepath.Join(maps, e.Name()))
		if err == nil && strings.HasPrefix(name, dir+"/") {
			count(filepath.Join(maps, e.Name()), strings.TrimSuffix(name, " (deleted)"))
		}
	}
	entries, _ = os.ReadDir(dir)
	for _, e := range entries {
		count(filepath.Join(dir, e.Name()), filepath.Join(dir, e.Name()))
	}
	return sum
}

// repackTar packs the files below root into a file in dir and returns its path, as all functions of this kind do.
func repackTar(t *testing.T, root, dir string) string {
	path := filepath.Join(dir, "all.tar.zst")
	command(t, "tar", "-C", root, "--zstd", "-cf", path, ".")
	return path
}

// info is the control data of an Alpine or Arch package.
const info = "pkgname = all\npkgbase = all\npkgver = 1-1\norigin = all\narch = x86_64\n"

func repackArch(t *testing.T, root, dir string) string {
	path := filepath.Join(dir, "all-1-1-x86_64.pkg.tar.zst")
	if err := os.WriteFile(filepath.Join(dir, ".PKGINFO"), []byte(info), 0o666); err != nil {
		t.Fatal(err)
	}
	command(t, "tar", "--zstd", "-cf", path, "-C", dir, ".PKGINFO", "-C", root, ".")
	return path
}

// repackAlpine writes an apk: the control data as a tar file without an end, and the files as another, each a gzip
// stream of its own.
func repackAlpine(t *testing.T, root, dir string) string {
	path := filepath.Join(dir, "all-1-r1.apk")
	var control bytes.Buffer
	packed := gzip.NewWriter(&control)
	archive := tar.NewWriter(packed)
	err := archive.WriteHeader(&tar.Header{Name: ".PKGINFO", Mode: 0o644, Size: int64(len(info))})
	if err == nil {
		_, err = archive.Write([]byte(info))
	}
	if err == nil {
		err = archive.Flush() // Close would write the end
	}
	if err == nil {
		err = packed.Close()
	}
	if err == nil {
		err = os.WriteFile(path, control.Bytes(), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	command(t, "sh", "-c", `tar -C "$1" -c . | gzip -1 >>"$2"`, "sh", root, path)
	return path
}

// repackRPM builds a package with rpmbuild, which looks for no dependencies.
func repackRPM(t *testing.T, root, dir string) string {
	spec := filepath.Join(dir, "all.spec")
	text := fmt.Sprintf(`Name: all
Version: 1
Release: 1
Summary: all
License: none
BuildArch: x86_64
AutoReqProv: no
%%define _build_id_links none
%%define __os_install_post %%{nil}
%%define debug_package %%{nil}
%%define _binary_payload w3.zstdio
%%description
All.
%%install
cp -al %s/. %%{buildroot}/
%%files
/*
`, root)
	if err := os.WriteFile(spec, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	command(t, "rpmbuild", "-bb", "--quiet", "--define", "_topdir "+dir, "--define", "_tmppath "+dir, "--define", "_rpmdir "+dir, spec)
	found, err := filepath.Glob(filepath.Join(dir, "x86_64", "*.rpm"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%q, %v", found, err)
	}
	return found[0]
}

// repackOCI writes an OCI image layout with one layer, by umoci.
func repackOCI(t *testing.T, root, dir string) string {
	path := filepath.Join(dir, "image")
	command(t, "umoci", "init", "--layout", path)
	command(t, "umoci", "new", "--image", path+":all")
	command(t, "umoci", "insert", "--image", path+":all", root, "/all")
	return path
}
