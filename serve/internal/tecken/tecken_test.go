package tecken

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// zipOf makes a zip file of names, whose contents are the names.
func zipOf(t testing.TB, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range names {
		w, err := z.Create(name)
		if err == nil && !strings.HasSuffix(name, "/") {
			_, err = w.Write([]byte(name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	err := z.Close()
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestMembers: the names of members decide, by Tecken's rule.
func TestMembers(t *testing.T) {
	for names, want := range map[string]string{
		"a.pdb/ABC0/a.sym":                       "a.pdb/ABC0/a.sym",
		"a/ab/a.sym b/1/b.sym":                   "a/AB/a.sym b/1/b.sym",
		"x-symbols.txt a/ .DS_Store a/.DS_Store": "",
		"a/ab/c/d":                               "error: Unrecognized file pattern.",
		"a/x-symbols.txt":                        "error: Unrecognized file pattern.",
		"a/xy/a.sym":                             "error: (First unrecognized pattern was 'a/xy/a.sym')",
		"/a/ab/x a/ab/x":                         "error: Unrecognized",
		"../ab/x":                                "error: Unrecognized",
		"a/ab/..":                                "error: Unrecognized",
		"a\x01/ab/x":                             `error: 'a\x01/ab/x'`,
		"é/ab/x":                                 "error: Unrecognized",
		"a#b/ab/x":                               "error: Unrecognized",
		"a/ab/x a/ab/x":                          "a/AB/x",
		strings.Repeat("a", 251) + "/ab/x":       "error: Unrecognized",
		`a\b/ab/x`:                               "error: Unrecognized",
		"libstdc++.so.6/AB0/libstdc++.so.6.sym x": "error: Unrecognized",
	} {
		data := zipOf(t, strings.Fields(names)...)
		members, err := Members(bytes.NewReader(data), int64(len(data)))
		var got []string
		for _, m := range members {
			got = append(got, m.Key())
		}
		text := strings.Join(got, " ")
		if err != nil {
			text = "error: " + err.Error()
		}
		if expected, ok := strings.CutPrefix(want, "error: "); ok && (err == nil || !strings.Contains(text, expected)) || !ok && text != want {
			t.Errorf("%.80q: %s, want %s", names, text, want)
		}
	}
}

// TestDirectory: a zip file that is all directory takes little memory.
func TestDirectory(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := range 40000 {
		_, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("%s/AB/%d", strings.Repeat("a", 500), i)})
		if err != nil {
			t.Fatal(err)
		}
	}
	err := z.Close()
	if err != nil {
		t.Fatal(err)
	}
	_, err = Members(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err == nil || !strings.Contains(err.Error(), "the directory of the zip file is larger than") {
		t.Error(err)
	}
}

// FuzzMembers: what is kept has a name that leads nowhere else.
func FuzzMembers(f *testing.F) {
	f.Add(zipOf(f, "a/AB/a.sym", "x-symbols.txt"))
	f.Add(zipOf(f, "../AB/a.sym"))
	big := zipOf(f, "a/AB/a.sym")
	at := bytes.LastIndex(big, []byte("PK\x05\x06"))
	binary.LittleEndian.PutUint16(big[at+10:], 0xffff)
	f.Add(big)
	f.Fuzz(func(t *testing.T, data []byte) {
		members, err := Members(bytes.NewReader(data), int64(len(data)))
		if err != nil && (members != nil || strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' })) {
			t.Fatalf("%d members, %v", len(members), err)
		}
		for _, m := range members {
			if strings.Count(m.Key(), "/") != 2 || !IsKey(m.Name, m.ID, m.File) || strings.Contains("/"+m.Key()+"/", "/../") {
				t.Fatalf("%q", m.Key())
			}
		}
	})
}

// FuzzFiles: the parts of a file's key are its key, or the file is wrong.
func FuzzFiles(f *testing.F) {
	f.Add([]byte(`{"files":[{"key":"a/AB/a.sym","size":3,"md5_hash":"0123456789abcdef0123456789abcdef"}]}`))
	f.Add([]byte(`{"files":[{"key":"a/../a","size":-3}]}`))
	f.Add([]byte(`{"files":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := Files(data)
		if err != nil && files != nil || len(files) > maxFiles {
			t.Fatalf("%d files, %v", len(files), err)
		}
		for _, file := range files {
			if file.Wrong == "" && (!IsKey(file.Name, file.ID, file.Base) || file.Size < 0 || len(file.MD5) != 32 ||
				!strings.EqualFold(file.Name+"/"+file.ID+"/"+file.Base, file.Key)) {
				t.Fatalf("%+v", file)
			}
		}
	})
}

// TestRange: the forms of Content-Range.
func TestRange(t *testing.T) {
	for header, want := range map[string]Range{
		"bytes 0-9/20": {0, 9, true, 20}, "bytes 5-5/*": {5, 5, true, -1}, "bytes */20": {0, 0, false, 20}, "bytes */*": {0, 0, false, -1},
	} {
		got, ok := ParseRange(header)
		if !ok || got != want {
			t.Errorf("%s: %v, %v", header, got, ok)
		}
	}
	for _, header := range []string{"", "bytes", "bytes 1-0/5", "bytes 0-5/5", "bytes a-b/c", "bytes 0-1", "bytes 0/1", "bytes -1-5/9", "bytes 0-9007199254740993/*", "items 0-1/2"} {
		if got, ok := ParseRange(header); ok {
			t.Errorf("%q: %v", header, got)
		}
	}
}

// FuzzParseRange: a range is one of bytes.
func FuzzParseRange(f *testing.F) {
	f.Add("bytes 0-9/20")
	f.Add("bytes */*")
	f.Fuzz(func(t *testing.T, header string) {
		r, ok := ParseRange(header)
		if ok && (r.First < 0 || r.Last < r.First || r.Total < -1 || r.Part && r.Total >= 0 && r.Last >= r.Total) {
			t.Fatalf("%q: %+v", header, r)
		}
	})
}
