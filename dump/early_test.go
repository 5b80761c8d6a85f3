package dump

import (
	"errors"
	"fmt"
	"testing"

	"symkit/dump/dwarfx"
	"symkit/elfx"
)

const langCxx = dwarfx.Language(4)

// earlyDumper is a dumper with goroutines, and a unit that calls functions of its own,
// besides one with a plain name and one that was first met elsewhere.
func earlyDumper(t *testing.T, jobs, functions int) (d *dumper, u *unit) {
	d = &dumper{ctx: t.Context(), img: &elfx.Image{Main: new(elfx.File)}, opt: Options{Jobs: jobs}}
	d.names = newNameTable(functions)
	d.early = &earlyTexts{d: d, room: func() []byte { return nil }}
	u = &unit{Unit: new(dwarfx.Unit)}
	linkage := func(i int) *naming {
		return &naming{key: fmt.Appendf(nil, "_ZN5space5f%dEv", 1000+i), linkage: true, language: langCxx, unit: u.Unit}
	}
	plain := &naming{key: []byte("plain"), name: []byte("plain"), unit: u.Unit}
	for i, n := range []*naming{plain, linkage(functions)} {
		u.origins = append(u.origins, d.names.intern(n, originOrder(uint32(2*i), uint32(i))))
	}
	for i := range functions {
		u.origins = append(u.origins, d.names.intern(linkage(i), originOrder(2, uint32(2+i))))
	}
	d.names.intern(linkage(functions), originOrder(1, 0))
	return d, u
}

// TestEarlyTexts: while the work is done, the others make the texts of linkage names
// that came with the unit first.
func TestEarlyTexts(t *testing.T) {
	const functions = 1000
	d, u := earlyDumper(t, 4, functions)
	d.early.add(u, 2)
	failure := errors.New("failure")
	err := d.meanwhile(func() error {
		for d.early.waiting() {
		}
		return failure
	})
	if err != failure {
		t.Errorf("%v", err)
	}
	for d.early.some() {
	}
	for i, id := range u.origins {
		want := ""
		if i >= 2 {
			want = fmt.Sprintf("space::f%d()", 1000+i-2)
		}
		if e := d.names.at(id); e.text != want || e.sound != (i >= 2) {
			t.Fatalf("%d: %q, sound %v, want %q", i, e.text, e.sound, want)
		}
	}
	if d.early.end(new(pieces)); d.early.waiting() {
		t.Error("something is left")
	}
}

// TestEarlyTextsAlone: one goroutine has nothing to wait for.
func TestEarlyTextsAlone(t *testing.T) {
	d, u := earlyDumper(t, 1, 1)
	d.early.add(u, 2)
	if err := d.meanwhile(func() error { return nil }); err != nil || d.early.waiting() {
		t.Errorf("%v", err)
	}
}

// TestReplace: a name that turns up in an earlier place keeps the text of the same linkage
// name, unless the language has a say in it.
func TestReplace(t *testing.T) {
	for _, test := range []struct {
		name string
		n    naming
		want string
	}{
		{"the same language", naming{linkage: true, language: langCxx}, "f()"},
		{"another one", naming{linkage: true, language: 0x16}, ""},
		{"known there", naming{linkage: true, language: 0x16, text: "_Z1fv"}, "_Z1fv"},
		{"not a linkage name", naming{}, ""},
	} {
		table := newNameTable(1)
		first := naming{key: []byte("_Z1fv"), linkage: true, language: langCxx}
		id := table.intern(&first, 2)
		table.tell(id, 3, "of another order", true)
		table.tell(id, 2, "f()", true)
		n := test.n
		n.key = first.key
		if again := table.intern(&n, 1); again != id {
			t.Fatalf("%s: number %d, then %d", test.name, id, again)
		}
		if e := table.at(id); e.text != test.want || e.sound != (test.want == "f()") || e.order != 1 {
			t.Errorf("%s: %q, sound %v, want %q", test.name, e.text, e.sound, test.want)
		}
		if key, _ := table.untold(id, 1); (key != nil) != (test.want == "" && n.linkage) {
			t.Errorf("%s: untold %q", test.name, key)
		}
	}
}
