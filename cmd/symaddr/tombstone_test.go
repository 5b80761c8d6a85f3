package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/test/programtest"
)

const tombstones = "../../walk/tombstone/testdata"

// TestTombstones: the frames of tombstones have places instead of addresses, where the line has a build id, and where the
// file is given.
func TestTombstones(t *testing.T) {
	dir := programtest.TombstoneFiles(t)
	files := map[string]string{ // of lines without build ids
		"03-arm-thumb.txt": "thumb", "04-arm-kitkat.txt": "arm", "07-arm-frames.log": "arm", "15-studio-pie.txt": "i686", "18-eclipse-markdown.txt": "arm",
	}
	entries, err := os.ReadDir(tombstones)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := e.Name()
		if ext := filepath.Ext(name); ext != ".txt" && ext != ".log" {
			continue
		}
		var args []string
		if files[name] != "" {
			args = []string{"../../testdata/elf/cxx-" + files[name] + "-gcc12-O2-dw5.elf"}
		}
		text, err := os.ReadFile(filepath.Join(tombstones, name))
		if err != nil {
			t.Fatal(err)
		}
		in := string(text)
		if args != nil { // lines without build ids are of FILE by its name
			for _, lib := range []string{"libgame.so", "libold.so", "libflutter.so", "libcocos2dcpp.so"} {
				in = strings.ReplaceAll(in, lib, filepath.Base(args[0]))
			}
		}
		got := runWith(t, "symaddr", in, append([]string{"--debug-dir", dir, "--basenames"}, args...)...)
		var frames []string
		for line := range strings.Lines(got.stdout) {
			if _, frame, ok := strings.Cut(line, "#0"); ok && len(frame) > 2 && strings.ContainsRune(" 0123456789", rune(frame[0])) {
				frames = append(frames, "#0"+frame)
			}
		}
		places := strings.Join(frames, "")
		golden := filepath.Join(tombstones, strings.TrimSuffix(name, filepath.Ext(name))+".places")
		want, err := os.ReadFile(golden)
		if os.Getenv("UPDATE") != "" {
			err, want = os.WriteFile(golden, []byte(places), 0o666), []byte(places)
		}
		if err != nil || places != string(want) || got.code != 0 || got.stderr != "" {
			t.Errorf("%s: %v, %d, %s\n%s", name, err, got.code, got.stderr, places)
		}
	}
}

// TestInsideAPK: a library in an APK, at the path in a log below a sysroot, in a directory of --symbols, and as FILE.
func TestInsideAPK(t *testing.T) {
	const apk = "../../testdata/apk/base.apk"
	const place = "crash at apklib.cc:21:34 (inlined by) two::Engine::step(int (*)(int), int) at apklib.cc:29:45"
	dir := t.TempDir()
	err := os.MkdirAll(filepath.Join(dir, "data/app"), 0o777)
	if err == nil {
		err = os.Link(apk, filepath.Join(dir, "data/app/base.apk"))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		flags, line string
		right       bool
	}{
		{"--sysroot=" + dir, "#00 pc 000000000000403a  /data/app/base.apk (offset 0xe000)", true},
		{"--sysroot=" + dir, "#00 pc 000000000000403a  /data/app/base.apk!libtwo.so (offset 0xe000) (enter+3)", true},
		{"--sysroot=" + dir, "#00 pc 000000000000403a  /data/app/base.apk!libtwo.so", true},
		{"--sysroot=" + dir, "#00 pc 000000000000403a  /data/app/base.apk (offset 0xd000)", false},
		{"--sysroot=" + dir, "#00 pc 000000000000403a  /data/app/base.apk (offset 0xe000) (BuildId: 0badcafe)", false},
		{"--symbols=" + filepath.Dir(apk), "#00 pc 000000000000403a  /data/app/~~x==/y-z==/base.apk (offset 0xe000)", true},
		{"--symbols=" + apk, "#00 pc 000000000000403a  /data/app/~~x==/y-z==/base.apk (offset 0xe000)", true},
	} {
		want := tt.line
		if tt.right {
			want = "#00 " + place
		}
		got := runWith(t, "symaddr", tt.line+"\n", "--basenames", tt.flags)
		if got != (ran{0, want + "\n", ""}) {
			t.Errorf("%s %s: %+v", tt.flags, tt.line, got)
		}
	}
	got := runWith(t, "symaddr", "", "--basenames", "--no-inlines", apk+"!/lib/x86_64/libtwo.so", "0x403a")
	if got != (ran{0, "0x403a: two::Engine::step(int (*)(int), int) at apklib.cc:21:34\n", ""}) {
		t.Errorf("%+v", got)
	}
}
