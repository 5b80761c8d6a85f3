package testfile

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"unicode"
	"unicode/utf8"
)

// hostile are the characters that must not reach a terminal as they are, and bytes that are
// not UTF-8. They are C0 without tab and newline, which separate the programs' words, DEL,
// C1, bidirectional controls and line separators.
var hostile = []string{"\x1b", "\r", "\a", "\b", "\x01", "\x1f", "\x7f", "\u0080", "\u0085", "\u009b", "\u009f", "\u061c", "\u200e", "\u200f",
	"\u2028", "\u2029", "\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069", "\xff", "\x9b", "\xc2"}

// Hostile is a text of all hostile characters. It can be part of a file name.
var Hostile = func() (all string) {
	for _, s := range hostile {
		all += s
	}
	return all + "[2Jx"
}()

// HostileShifts is the number of values of shift that put each hostile character
// into each string.
func HostileShifts() int { return len(hostile) }

// HostileStrings replaces a part of each string in data with a hostile character: a
// different one for each string and for each shift. A string is a run of text between bytes
// that are no text. With wide, strings are UTF-16LE.
func HostileStrings(data []byte, shift int, wide bool) {
	width := 1
	if wide {
		width = 2
	}

	const least, at = 8, 4 // characters of a string, and where it is overwritten
	for i, n := 0, 0; i+width <= len(data); i += width {
		if c := data[i]; c >= ' ' && c < 0x7f && (!wide || data[i+1] == 0) {
			n++
			continue
		}

		// A shorter run of printable bytes need not be a string.
		if n >= least {
			replace(data[i-(n-at)*width:i], hostile[shift%len(hostile)], wide)
			shift++
		}
		n = 0
	}
}

// replace overwrites the beginning of data.
func replace(data []byte, with string, wide bool) {
	if !wide {
		copy(data, with)
		return
	}
	// Bytes that are not UTF-8 have no counterpart in UTF-16.
	if r, _ := utf8.DecodeRuneInString(with); r != utf8.RuneError {
		data[0], data[1] = byte(r), byte(r>>8)
	}
}

// HostileELF returns a copy of an ELF file with hostile characters in the strings of the
// sections, as HostileStrings puts them there.
func HostileELF(data []byte, shift int, sections ...string) ([]byte, error) {
	data = bytes.Clone(data)
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	for _, s := range f.Sections {
		// SHT_NOBITS has no bytes in the file.
		if slices.Contains(sections, s.Name) && s.Type != elf.SHT_NOBITS {
			HostileStrings(data[s.Offset:][:s.FileSize], shift, false)
		}
	}
	return data, nil
}

// Unprintable returns an error about the first character of a program's output that must not
// be there, or nil.
func Unprintable(text []byte) error {
	for i := 0; i < len(text); {
		if c := text[i]; c >= ' ' && c < 0x7f {
			i++
			continue
		}

		// Newline and tab are the only controls that programs may write.
		r, n := utf8.DecodeRune(text[i:])
		control := unicode.IsControl(r) && r != '\n' && r != '\t'
		if control || r == utf8.RuneError && n == 1 || unicode.Is(unicode.Bidi_Control, r) || r == 0x2028 || r == 0x2029 {
			return fmt.Errorf("%q in %q", text[i:][:n], text[max(0, i-60):min(len(text), i+60)])
		}
		i += n
	}
	return nil
}

// MaxStderr bounds a program's standard error without -v, in bytes.
const MaxStderr = 16 << 10

// Outputs returns an error if standard output, standard error, or a file below the directories,
// its name included, has characters that must not reach a terminal, or if standard error has more
// than MaxStderr bytes.
func Outputs(stdout, stderr []byte, dirs ...string) error {
	if len(stderr) > MaxStderr {
		return fmt.Errorf("%d bytes on stderr", len(stderr))
	}
	for name, text := range map[string][]byte{"stdout": stdout, "stderr": stderr} {
		if err := Unprintable(text); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}

	for _, dir := range dirs {
		err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(filepath.Join(dir, path))
			if err != nil {
				return err
			}
			err = Unprintable([]byte(path))
			if err == nil {
				err = Unprintable(data)
			}
			if err != nil {
				return fmt.Errorf("the file %q: %w", path, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
