// Command floor measures a lower bound of dump_syms' time. It does only the work that no
// implementation can avoid: on two cores, it inflates the sections of an ELF file that
// dump_syms reads, reads those that are not compressed, and writes as many bytes as the
// symbol file has. bench.sh runs it.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/sync/errgroup"

	"symkit/elfx"
	"symkit/internal/mem"
)

// first is the section that takes longest if it is compressed; one core inflates it.
const first = ".debug_info"

// others are the sections that the other core reads.
var others = []string{
	".debug_str", ".debug_line", ".debug_rnglists", ".debug_ranges", ".debug_abbrev", ".debug_line_str", ".debug_addr",
	".debug_str_offsets", ".debug_frame", ".eh_frame", ".symtab", ".strtab",
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "floor: error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("usage: floor FILE BYTES OUTPUT")
	}
	size, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return err
	}

	f, err := elfx.Open(args[0])
	if err != nil {
		return err
	}
	defer f.Close()

	// Each core has its sections.
	var group errgroup.Group
	group.Go(func() error { return read(f, first) })
	group.Go(func() error { return read(f, others...) })
	if err := group.Wait(); err != nil {
		return err
	}

	// Write as much as the symbol file has.
	out, err := os.Create(args[2])
	if err != nil {
		return err
	}
	defer out.Close()

	w := bufio.NewWriterSize(out, 256<<10)
	if _, err := io.CopyN(w, zeros{}, size); err != nil {
		return err
	}
	return w.Flush()
}

// read inflates the compressed ones of the sections, and reads every word of the
// others.
func read(f *elfx.File, names ...string) error {
	return mem.Guard(func() error {
		sum := uint64(0)
		for _, name := range names {
			data, err := f.SectionData(name)
			if err != nil {
				return err
			}

			// Inflating has touched every byte of a compressed section.
			s := f.Section(name)
			if s == nil || uint64(len(data)) != s.Size {
				continue
			}
			for ; len(data) >= 8; data = data[8:] {
				sum ^= binary.NativeEndian.Uint64(data)
			}
		}

		// Without a use of sum the compiler would drop the reads.
		if sum == 1<<63-1 {
			fmt.Fprintln(os.Stderr, "floor: what a coincidence")
		}
		return nil
	})
}

// zeros is an endless reader of zeros.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
