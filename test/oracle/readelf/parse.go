//go:build oracle

package readelf

import (
	"bufio"
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"symkit/test/oracle"
)

// hasFrames reports whether a file has an .eh_frame or .debug_frame whose bytes are in the
// file.
func hasFrames(t *testing.T, path string) bool {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	defer f.Close()
	return slices.ContainsFunc(f.Sections, func(s *elf.Section) bool {
		return (s.Name == ".eh_frame" || s.Name == ".debug_frame" || s.Name == ".zdebug_frame") && s.Type != elf.SHT_NOBITS
	})
}

// runReadelf runs readelf on a file, and calls parse with the interpreted call frames.
func runReadelf(t *testing.T, path string, parse func(io.Reader)) {
	t.Helper()
	cmd := exec.Command("readelf", "--debug-dump=frames-interp", "-wN", path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}

	parse(pipe)
	// readelf complains that a separate debug file has no .interp.
	err = cmd.Wait()
	complaint := strings.TrimSpace(stderr.String())
	if err != nil && complaint != "readelf: Error: Unable to find program interpreter name" {
		t.Fatalf("readelf: %v: %s", err, complaint)
	}
}

// parser reads the output of readelf:
//
//	00000018 00000000000000a4 0000001c FDE cie=00000000 pc=0000000000401000..0000000000401050
//	   LOC           CFA      rbx   ra
//	0000000000401000 rsp+8    u     c-8
//
// An FDE whose instructions change none of the CIE's rules has no rows.
type parser struct {
	t         *testing.T
	l         *oracle.Layout
	out       *Frames
	eh, debug []frameRow

	inDebug   bool
	cies      map[string]frameRow // by section and offset
	cie       string              // the CIE whose block is open; "" in an FDE
	ofFDE     string              // the CIE of the FDE
	begin     uint64
	end       uint64
	columns   []string
	rows      []frameRow
	blockOpen bool
	baseOf    func(fde uint64) uint64
	base      uint64 // of the FDE
}

// parse reads the output line by line.
func (p *parser) parse(r io.Reader) {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		line := sc.Text()
		f := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "Contents of the "):
			p.closeBlock()
			p.inDebug = strings.Contains(line, "debug_frame")
		case len(f) == 0:
			p.closeBlock()
		case len(f) > 3 && f[3] == "CIE":
			p.blockOpen, p.cie = true, p.key(f[0])
		case len(f) > 3 && f[3] == "FDE":
			p.fde(line, f)
		case !p.blockOpen:
		case f[0] == "LOC":
			p.columns = f[2:]
		default:
			p.row(line, f)
		}
	}

	p.closeBlock()
	if err := sc.Err(); err != nil {
		p.t.Fatal(err)
	}
}

// key returns the key of a CIE in cies: offsets of .eh_frame and .debug_frame are apart.
func (p *parser) key(offset string) string {
	return fmt.Sprint(p.inDebug, " ", strings.TrimLeft(offset, "0"))
}

// fde reads the heading of an FDE.
func (p *parser) fde(line string, f []string) {
	p.blockOpen, p.cie = true, ""
	p.ofFDE = p.key(strings.TrimPrefix(f[4], "cie="))
	if _, err := fmt.Sscanf(line[strings.Index(line, "pc="):], "pc=%x..%x", &p.begin, &p.end); err != nil {
		p.t.Fatalf("readelf: %q: %v", line, err)
	}

	// Addresses that count from elsewhere get the FDE's base.
	if p.baseOf != nil {
		offset, err := strconv.ParseUint(f[0], 16, 64)
		if err != nil {
			p.t.Fatalf("readelf: %q: %v", line, err)
		}
		p.base = p.baseOf(offset)
		p.begin, p.end = p.begin+p.base, p.end+p.base
	}
}

// row reads a row of a CIE or FDE.
func (p *parser) row(line string, f []string) {
	// A register is printed as "r1 (rdx)".
	f = slices.DeleteFunc(f, func(s string) bool { return s[0] == '(' })
	lo, err := strconv.ParseUint(f[0], 16, 64)
	if err != nil || len(f) != 2+len(p.columns) {
		p.t.Fatalf("readelf: row %q under %v", line, p.columns)
	}
	p.rows = append(p.rows, frameRow{Span: oracle.Span{Lo: lo + p.base}, cfa: f[1], columns: p.columns, rules: f[2:]})
}

// closeBlock ends a CIE or FDE. Of a CIE the last row is kept, of an FDE all rows.
func (p *parser) closeBlock() {
	rows := p.rows
	switch {
	case !p.blockOpen:
	case p.cie != "":
		if len(rows) > 0 {
			p.cies[p.cie] = rows[len(rows)-1]
		}
	case p.begin >= p.end:
	case !p.l.Live(p.begin) || p.begin < p.l.Load:
		p.out.discarded++
	default:
		p.out.fdes++
		p.keep(rows)
	}

	p.blockOpen, p.rows, p.columns = false, nil, nil
}

// keep adds the rows of an FDE.
func (p *parser) keep(rows []frameRow) {
	if k := len(rows); k > 0 && rows[k-1].Lo == p.end {
		rows = rows[:k-1] // the last advance leads to the end
	}

	// An FDE without rows has the rules of its CIE.
	p.out.printed += len(rows)
	if len(rows) == 0 {
		row, ok := p.cies[p.ofFDE]
		if !ok {
			p.t.Fatalf("readelf: FDE %#x has no rows and its CIE none either", p.begin)
		}
		row.Lo = p.begin
		rows = []frameRow{row}
	}

	// Each row holds up to the next row, the last one up to the end of the FDE.
	for i := range rows {
		rows[i].fde = p.begin
		rows[i].Hi = p.end
		if i+1 < len(rows) {
			rows[i].Hi = rows[i+1].Lo
		}
		rows[i].Lo -= p.l.Load
		rows[i].Hi -= p.l.Load
	}

	if p.inDebug {
		p.debug = append(p.debug, rows...)
	} else {
		p.eh = append(p.eh, rows...)
	}
}
