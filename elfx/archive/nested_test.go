package archive

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"symkit/elfx"
	"symkit/internal/limitof"
	"symkit/limits"
	"symkit/test/elftest"
)

// TestNested: archives in archives, stored and deflated, in every order.
func TestNested(t *testing.T) {
	apk := string(zipFile(t, "-lib/libone.so", object(1), "lib/libtwo.so", object(2), "-res/text", "text"))
	lib := arMagic + arMember("three.o/", object(3)) + arMember("text/", "text")
	bundle := string(zipFile(t, "-stored.apk", apk, "deflated.apk", apk, "-lib.a", lib, "packed.a", lib, "four.so", object(4)))
	path := put(t, "all.zip", string(zipFile(t, "-bundle.zip", bundle, "packed.zip", bundle, "five.so", object(5))))
	inBundle := []string{
		"stored.apk!/lib/libone.so", "stored.apk!/lib/libtwo.so", "deflated.apk!/lib/libone.so", "deflated.apk!/lib/libtwo.so",
		"lib.a!/three.o", "packed.a!/three.o", "four.so",
	}
	var want []string
	for _, outer := range []string{"bundle.zip!/", "packed.zip!/"} {
		for _, name := range inBundle {
			want = append(want, outer+name)
		}
	}
	want = append(want, "five.so")
	got, errs := listing(path)
	if !slices.Equal(got, want) || errs != nil {
		t.Fatalf("%q, %v", got, errs)
	}
	numbers := map[string]byte{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
	for _, name := range got {
		f, err := OpenMember(path, name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := f.SectionData(".text")
		base := strings.TrimPrefix(strings.TrimSuffix(name[strings.LastIndexByte(name, '/')+1:], ".so"), "lib")
		if want := numbers[strings.TrimSuffix(base, ".o")]; len(text) != 1 || text[0] != want || err != nil {
			t.Errorf("%s: %v, %v", name, text, err)
		}
		if f.Path() != path+"!/"+name || f.Archive() != path {
			t.Errorf("%s: path %s in %s", name, f.Path(), f.Archive())
		}
		f.Close()
	}
}

// TestNestedRelease: a member of a deflated archive lies in the archive's inflated
// bytes, which other members use, too. Giving up its sections leaves them alone.
func TestNestedRelease(t *testing.T) {
	want := bytes.Repeat([]byte("line"), 1<<14)
	s := elftest.Plain(elf.ELFCLASS64, false)
	s.Sections = append(s.Sections, elftest.Sec{Name: ".debug_line", Kind: elf.SHT_PROGBITS, Data: want})
	const header = len(arMagic) + 2*arHeaderSize
	aligned := arMagic + arMember("pad/", strings.Repeat("x", 1<<16-header)) + arMember("a.o/", string(s.Build()))
	path := put(t, "x.zip", string(zipFile(t, "packed.a", aligned)))
	for range 2 {
		f, err := OpenMember(path, "packed.a!/a.o")
		if err != nil {
			t.Fatal(err)
		}
		section := f.Section(".debug_line")
		section.Discard(0, section.Size)
		section.Release()
		if data, err := section.Data(); err != nil || !bytes.Equal(data, want) {
			t.Errorf("%d bytes, %v; %d are lost", len(data), err, bytes.Count(data, []byte{0}))
		}
		f.Close()
	}
}

// What is in an archive and cannot be read is passed over; what is in the file
// itself is not. Depth and size are bounded.
func TestNestedLimits(t *testing.T) {
	broken := arMagic + arMember("a.o/", object(1)) + "garbage that is no header, but as long as one would be: 60 bytes"
	thin := thinMagic + thinMember("a.o/", 1)
	path := put(t, "x.zip", string(zipFile(t, "-broken.a", broken, "-cut.zip", zipMagic, "thin.a", thin, "-b.so", object(2))))
	if got, errs := listing(path); !slices.Equal(got, []string{"broken.a!/a.o", "b.so"}) || errs != nil {
		t.Errorf("%q, %v", got, errs)
	}
	deep := object(1)
	for range maxNesting {
		deep = arMagic + arMember("x/", deep)
	}
	if got, errs := listing(put(t, "deep.a", deep)); len(got) != 1 || errs != nil {
		t.Errorf("%q, %v", got, errs)
	}
	got, errs := listing(put(t, "deep.a", arMagic+arMember("x/", deep)))
	if got != nil || len(errs) != 1 || !strings.Contains(errs[0].Error(), "deep.a: x!/x!/x!/x: ") {
		t.Fatalf("too deep: %q, %v", got, errs)
	}
	elftest.WantError(t, errs[0], errNested, archiveHeader, len(arMagic)*4+arHeaderSize*4)
	// Each of these inflates to a megabyte; together they are too large.
	bomb := arMagic + arMember("a.o/", object(1)) + arMember("zeros/", strings.Repeat("\x00", 1<<20))
	var members []string
	for range 40 {
		members = append(members, "bomb.a", bomb)
	}
	got, errs = listing(put(t, "bombs.zip", string(zipFile(t, members...))))
	if len(got) < 10 || len(got) > 30 || len(got)+len(errs) != 40 || !errors.Is(errs[0], elfx.ErrUnpackedSize) {
		t.Errorf("%d members, %v", len(got), errs)
	}
	corrupt := zipFile(t, "x.a", broken)
	corrupt[bytes.Index(corrupt, []byte("PK\x01\x02"))+16] ^= 1 // the checksum (APPNOTE 4.3.12)
	got, errs = listing(put(t, "corrupt.zip", string(corrupt)))
	if got != nil || len(errs) != 1 || !errors.Is(errs[0], errArchive) || !strings.Contains(errs[0].Error(), "corrupt.zip: x.a: ") {
		t.Errorf("corrupt: %q, %v", got, errs)
	}
	// A stored archive that shrinks under its member.
	m := Member{offset: 10, packed: 10}
	if _, err := m.stored(make([]byte, 19)); !errors.Is(err, elfx.ErrChanged) {
		t.Error(err)
	}
}

// TestNestedOnce: opening every member of an archive in an archive inflates the
// inner one once, not once for each member.
func TestNestedOnce(t *testing.T) {
	const n, size = 100, 1 << 20
	var lib strings.Builder
	lib.WriteString(arMagic + arMember("zeros/", strings.Repeat("\x00", size)))
	for range n {
		lib.WriteString(arMember("x.o/", object(1)))
	}
	path := put(t, "x.zip", string(zipFile(t, "lib.a", lib.String())))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	opened := 0
	for m, err := range Members(path) {
		if err != nil {
			t.Fatal(err)
		}
		f, err := m.Open()
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		opened++
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; opened != n || got > n*size/4 {
		t.Errorf("%d of %d members opened with %d bytes of memory", opened, n, got)
	}
}

// TestOverlapping: members of a zip file that share their bytes are a bomb.
func TestOverlapping(t *testing.T) {
	inner := zipFile(t, "-x.so", object(1)+strings.Repeat("\x00", 1000))
	for range 3 {
		inner = repeated(t, zipFile(t, "-y.zip", string(inner)), 20)
		got, errs := listing(put(t, "x.zip", string(inner)))
		if len(got) > 3 || len(errs) == 0 || !errors.Is(errs[len(errs)-1], errOverlapping) {
			t.Errorf("%d members, %d errors, want errOverlapping as the last one", len(got), len(errs))
		}
	}
}

// repeated lists the one member of a zip file n times in its central directory
// (APPNOTE 4.3.12, 4.3.16).
func repeated(t *testing.T, file []byte, n int) []byte {
	t.Helper()
	from, to := bytes.LastIndex(file, []byte("PK\x01\x02")), bytes.LastIndex(file, []byte("PK\x05\x06"))
	if from < 0 || to < from {
		t.Fatal("no central directory")
	}
	out := append(bytes.Clone(file[:from]), bytes.Repeat(file[from:to], n)...)
	end := bytes.Clone(file[to:])
	binary.LittleEndian.PutUint16(end[8:], uint16(n))
	binary.LittleEndian.PutUint16(end[10:], uint16(n))
	binary.LittleEndian.PutUint32(end[12:], uint32(n*(to-from)))
	return append(out, end...)
}

// TestMembersLimit: an archive, with those inside it, lists so many members and no more; members
// that cannot be read and long names count, and the size of the file pays for more.
func TestMembersLimit(t *testing.T) {
	const most = 8
	few := Options{Limits: limits.Limits{}.With(limitof.Members, most)}
	ar := func(n int) string {
		var text strings.Builder
		text.WriteString(arMagic)
		for range n {
			text.WriteString(arMember("a.o/", object(1)))
		}
		return text.String()
	}
	entries := func(n int, long string) (list []string) {
		for i := range n {
			list = append(list, "-"+long+strconv.Itoa(i)+".so", object(1))
		}
		return list
	}
	for name, test := range map[string]struct {
		data string
		ok   bool
	}{
		"ar": {ar(most), true}, "more in ar": {ar(most + 1), false},
		"zip": {string(zipFile(t, entries(most, "")...)), true}, "more in zip": {string(zipFile(t, entries(most+1, "")...)), false},
		"ar in zip": {string(zipFile(t, "x.a", ar(most-1))), true}, "more in ar in zip": {string(zipFile(t, "x.a", ar(most))), false},
		"zip in zip":         {string(zipFile(t, "x.zip", string(zipFile(t, entries(most-1, "")...)))), true},
		"more in zip in zip": {string(zipFile(t, "x.zip", string(zipFile(t, entries(most, "")...)))), false},
		"several archives":   {string(zipFile(t, "x.a", ar(3), "y.a", ar(3), "z.a", ar(3))), false},
		"long names":         {string(zipFile(t, entries(4, strings.Repeat("n", 512))...)), false},
	} {
		n, exceeded := 0, false
		for _, err := range few.Members(put(t, "x", test.data)) {
			if err == nil {
				n++
			}
			exceeded = exceeded || errors.Is(err, limits.ErrExceeded)
		}
		if exceeded == test.ok || n > most || test.ok && n < most-1 {
			t.Errorf("%s: %d members, above the limit: %v", name, n, exceeded)
		}
	}
}
