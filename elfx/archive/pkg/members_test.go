package pkg

import (
	"errors"
	"fmt"
	"testing"

	"symkit/internal/limitof"
	"symkit/limits"
	"symkit/test/pkgtest"
)

// TestMembers: a package may have so many ELF files, further names of them, packages, and long
// names; what is more is an error, after the files within the limit.
func TestMembers(t *testing.T) {
	const most = 8
	few := limits.Limits{}.With(limitof.Members, most)
	many := func(n int, file func(name string) pkgtest.File) (list []pkgtest.File) {
		for i := range n {
			list = append(list, file(fmt.Sprintf("usr/lib/%d", i)))
		}
		return list
	}
	elf := func(name string) pkgtest.File { return pkgtest.File{Name: name, Data: content("x")} }
	text := func(name string) pkgtest.File { return pkgtest.File{Name: name, Data: []byte("text")} }
	link := func(name string) pkgtest.File { return pkgtest.File{Name: name + "-link", Link: "usr/bin/app"} }
	textLink := func(name string) pkgtest.File { return pkgtest.File{Name: name + "-link", Link: "README"} }
	broken := func(name string) pkgtest.File { return pkgtest.File{Name: name + ".deb", Data: []byte(debMagic)} }
	long := func(name string) pkgtest.File {
		return pkgtest.File{Name: fmt.Sprintf("%s/%01000d", name, 0), Data: content("x")}
	}
	app, readme := files[0], text("README")

	for name, test := range map[string]struct {
		files []pkgtest.File
		lines int // -1: the limit is exceeded
	}{
		"within":          {many(most, elf), most},
		"ELF files":       {many(most+1, elf), -1},
		"no ELF files":    {many(100, text), 0},
		"links":           {append([]pkgtest.File{app}, many(most, link)...), -1},
		"links within":    {append([]pkgtest.File{app}, many(most-1, link)...), most},
		"links to others": {append([]pkgtest.File{readme}, many(100, textLink)...), 0},
		"damaged":         {many(most+1, broken), -1},
		"long names":      {many(3, long), -1},
		"inner package":   {[]pkgtest.File{{Name: "x.deb", Data: pkgtest.Deb("xz", many(most, elf)...)}}, -1},
	} {
		for _, how := range []string{"none", "zstd"} {
			lines, err := seenKeeping(pkgtest.Compress(how, pkgtest.Tar(test.files...)), few)
			if test.lines < 0 != errors.Is(err, limits.ErrExceeded) || len(lines) > most+1 || test.lines >= 0 && (len(lines) != test.lines || err != nil) {
				t.Errorf("%s, %s: %d names, %v", name, how, len(lines), err)
			}
		}
	}

	// In a cpio archive names wait for the bytes, which come with the last name.
	if _, err := seenKeeping(pkgtest.RPM("none", true, append([]pkgtest.File{app}, many(most+1, link)...)...), few); !errors.Is(err, limits.ErrExceeded) {
		t.Errorf("names in a cpio archive: %v", err)
	}

	// The size of the package pays for more.
	data := pkgtest.Tar(many(20, elf)...)
	lines, err := seenKeeping(data, limits.Limits{})
	if len(lines) != 20 || err != nil {
		t.Errorf("%d, %v", len(lines), err)
	}
}
