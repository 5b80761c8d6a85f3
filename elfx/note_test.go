package elfx

import (
	"bytes"
	"debug/elf"
	"testing"

	"symkit/test/elftest"
)

var buildID = []byte{0xb4, 0xe1, 0x8c, 0x28, 0xe2, 0xc1, 0xbd, 0x0f, 0xed, 0xad, 0x40, 0x59, 0x4b, 0xc2, 0x85, 0x98, 0xa7, 0x75, 0x90, 0x2f}

// gABI, "Note Section": names are checked, so that Xen's note of type 3 does
// not win (Breakpad gives every x86-64 kernel one id), and both paddings are
// read.
func TestBuildID(t *testing.T) {
	elftest.EveryKind(t, func(t *testing.T, class elf.Class, big bool) {
		s := &elftest.Spec{Class: class, Big: big}
		xen := s.NoteBytes("Xen", 3, []byte{0, 0, 0, 0x80, 0xff, 0xff, 0xff, 0xff}, 4)
		gnu := s.NoteBytes("GNU", 3, buildID, 4)
		other := s.NoteBytes("GNU", 3, []byte("other"), 4)
		wide := append(s.NoteBytes("GNU", 5, make([]byte, 4), 8), s.NoteBytes("GNU", 3, buildID, 8)...)
		notes := func(name string, align uint64, data ...[]byte) elftest.Sec {
			return elftest.Sec{Name: name, Kind: elf.SHT_NOTE, Flags: elf.SHF_ALLOC, Align: align, Data: bytes.Join(data, nil)}
		}
		gnuSegment := []elftest.Seg{{Kind: elf.PT_LOAD}, {Kind: elf.PT_NOTE, Section: ".n"}}
		for name, test := range map[string]struct {
			sections   []elftest.Sec
			segments   []elftest.Seg
			noSections bool
			want       []byte
		}{
			"xen first":       {[]elftest.Sec{notes(".notes", 4, xen, gnu)}, nil, false, buildID},
			"8-byte aligned":  {[]elftest.Sec{notes(".note.gnu.property", 8, wide)}, nil, false, buildID},
			"named wins":      {[]elftest.Sec{notes(".note.a", 4, other), notes(".note.gnu.build-id", 4, gnu)}, nil, false, buildID},
			"no last padding": {[]elftest.Sec{notes(".note", 4, s.NoteBytes("GNU", 3, []byte("odd"), 1))}, nil, false, []byte("odd")},
			"OpenHarmony":     {[]elftest.Sec{notes(".note.ohos.ident", 4, s.NoteBytes("OHOS", 0, []byte{0, 1, 0, 0}, 1)), notes(".n", 4, gnu)}, nil, false, buildID},
			"segment":         {[]elftest.Sec{notes(".n", 4, xen, gnu)}, gnuSegment, true, buildID},
			"none":            {[]elftest.Sec{notes(".note", 4, xen, s.NoteBytes("Go", 3, buildID, 4))}, nil, false, nil},
			"empty":           {[]elftest.Sec{notes(".note", 4, s.NoteBytes("GNU", 3, nil, 4))}, nil, false, nil},
		} {
			file := &elftest.Spec{Class: class, Big: big, Sections: test.sections, Segments: test.segments, NoSections: test.noSections}
			f := mustFile(t, file.Build())
			if !bytes.Equal(f.BuildID(), test.want) || len(f.Losses()) != 0 {
				t.Errorf("%s: %x, losses %v", name, f.BuildID(), f.Losses())
			}
		}
	})
}
