package rawdump

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"maps"
	"slices"
	"strings"

	"symkit/internal/printable"
	"symkit/internal/wire"
	"symkit/walk/internal/mdmp"
)

// Options selects what Write writes.
type Options struct {
	// Brief leaves out the contents of stacks and of other memory.
	Brief bool
}

// Write writes the streams of the minidump in data. Control characters of names are escaped. The
// error is a *located.Error, its offset counted from the start of the file, if data has no header
// and directory of a minidump, or an error of out. The output is larger than data by a factor of
// at most ten, unless records overlap: out bounds the output of such a dump.
func Write(out io.Writer, data []byte, opt Options) error {
	d, err := mdmp.Read(data)
	if err != nil {
		return err
	}
	p := &printer{Writer: bufio.NewWriterSize(&printable.Writer{W: out}, 1<<16), d: d, brief: opt.Brief}
	p.record("MDRawHeader", 20, d.Header)
	p.printf("\n")
	p.directory()

	// Without a check after each stream, a damaged dump would be formatted to its end for no reader.
	for _, print := range []func(){
		p.threads, p.modules, p.unloadedModules, p.handles, p.memory64List, p.memoryList,
		p.memoryInfo, p.exception, p.assertion, p.systemInfo, p.miscInfo, p.threadNames, p.breakpadInfo,
		p.crashpad, p.macCrashInfo, p.macBootArgs, p.stability, p.files,
	} {
		print()
		if p.err != nil {
			return p.err
		}
	}
	return p.Flush()
}

// directory lists the streams, in the order of the file and by type. Of several streams of one type
// the last counts.
func (p *printer) directory() {
	index := map[mdmp.StreamType]int{}
	for i, s := range p.d.Directory {
		index[s.Type] = i
	}
	types := slices.Collect(maps.Keys(index))
	slices.SortFunc(types, func(a, b mdmp.StreamType) int { return cmp.Compare(index[a], index[b]) })
	for _, typ := range types {
		p.printf("mDirectory[%d]\nMDRawDirectory\n  stream_type        = %#x (%s)\n", index[typ], uint32(typ), streamName(typ))
		p.form(mdmp.Form{Width: 18}, p.d.Directory[index[typ]])
		p.printf("\n")
	}

	p.printf("Streams:\n")
	slices.Sort(types)
	for _, typ := range types {
		p.printf("  stream type %#x (%s) at index %d\n", uint32(typ), streamName(typ), index[typ])
	}
	p.printf("\n")
}

// names are the types of streams that package mdmp has no names for, and those that
// rust-minidump calls by another name.
var names = map[mdmp.StreamType]string{
	1: "ReservedStream0", 2: "ReservedStream1", 13: "FunctionTable",
	0x8000: "ceStreamNull", 0x8001: "ceStreamSystemInfo", 0x8002: "ceStreamException", 0x8003: "ceStreamModuleList",
	0x8004: "ceStreamProcessList", 0x8005: "ceStreamThreadList", 0x8006: "ceStreamThreadContextList",
	0x8007: "ceStreamThreadCallStackList", 0x8008: "ceStreamMemoryVirtualList", 0x8009: "ceStreamMemoryPhysicalList",
	0x800a: "ceStreamBucketParameters", 0x800b: "ceStreamProcessModuleMap", 0x800c: "ceStreamDiagnosisList",
	0xffff: "LastReservedStream",
}

// streamName returns the name that rust-minidump has for a type of streams, or "unknown".
func streamName(typ mdmp.StreamType) string {
	switch {
	case names[typ] != "":
		return names[typ]
	case typ.Known():
		return typ.String()
	}
	return "unknown"
}

// rawFiles are the streams that are the contents of a file, in the order of the text.
var rawFiles = []mdmp.StreamType{mdmp.LinuxCmdLineStream, mdmp.LinuxEnvironStream, mdmp.LinuxLsbReleaseStream,
	mdmp.LinuxProcStatusStream, mdmp.LinuxCPUInfoStream, mdmp.LinuxMapsStream, mdmp.LinuxLimitsStream, mdmp.SoftErrorsStream}

// files writes the streams that are the contents of a file. After each NUL is a line break.
func (p *printer) files() {
	for _, typ := range rawFiles {
		if p.d.Has(typ) {
			p.printf("Stream %s:\n", typ)
			p.text(bytes.ReplaceAll(p.d.File(typ), []byte{0}, []byte("\\0\n")))
			p.printf("\n\n")
		}
	}
}

// stability writes Chromium's StabilityReport, a protocol buffer.
func (p *printer) stability() {
	report := p.d.File(mdmp.StabilityReportStream)
	if report == nil {
		return
	}
	var out strings.Builder
	if stabilityReport(&out, wire.New(mdmp.Section, report, p.d.BigEndian)) {
		p.printf("StabilityReport\n%s", &out)
	}
}
