//go:build oracle

package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"symkit/elfx"
	"symkit/test/programtest"
)

// apkFixtures makes the fixtures of scripts/fixtures-apk.sh --all and returns their directory. The files are no longer
// where the program ran.
func apkFixtures(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("../../.ci/install", "zipalign", "aapt", "zip", "gdb", "elfutils",
		"qemu-user", "g++-aarch64-linux-gnu", "g++-arm-linux-gnueabihf").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	dir := t.TempDir()
	out, err = exec.Command("../../scripts/fixtures-apk.sh", "--all", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const ran = "/tmp/symkit-apk"
	err = os.Rename(ran, filepath.Join(dir, "ran"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := elfx.Open(filepath.Join(dir, "apkload"))
	if err != nil {
		t.Fatal(err)
	}
	id := hex.EncodeToString(f.BuildID())
	f.Close()
	at := filepath.Join(dir, "ids", ".build-id", id[:2])
	err = os.MkdirAll(at, 0o777)
	if err == nil {
		err = os.Symlink(filepath.Join(dir, "apkload"), filepath.Join(at, id[2:]))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// frameLine is a line of stackwalk --brief: module, function, place.
var frameLine = regexp.MustCompile(`(?m)^ +\d+  (\S+)!(.*?)(?: \+ 0x[0-9a-f]+)?(?: \[.*\])?(  \(inlined\))?$`)

// apkStack returns the frames of a dump up to main.
func apkStack(t *testing.T, dir string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(t.Context(), append([]string{"--brief", "--debug-dir", filepath.Join(dir, "ids")}, args...), &out, &errs)
	if code != 0 {
		t.Fatalf("%q: %d\n%s", args, code, errs.String())
	}
	text, _, ok := strings.Cut(out.String(), "!main ")
	if !ok {
		t.Errorf("%q: no frame of main:\n%s", args, out.String())
	}
	_, text, _ = strings.Cut(text, "(crashed)\n")
	return text
}

// TestOracleAPK: the stack of a process whose libraries were mapped from inside an APK is that of the process that mapped
// the same libraries as files of their own, whatever the archive is that is at hand, and has the functions that eu-stack
// finds in the latter.
func TestOracleAPK(t *testing.T) {
	dir := apkFixtures(t)
	path := func(name string) string { return filepath.Join(dir, name) }

	// The twin's libraries are at their path below the sysroot.
	root := path("root/tmp/symkit-apk")
	err := os.MkdirAll(root, 0o777)
	if err == nil {
		err = os.Symlink(path("full"), filepath.Join(root, "full"))
	}
	if err != nil {
		t.Fatal(err)
	}
	want := apkStack(t, dir, "--sysroot", path("root"), path("twin.core"))

	// eu-stack needs the files at the paths of the core.
	err = os.Rename(path("ran"), "/tmp/symkit-apk")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll("/tmp/symkit-apk")
	text, err := exec.Command("eu-stack", "--core="+path("twin.core"), "-e", path("apkload"), "-i").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if err := os.Rename("/tmp/symkit-apk", path("ran")); err != nil {
		t.Fatal(err)
	}
	var theirs, ours []string
	for _, m := range regexp.MustCompile(`(?m)^#\d+ +0x[0-9a-f]+ (.*?)$`).FindAllStringSubmatch(string(text), -1) {
		theirs = append(theirs, strings.TrimPrefix(m[1], "two::")) // of an inlined call eu-stack has the plain name
	}
	for _, m := range frameLine.FindAllStringSubmatch(want, -1) {
		ours = append(ours, strings.TrimPrefix(m[2], "two::"))
	}
	if len(theirs) < len(ours) || len(ours) != 9 || fmt.Sprint(theirs[:len(ours)]) != fmt.Sprint(ours) {
		t.Errorf("eu-stack: %q\nstackwalk: %q", theirs, ours)
	}

	for _, tt := range []struct{ core, flag, archive string }{
		{"apk.core", "--symbols", "base.apk"}, {"apk.core", "--exe", "base.apk"}, {"gcore.core", "--symbols", "base.apk"},
		{"apk.core", "--symbols", "sets/app.apks"}, {"apk.core", "--symbols", "sets/app.xapk"}, {"apk.core", "--symbols", "sets"},
		{"apk.core", "--symbols", "bundle"}, {"apk.core", "--symbols", "old"}, {"gcore.core", "--symbols", "bundle/app.aab"},
		{"stripped.core", "--symbols", "stripped"}, {"stripped.core", "--symbols", "bundle"}, {"stripped.core", "--debug-dir", "stripped"},
	} {
		got := apkStack(t, dir, tt.flag, path(tt.archive), path(tt.core))
		if got != want {
			t.Errorf("%s with %s:\n%s", tt.core, tt.archive, got)
		}

		// The minidump of the core has the names of the members.
		dump := path("dump.dmp")
		apkStack(t, dir, tt.flag, path(tt.archive), "--minidump", dump, path(tt.core))
		got = apkStack(t, dir, tt.flag, path(tt.archive), dump)
		if got != want {
			t.Errorf("minidump of %s with %s:\n%s", tt.core, tt.archive, got)
		}
	}
}

// TestOracleAPKMachines: the same of AArch64 and of ARM, whose libraries have DWARF's unwind tables and ARM's; the cores
// are qemu's, with the mappings added, and the minidumps those that stackwalk makes of them.
func TestOracleAPKMachines(t *testing.T) {
	dir := apkFixtures(t)
	for _, cpu := range []string{"aarch64", "arm"} {
		path := func(name string) string { return filepath.Join(dir, cpu, name) }
		var want string
		for _, name := range []string{"twin", "apk"} {
			core, dump := path(name+".mapped"), path(name+".dmp")
			addMappings(t, path(name+".core"), path(name+".maps"), core)
			got := apkStack(t, dir, "--exe", path("apkload"), "--symbols", path("base.apk"), "--minidump", dump, core)
			if want == "" {
				want = got
			}
			if got != want || len(frameLine.FindAllString(got, -1)) != 9 || strings.Count(got, "apklib.cc") != 7 {
				t.Errorf("%s, %s:\n%s", cpu, name, got)
			}
			got = apkStack(t, dir, "--exe", path("apkload"), "--symbols", path("base.apk"), dump)
			if got != want {
				t.Errorf("minidump of %s, %s:\n%s", cpu, name, got)
			}
		}
	}
}

// addMappings writes a core with a note of mappings (NT_FILE), those of a copy of /proc/PID/maps.
func addMappings(t *testing.T, core, maps, out string) {
	t.Helper()
	data, err := os.ReadFile(core)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(maps)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	w := &coreWriter{order: binary.LittleEndian, wide: f.Class == elf.ELFCLASS64}
	var paths []byte
	files := regexp.MustCompile(`(?m)^([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ \d+ +(/.*)$`).FindAllStringSubmatch(string(text), -1)
	w.word(uint64(len(files)), pageSize)
	for _, m := range files {
		for i, unit := range []uint64{1, 1, pageSize} {
			v, _ := strconv.ParseUint(m[i+1], 16, 64)
			w.word(v / unit)
		}
		paths = append(append(paths, m[4]...), 0)
	}
	desc := append(w.out, paths...)
	const ntFile = 0x46494c45
	note := &coreWriter{order: w.order, wide: w.wide}
	note.note(ntFile, desc)

	// The notes move to the end of the file.
	at := slices.IndexFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_NOTE })
	notes := f.Progs[at]
	moved := append(bytes.Clone(data[notes.Off:][:notes.Filesz]), note.out...)
	if w.wide {
		p := data[binary.LittleEndian.Uint64(data[32:])+uint64(at)*56:]
		binary.LittleEndian.PutUint64(p[8:], uint64(len(data)))
		binary.LittleEndian.PutUint64(p[32:], uint64(len(moved)))
	} else {
		p := data[binary.LittleEndian.Uint32(data[28:])+uint32(at)*32:]
		binary.LittleEndian.PutUint32(p[4:], uint32(len(data)))
		binary.LittleEndian.PutUint32(p[16:], uint32(len(moved)))
	}
	err = os.WriteFile(out, append(data, moved...), 0o666)
	if err != nil {
		t.Fatal(err)
	}
}

// TestOracleAPKMinidump: rust-minidump's walker, with symbols that dump_syms makes of the APK, finds in the minidump the
// frames that it finds in the twin's.
func TestOracleAPKMinidump(t *testing.T) {
	walker := programtest.Peer(t, "minidump-stackwalk")
	dir := apkFixtures(t)
	path := func(name string) string { return filepath.Join(dir, name) }
	program := path("dump_syms")
	out, err := exec.Command("go", "build", "-pgo=off", "-o", program, "../dump_syms").CombinedOutput()
	if err == nil {
		out, err = exec.Command(program, "--inlines", "--store", path("store"), path("base.apk"), path("apkload")).CombinedOutput()
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text := func(core, archive string) string {
		dump := path(core + ".dmp")
		apkStack(t, dir, "--symbols", path(archive), "--minidump", dump, path(core))
		out, err := exec.Command(walker, "--symbols-path", path("store"), dump).Output()
		if err != nil {
			t.Fatal(err)
		}
		_, stack, _ := strings.Cut(string(out), "(crashed)")
		stack, _, ok := strings.Cut(stack, "apkload!main")
		if !ok {
			t.Errorf("%s: no frame of main\n%s", core, out)
		}
		var frames []string
		for _, m := range regexp.MustCompile(`(?m)^ *\d+  (.*)$`).FindAllStringSubmatch(stack, -1) {
			if m[1] != "" { // the frame of main, which was cut off
				frames = append(frames, m[1])
			}
		}
		return strings.Join(frames, "\n")
	}
	want, got := text("twin.core", "full"), text("apk.core", "base.apk")
	if got != want || strings.Count(got, "\n") != 8 {
		t.Errorf("twin:\n%s\nAPK:\n%s", want, got)
	}
}
