package main

import (
	"bytes"
	"io"
	"testing"
	"time"

	"symkit/internal/command"
)

func TestProgressLine(t *testing.T) {
	p := &progress{messages: command.NewMessages("dump_syms", io.Discard)}
	p.files.all, p.bytes.all = 1466, 2_100_000_000
	p.Begin("libjvm.so")
	p.Begin("app")
	if got, want := p.line(0), "0 of 1,466 modules, 0 bytes of 2.1 GB: libjvm.so"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p.End("libjvm.so", 700_000_000)
	if got, want := p.line(10*time.Second), `1 of 1,466 modules, 700 MB of 2.1 GB, 70 MB/s, 20.0 s left: app`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestProgressShow: without a terminal the progress is written as whole lines.
func TestProgressShow(t *testing.T) {
	var out bytes.Buffer
	p := &progress{messages: command.NewMessages("dump_syms", &out)}
	p.files.all = 3
	p.Begin("esc\x1b[31m\u202e\xffape")
	p.show(time.Second)
	if got, want := out.String(), `dump_syms: 0 of 3 modules, 0 bytes of 0 bytes: esc\x1b[31m\xe2\x80\xae\xffape`+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
