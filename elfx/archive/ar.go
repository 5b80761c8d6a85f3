package archive

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"symkit/internal/wire"
	"symkit/located"
)

const (
	arMagic   = "!<arch>\n"
	thinMagic = "!<thin>\n"
	// archiveHeader is the section name in errors about an archive.
	archiveHeader = "archive"
	arNameSize    = 16
	arSizeAt      = 48 // from the start of a member's header
	arSizeSize    = 10
	arHeaderSize  = 60
	arEnd         = "`\n"
	maxMemberName = 4096
)

// arReader reads the members of an ar archive in order.
type arReader struct {
	c       wire.Cursor
	thin    bool   // the members are files beside the archive
	names   []byte // GNU's table of long names, or nil
	members []memberResult
}

// scanAr lists the ELF members of an ar archive (FreeBSD ar(5); GNU: "ar", the
// variants of System V), or all members of a thin archive; at most most of them.
func scanAr(data []byte, thin bool, most uint64) (list []memberResult, complete bool, err error) {
	r := arReader{c: wire.New(archiveHeader, data, false), thin: thin}
	r.c.Skip(uint64(len(arMagic)))
	for r.c.Len() > 0 {
		r.member()
		if uint64(len(r.members)) > most {
			return r.members[:most], false, nil
		}
	}
	return r.members, true, r.c.Err()
}

// member reads one member.
func (r *arReader) member() {
	at := r.c.Pos()
	header := r.c.Bytes(arHeaderSize)
	if header == nil {
		return
	}

	// The header has text fields, and an end mark.
	size, err := strconv.ParseUint(strings.TrimRight(string(header[arSizeAt:][:arSizeSize]), " "), 10, 64)
	if err != nil || string(header[arHeaderSize-2:]) != arEnd {
		r.c.Fail(at, fmt.Errorf("%w: no member header", errArchive))
		return
	}

	// The header of a thin archive's member is followed by the next header.
	field := strings.TrimRight(string(header[:arNameSize]), " ")
	if r.thin && !strings.HasPrefix(field, "/") || r.thin && len(field) > 1 && isDigit(field[1]) {
		r.named(at, field, size)
		return
	}

	// Members begin at even offsets; the last padding may be missing.
	body := r.c.Sub(size)
	if size%2 == 1 {
		r.c.Skip(min(1, uint64(r.c.Len())))
	}
	if r.c.Err() != nil {
		return
	}

	// Some members are part of the format: symbol tables, and GNU's long names.
	switch field {
	case "/", "/SYM64/", "__.SYMDEF": // symbol tables
		return
	case "//":
		r.names = body.Bytes(uint64(body.Len()))
		return
	}

	// BSD's names take the first bytes of the member.
	name, ok := r.name(field, &body)
	if !ok {
		r.c.Fail(at, fmt.Errorf("%w: no member name", errArchive))
		return
	}

	start := body.Pos()
	rest := body.Bytes(uint64(body.Len()))
	archived := isNested(rest)
	if archived || isELF(rest) {
		n := uint64(len(rest))
		m := Member{Name: name, Size: n, offset: uint64(start), packed: n, archived: archived}
		r.members = append(r.members, memberResult{Member: m})
	}
}

// named adds a member of a thin archive, whose bytes are in another file.
func (r *arReader) named(at int, field string, size uint64) {
	// In a thin archive of archives, the name is followed by the offset in the other
	// archive.
	field, origin, nested := strings.Cut(field, ":")
	name, ok := r.name(field, &wire.Cursor{})
	switch {
	case !ok:
		r.c.Fail(at, fmt.Errorf("%w: no member name", errArchive))
	case nested:
		err := &located.Error{Section: archiveHeader, Offset: at, Err: fmt.Errorf("%w, %s at %s", errThin, name, origin)}
		r.members = append(r.members, memberResult{err: err})
	default:
		r.members = append(r.members, memberResult{Member: Member{Name: name, Size: size, external: true}})
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// name returns a member's name: the field of its header, with or without a slash at
// the end; in the table of long names ("/OFFSET", GNU); or before the member's bytes
// ("#1/LENGTH", BSD).
func (r *arReader) name(field string, body *wire.Cursor) (string, bool) {
	if text, ok := strings.CutPrefix(field, "#1/"); ok {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil || n > maxMemberName {
			return "", false
		}
		name := string(bytes.TrimRight(body.Bytes(n), "\x00"))
		return name, name != "" && body.Err() == nil
	}

	// GNU's long names are in the table, each with a slash and a newline at its end.
	if text, ok := strings.CutPrefix(field, "/"); ok {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil || n > uint64(len(r.names)) {
			return "", false
		}
		rest := r.names[n:]
		rest = rest[:min(len(rest), maxMemberName)]
		end := bytes.IndexByte(rest, '\n')
		name := strings.TrimSuffix(string(rest[:max(end, 0)]), "/")
		return name, name != ""
	}

	name := strings.TrimSuffix(field, "/")
	return name, name != ""
}
