package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"symkit/internal/command"
)

func TestProgressLine(t *testing.T) {
	p := newProgress(&bytes.Buffer{})
	p.files.all, p.bytes.all = 1466, 2_100_000_000
	p.begin("libjvm.so")
	p.begin("esc\x1b[31m\xffape")
	if got, want := p.line(0), "0 of 1466 modules, 0.0 kB of 2.10 GB: libjvm.so"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p.end("libjvm.so", 700_000_000)
	if got, want := p.line(10*time.Second), `1 of 1466 modules, 700.0 MB of 2.10 GB, 70.0 MB/s, 20s left: esc\x1b[31m\xffape`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// On a terminal there is one line, cut at its width; other output erases it.
// Elsewhere there are whole lines.
func TestProgressTell(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out)
	p.files.all = 3
	p.tell(time.Second)
	if got, want := out.String(), "dump_syms: 0 of 3 modules, 0.0 kB of 0.0 kB\n"; got != want {
		t.Errorf("in a log: %q, want %q", got, want)
	}
	out.Reset()
	p.columns = 20
	p.run(3, 0)
	p.mu.Lock()
	p.tell(time.Second)
	p.mu.Unlock()
	if _, err := p.Write([]byte("a warning\n")); err != nil {
		t.Fatal(err)
	}
	if n, err := p.Write(nil); n != 0 || err != nil {
		t.Errorf("nothing written: %d, %v", n, err)
	}
	p.mu.Lock()
	p.tell(time.Second)
	p.mu.Unlock()
	p.stop()
	const line = command.ClearLine + "dump_syms: 0 of 3 m" // 19 columns
	got := out.String()
	// The ticker may have drawn it more often.
	for strings.Contains(got, line+line) {
		got = strings.ReplaceAll(got, line+line, line)
	}
	if want := line + command.ClearLine + "a warning\n" + line + command.ClearLine; got != want {
		t.Errorf("on a terminal: %q, want %q", got, want)
	}
}
