package archive

import (
	"archive/zip"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/elfx"
	"symkit/internal/bounds"
	"symkit/limits"
	"symkit/located"
	"symkit/test/elftest"
)

// arMember is one member as ar writes it.
func arMember(name string, data string) string {
	header := fmt.Sprintf("%-16s%-12d%-6d%-6d%-8o%-10d`\n", name, 0, 0, 0, 0o644, len(data))
	if len(data)%2 == 1 {
		data += "\n"
	}
	return header + data
}

func object(id byte) string {
	s := elftest.Spec{Kind: elf.ET_REL, Sections: []elftest.Sec{{Name: ".text", Kind: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC, Data: []byte{id}}}}
	return string(s.Build())
}

// put writes a file into a directory of the test.
func put(t testing.TB, name, data string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// listing renders what Members yields.
func listing(path string) (names []string, errs []error) {
	for m, err := range Members(path) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		names = append(names, m.Name)
	}
	return names, errs
}

// GNU's and BSD's archives, long names, symbol tables, members of odd sizes and
// such that are no ELF files.
func TestMembersAr(t *testing.T) {
	long := "a_name_of_more_than_sixteen_bytes.o"
	gnu := arMagic + arMember("/", "\x00\x00\x00\x00") + arMember("//", long+"/\nother_long_name_here.o/\n") +
		arMember("a.o/", object(1)) + arMember("/0", object(2)) + arMember("README/", "text") +
		arMember(fmt.Sprintf("/%d", len(long)+2), object(3)+"x") + arMember("with space.o/", object(4))
	bsd := arMagic + arMember("__.SYMDEF", "\x00\x00\x00\x00") + arMember("a.o", object(1)) +
		arMember("#1/36", long+"\x00"+object(2)) + arMember("#1/20", "other_long_name.o\x00\x00\x00"+object(3))
	for _, test := range []struct {
		name, data string
		want       []string
	}{
		{"gnu", gnu, []string{"a.o", long, "other_long_name_here.o", "with space.o"}},
		{"bsd", bsd, []string{"a.o", long, "other_long_name.o"}},
		{"64-bit symbol table", arMagic + arMember("/SYM64/", "12345678") + arMember("a.o/", object(1)), []string{"a.o"}},
		{"last padding missing", strings.TrimSuffix(arMagic+arMember("a.o/", object(1)+"x"), "\n"), []string{"a.o"}},
		{"empty", arMagic, nil},
	} {
		path := put(t, "lib.a", test.data)
		got, errs := listing(path)
		if !slices.Equal(got, test.want) || errs != nil {
			t.Errorf("%s: %q, %v", test.name, got, errs)
		}
		for i, name := range test.want {
			f, err := OpenMember(path, name)
			if err != nil {
				t.Error(err)
				continue
			}
			if text, err := f.SectionData(".text"); len(text) != 1 || int(text[0]) != i+1 && len(test.want) > 1 || err != nil {
				t.Errorf("%s: %s: %v, %v", test.name, name, text, err)
			}
			if f.Path() != path+"!/"+name || f.Archive() != path || f.Info() != nil {
				t.Errorf("path %s in %s", f.Path(), f.Archive())
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// thinMember is the header of a thin archive's member of the given size.
func thinMember(field string, size int) string {
	return strings.Replace(arMember(field, ""), "0         `", fmt.Sprintf("%-10d`", size), 1)
}

// TestMembersThin: the files are beside the archive, or elsewhere; what is no
// ELF file is passed over, what is missing is an error with its name.
func TestMembersThin(t *testing.T) {
	outside := put(t, "o.o", object(3))
	long := "dir/a_name_that_is_long.o"
	names := long + "/\n" + outside + "/\n"
	path := put(t, "lib.a", thinMagic+arMember("/", "\x00\x00\x00\x00")+arMember("//", names)+
		thinMember("a.o/", 101)+thinMember("/0", 102)+thinMember("text/", 4)+thinMember(fmt.Sprintf("/%d", len(long)+2), 103)+thinMember("gone.o/", 1))
	dir := filepath.Dir(path)
	elftest.Write(t, filepath.Join(dir, "a.o"), []byte(object(1)))
	elftest.Write(t, filepath.Join(dir, long), []byte(object(2)))
	elftest.Write(t, filepath.Join(dir, "text"), []byte("text"))
	got, errs := listing(path)
	if !slices.Equal(got, []string{"a.o", long, outside}) || len(errs) != 1 || !errors.Is(errs[0], fs.ErrNotExist) || !strings.HasPrefix(errs[0].Error(), path+": gone.o: ") {
		t.Fatalf("%q, %v", got, errs)
	}
	for i, name := range got {
		f, err := OpenMember(path, name)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := f.SectionData(".text"); len(text) != 1 || int(text[0]) != i+1 || err != nil || f.Archive() != "" {
			t.Errorf("%s: %v, %v", name, text, err)
		}
		if want := map[bool]string{true: name, false: filepath.Join(dir, name)}[filepath.IsAbs(name)]; f.Path() != want {
			t.Errorf("%s: path %s", name, f.Path())
		}
		f.Close()
	}
}

func TestMembersArErrors(t *testing.T) {
	first := arMagic + arMember("a.o/", object(1))
	n := len(first)
	for _, test := range []struct {
		name, data string
		err        error
		at         int
	}{
		{"other file", "\x7fELF", ErrNotArchive, 0},
		{"empty file", "", ErrNotArchive, 0},
		{"an archive's member in a thin one", thinMagic + arMember("//", "x.a/\n") + thinMember("/0:8", 100), errThin, len(thinMagic) + arHeaderSize + 6},
		{"thin, no name", thinMagic + thinMember("/0", 100), errArchive, len(thinMagic)},
		{"thin, header cut", thinMagic + thinMember("a.o/", 100)[:59], located.ErrTruncated, len(thinMagic)},
		{"header cut", first + arMember("b.o/", "")[:59], located.ErrTruncated, n},
		{"end of header", first + strings.Replace(arMember("b.o/", ""), "`", "'", 1), errArchive, n},
		{"size no number", first + strings.Replace(arMember("b.o/", "12"), "2         `", "0x2       `", 1), errArchive, n},
		{"negative size", first + strings.Replace(arMember("b.o/", "12"), "2         `", "-2        `", 1), errArchive, n},
		{"member cut", first + arMember("b.o/", object(2))[:100], located.ErrTruncated, n + arHeaderSize},
		{"no name", first + arMember("", object(2)), errArchive, n},
		{"long name without a table", first + arMember("/1", object(2)), errArchive, n},
		{"long name outside the table", first + arMember("//", "x/\n") + arMember("/9", object(2)), errArchive, n + arHeaderSize + 4},
		{"long name without an end", first + arMember("//", "xxxx") + arMember("/0", object(2)), errArchive, n + arHeaderSize + 4},
		{"long name no number", first + arMember("/x", object(2)), errArchive, n},
		{"BSD name no number", first + arMember("#1/x", object(2)), errArchive, n},
		{"BSD name too long", first + arMember("#1/5000", strings.Repeat("x", 6000)), errArchive, n},
		{"BSD name longer than the member", first + arMember("#1/50", "x"), errArchive, n},
		{"BSD name empty", first + arMember("#1/2", "\x00\x00"), errArchive, n},
	} {
		path := put(t, "lib.a", test.data)
		names, errs := listing(path)
		if len(errs) != 1 || strings.HasPrefix(test.data, first) != (len(names) == 1) {
			t.Errorf("%s: %q, %v", test.name, names, errs)
			continue
		}
		t.Log(test.name)
		elftest.WantError(t, errs[0], test.err, archiveHeader, test.at)
		if !strings.HasPrefix(errs[0].Error(), path+": archive+0x") {
			t.Error(errs[0])
		}
		// What comes before the damage can be opened, what does not is lost to it.
		if _, err := OpenMember(path, "z.o"); !errors.Is(err, test.err) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	for range Members(put(t, "lib.a", first)) {
		break // the caller may stop before the last member
	}
}

func TestOpenMemberErrors(t *testing.T) {
	path := put(t, "lib.a", arMagic+arMember("a.o/", object(1))+arMember("a.o/", object(2))+arMember("text/", "text")+arMember("bad/", elf.ELFMAG))
	for name, want := range map[string]error{"a.o": errAmbiguous, "text": ErrNoMember, "none": ErrNoMember, "bad": located.ErrTruncated} {
		_, err := OpenMember(path, name)
		if !errors.Is(err, want) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := OpenMember(filepath.Join(t.TempDir(), "none"), "a"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	// The archive becomes another one between Members and Open.
	for m, err := range Members(path) {
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, 70); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Open(); !errors.Is(err, elfx.ErrChanged) {
			t.Errorf("changed: %v", err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Open(); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("gone: %v", err)
		}
		break
	}
}

// zipFile makes a zip file; a name that begins with "-" is stored.
func zipFile(t testing.TB, members ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(members); i += 2 {
		h := zip.FileHeader{Name: strings.TrimPrefix(members[i], "-"), Method: zip.Deflate}
		if h.Name != members[i] {
			h.Method = zip.Store
		}
		e, err := w.CreateHeader(&h)
		if err == nil {
			_, err = e.Write([]byte(members[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestMembersZip(t *testing.T) {
	data := zipFile(t, "-lib/arm64-v8a/libone.so", object(1), "lib/x86/libtwo.so", object(2), "-res/text", "text", "classes.dex", "dex\n035", "-empty", "")
	path := put(t, "app.apk", string(data))
	names, errs := listing(path)
	if want := []string{"lib/arm64-v8a/libone.so", "lib/x86/libtwo.so"}; !slices.Equal(names, want) || errs != nil {
		t.Fatalf("%q, %v", names, errs)
	}
	for i, name := range names {
		f, err := OpenMember(path, name)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := f.SectionData(".text"); len(text) != 1 || int(text[0]) != i+1 || err != nil {
			t.Errorf("%s: %v, %v", name, text, err)
		}
		if f.Path() != path+"!/"+name || f.Size() != len(object(1)) {
			t.Errorf("%s: %d bytes", f.Path(), f.Size())
		}
		f.Close()
	}
}

func TestMembersZipErrors(t *testing.T) {
	packed := func(method uint16, flags uint16, size uint64) string {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		body := []byte(object(1))
		h := zip.FileHeader{Name: "a.so", Method: method, Flags: flags, CompressedSize64: uint64(len(body)), UncompressedSize64: size, CRC32: 1}
		if method == zip.Deflate {
			body = zipFile(t, "x", object(1))
			n := binary.LittleEndian.Uint16(body[26:]) + binary.LittleEndian.Uint16(body[28:])
			body = body[30+n:]
			h.CompressedSize64 = uint64(bytes.Index(body, []byte("PK\x07\x08")))
			body = body[:h.CompressedSize64]
		}
		e, err := w.CreateRaw(&h)
		if err == nil {
			_, err = e.Write(body)
		}
		if err != nil {
			t.Fatal(err)
		}
		w.Close()
		return b.String()
	}
	size := uint64(len(object(1)))
	const start = 30 + 4 // of the only member
	for _, test := range []struct {
		name, data string
		err        error
		at         int
	}{
		{"no directory", zipMagic + "x", errArchive, 0},
		{"method bzip2", packed(12, 0, size), errMemberPacked, start},
		{"encrypted", packed(zip.Store, zipEncrypted, size), errMemberPacked, start},
		// The first local header is the magic number of the file.
		{"no local header", string(secondHeaderLost(zipFile(t, "-a", "text", "-b", object(1)))), errArchive, 0},
	} {
		_, errs := listing(put(t, "a.zip", test.data))
		if len(errs) != 1 {
			t.Errorf("%s: %v", test.name, errs)
			continue
		}
		t.Log(test.name)
		elftest.WantError(t, errs[0], test.err, archiveHeader, test.at)
	}
	for _, test := range []struct {
		name string
		size uint64
		err  error
	}{{"wrong checksum", size, errArchive}, {"longer", size - 1, errArchive}, {"shorter", size + 1, errArchive}, {"unbelievable", 1 << 40, elfx.ErrUnpackedSize}} {
		_, err := OpenMember(put(t, "a.zip", packed(zip.Deflate, 0, test.size)), "a.so")
		t.Log(test.name)
		elftest.WantError(t, err, test.err, archiveHeader, start)
	}
}

func secondHeaderLost(data []byte) []byte {
	at := bytes.LastIndex(data, []byte(zipMagic))
	data[at] = 'x'
	return data
}

func TestIs(t *testing.T) {
	for prefix, want := range map[string]bool{"!<arch>\n": true, "!<thin>\nx": true, "PK\x03\x04": true, "\x7fELF": false, "": false} {
		if Is([]byte(prefix)) != want {
			t.Errorf("%q", prefix)
		}
	}
}

// FuzzMembers looks into anything; members lie in the archive, damage has a
// place.
func FuzzMembers(f *testing.F) {
	f.Add([]byte(arMagic + arMember("//", "long/\n") + arMember("/0", object(1)) + arMember("#1/4", "abcd"+object(2))))
	f.Add([]byte(arMagic + arMember("//", "long/\n") + arMember("/4", object(1)))) // a name of a slash alone
	f.Add([]byte(thinMagic + arMember("//", "long/\n") + thinMember("/0", 7) + thinMember("/0:8", 7) + thinMember("a/", 9)))
	f.Add(zipFile(f, "-a", object(1), "b", object(2)))
	f.Add(zipFile(f, "-a", string(zipFile(f, "b", object(1))), "c", arMagic+arMember("d/", object(2))))
	f.Fuzz(func(t *testing.T, data []byte) {
		members, err := scanArchive(data, limits.Limits{})
		if err != nil {
			elftest.WantPlace(t, err, len(data))
		}
		for _, m := range members {
			if m.err != nil {
				elftest.WantPlace(t, m.err, int(bounds.Inflated(limits.Limits{}, uint64(len(data)))))
				continue
			}
			data, err := m.container(data)
			if err != nil {
				t.Fatalf("%+v: %v", m, err)
			}
			if m.Name == "" || m.offset+m.packed > uint64(len(data)) || !m.deflated && !m.external && m.Size != m.packed {
				t.Fatalf("%+v", m)
			}
			if m.deflated {
				buffer, err := m.inflate(data[m.offset:][:m.packed])
				if err != nil {
					elftest.WantPlace(t, err, len(data))
				}
				buffer.Release()
			}
		}
	})
}
