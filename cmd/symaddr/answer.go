package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"path/filepath"
	"strconv"
	"strings"

	"symkit/internal/printable"
	"symkit/internal/symbolizers"
	"symkit/lookup"
	"symkit/lookup/logs"
)

// answerer answers lines on one goroutine.
type answerer struct {
	*cli
	ctx     context.Context
	file    *lookup.File // of addresses, or nil
	known   string       // JSON of file
	frames  []lookup.Frame
	addrs   []uint64
	scratch symbolizers.Scratch
}

// answerer returns what answers about f, if it is not nil, or about all modules.
func (c *cli) answerer(ctx context.Context, f *lookup.File) *answerer {
	a := &answerer{cli: c, ctx: ctx, file: f}
	if f != nil && c.Format == "json" {
		known := printable.AppendJSON([]byte(`,"file":`), f.Path())
		id := f.BuildID()
		if len(id) > 0 {
			known = append(hex.AppendEncode(append(known, `,"build_id":"`...), id), '"')
		}
		a.known = string(known)
	}
	return a
}

// Expect is called before Answer. The file is that of all addresses.
func (a *answerer) Expect(addrs []uint64) {
	if a.file == nil {
		return
	}
	for i := range addrs {
		addrs[i] = a.virtual(addrs[i])
	}
	a.scratch.Sweep.Expect(a.file, addrs)
}

// Rest does nothing: files of logs are released at once.
func (a *answerer) Rest() {}

// Answer appends the answer for a line: an address of the file, or a line of a log.
func (a *answerer) Answer(dst []byte, q symbolizers.Question) []byte {
	if q.Plain {
		addr := a.virtual(q.Addr)
		if a.Format == "json" {
			return a.json(dst, addr)
		}
		return a.places(append(symbolizers.AppendHex(dst, q.Addr, 1), ": "...), addr)
	}
	if a.file != nil {
		text := strings.TrimSpace(q.Line)
		if text != "" && !strings.ContainsAny(text, " \t/()") {
			addr, err := a.address(a.file, text)
			if err == nil {
				return a.answer(dst, text, addr)
			}
		}
	}
	return a.log(dst, q.Line)
}

// virtual returns the virtual address of a plain question, which has one.
func (a *answerer) virtual(n uint64) uint64 {
	addr, _ := a.file.Address(lookup.Kind(a.Kind), n)
	return addr
}

// answer appends the answer for an address of the file that was asked for by a text.
func (a *answerer) answer(dst []byte, text string, addr uint64) []byte {
	if a.Format == "json" {
		return a.json(dst, addr)
	}
	return a.places(append(append(dst, text...), ": "...), addr)
}

// log appends a line of a log, with places for the addresses of the file, or of all modules.
func (a *answerer) log(dst []byte, line string) []byte {
	dst = logs.Append(dst, line, func(dst []byte, r *logs.Reference) ([]byte, bool) {
		if a.file != nil {
			if !a.isOf(a.file, r) {
				return dst, false
			}
			return a.place(dst, a.file, r)
		}
		path := a.module(r)
		if path == "" && a.opened.stores != nil && r.BuildID != nil {
			path = hex.EncodeToString(r.BuildID) + storeMark + filepath.Base(r.Module)
		}
		if path == "" {
			return dst, false
		}
		other, release, err := a.files.Get(a.ctx, path)
		if err != nil {
			return dst, false
		}
		defer release()
		return a.place(dst, other, r)
	})
	return append(dst, '\n')
}

// place appends the place of a reference into f. It returns false if nothing is known.
func (a *answerer) place(dst []byte, f *lookup.File, r *logs.Reference) ([]byte, bool) {
	if r.BuildID != nil && f.BuildID() != nil && !bytes.Equal(r.BuildID, f.BuildID()) {
		return dst, false // of another build
	}
	a.addrs = addresses(a.addrs[:0], f, r)
	from := len(dst)
	for i, addr := range a.addrs {
		at := len(dst)
		if r.Return && addr > 0 {
			dst = a.calls(dst, f, addr-1)
		}
		if len(dst) == at { // not a return address, or that of a signal's handler, before which there is no call
			dst = a.calls(dst, f, addr)
		}
		if i > 0 { // the function of a header has one place, and a symbol for each unit
			same := bytes.Equal(dst[from:at], dst[at:])
			dst = dst[:at]
			if !same {
				return dst[:from], false
			}
		}
	}
	if string(dst[from:]) == r.Symbol {
		return dst[:from], false // the line has the offset, too
	}
	return dst, len(dst) > from
}

// calls appends the frames of an address, on one line.
func (a *answerer) calls(dst []byte, f *lookup.File, addr uint64) []byte {
	frames := a.framesAt(f, addr)
	for i := range frames {
		if i > 0 {
			dst = append(dst, " (inlined by) "...)
		}
		dst = a.frame(dst, &frames[i])
	}
	return dst
}

// framesAt returns the frames to show, until the next call.
func (a *answerer) framesAt(f *lookup.File, addr uint64) []lookup.Frame {
	frames, err := a.scratch.Sweep.Frames(f, a.frames[:0], addr)
	a.frames = frames[:0]
	if err != nil {
		a.warn(err)
	}
	if a.NoInlines && len(frames) > 0 {
		last := frames[len(frames)-1]
		last.File, last.Line, last.Column, last.Discriminator = frames[0].File, frames[0].Line, frames[0].Column, frames[0].Discriminator
		frames[0] = last
		frames = frames[:1]
	}
	for i := range frames {
		if a.Basenames && frames[i].File != "" {
			frames[i].File = filepath.Base(frames[i].File)
		}
	}
	return frames
}

// places appends the frames of an address of the file as text.
func (a *answerer) places(dst []byte, addr uint64) []byte {
	frames := a.framesAt(a.file, addr)
	if len(frames) == 0 {
		return append(dst, "??\n"...)
	}
	for i := range frames {
		if i > 0 {
			dst = append(dst, " (inlined by) "...)
		}
		dst = append(a.frame(dst, &frames[i]), '\n')
	}
	return dst
}

// name returns the name of a frame.
func (a *answerer) name(f *lookup.Frame) string {
	switch {
	case a.Mangled:
		return cmp.Or(f.Linkage, f.Name, "??")
	case f.Linkage == "" || f.Stub:
		return cmp.Or(f.Readable(), "??")
	}
	return cmp.Or(a.scratch.Name(f.Linkage, f.Name, f.Readable), "??")
}

// frame appends a frame.
func (a *answerer) frame(dst []byte, f *lookup.Frame) []byte {
	dst = append(dst, printable.String(a.name(f))...)
	if f.File == "" {
		return dst
	}
	dst = append(append(dst, " at "...), printable.String(f.File)...)
	if f.Line == 0 {
		return dst
	}
	dst = strconv.AppendUint(append(dst, ':'), uint64(f.Line), 10)
	if f.Column != 0 {
		dst = strconv.AppendUint(append(dst, ':'), uint64(f.Column), 10)
	}
	return dst
}

// jsonVersion is the version of the objects of --format=json. It increases when a field changes its meaning or is
// removed.
const jsonVersion = 1

// json appends the answer for an address of the file as JSON.
func (a *answerer) json(dst []byte, addr uint64) []byte {
	dst = strconv.AppendUint(append(dst, `{"version":`...), jsonVersion, 10)
	dst = append(append(dst, a.known...), `,"address":"`...)
	dst = append(symbolizers.AppendHex(dst, addr, 1), `","frames":[`...) // virtual
	frames := a.framesAt(a.file, addr)
	for i := range frames {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = a.jsonFrame(dst, &frames[i])
	}
	return append(dst, "]}\n"...)
}

// jsonFrame appends a frame as JSON. What is not known is left out.
func (a *answerer) jsonFrame(dst []byte, f *lookup.Frame) []byte {
	from := len(dst)
	key := func(name string) { dst = append(append(append(dst, `,"`...), name...), `":`...) }
	text := func(name, value string) {
		if value != "" {
			key(name)
			dst = printable.AppendJSON(dst, value)
		}
	}
	number := func(name string, n uint32) {
		if n != 0 {
			key(name)
			dst = strconv.AppendUint(dst, uint64(n), 10)
		}
	}
	text("function", a.name(f))
	text("linkage_name", f.Linkage)
	text("file", f.File)
	number("line", f.Line)
	number("column", f.Column)
	number("discriminator", f.Discriminator)
	text("start_file", f.StartFile)
	number("start_line", f.StartLine)
	if f.Start != 0 {
		key("start_address")
		dst = append(symbolizers.AppendHex(append(dst, '"'), f.Start, 1), '"')
	}
	if f.Inlined {
		key("inlined")
		dst = append(dst, "true"...)
	}
	dst[from] = '{' // a frame has a name at least
	return append(dst, '}')
}
