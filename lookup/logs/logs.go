// Package logs finds the addresses in lines of logs: reports of sanitizers, backtraces of glibc and Python, systemd's
// list of a crashed program's stack, HotSpot's error files, tombstones of Android, traces and oopses of the Linux kernel.
//
//	text := logs.Append(nil, line, func(dst []byte, r *logs.Reference) ([]byte, bool) {
//		frames, err := files[r.Module].Frames(nil, r.Addr)
//		if err != nil || len(frames) == 0 {
//			return dst, false // the address stays in the line
//		}
//		return fmt.Appendf(dst, "%s at %s:%d", frames[0].Name, frames[0].File, frames[0].Line), true
//	})
package logs

import (
	"encoding/hex"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Reference is an address in a line.
type Reference struct {
	// From and To are the bytes of the line that name the address: [From, To).
	From, To int
	// Module is the path or the name of the file, "" if the line does not say.
	Module string
	// BuildID is that of the module, nil if the line does not say.
	BuildID []byte
	// Symbol is the symbol that Addr is relative to; without one, Addr is relative to the module.
	Symbol string
	Addr   uint64
	// Return states that Addr is a return address: the call is before it.
	Return bool
	// Virtual states that Addr is a virtual address of the module's file, not relative to where the file is loaded.
	Virtual bool
	// Offset is where the module's file begins in the file Module, an APK; 0: Module is the file itself.
	Offset uint64
}

// maxLine is the length of the lines that are searched, in bytes.
const maxLine = 1 << 14

// A form is how one kind of log writes an address. The groups of the expression are named like the fields of a
// Reference; the group "at" is what the place replaces.
type form struct {
	expr  *regexp.Regexp
	kind  addrKind
	needs string // a text that each such line has
	// rest, if not nil, reads the part of the line after the expression: the Reference grows by what is read.
	rest func(r *Reference, line string)
}

// addrKind is what the addresses of a form are.
type addrKind uint8

const (
	exact   addrKind = iota // of an instruction, relative to the module or to a symbol
	ret                     // a return address, likewise
	virtual                 // a virtual return address
)

var forms = sync.OnceValue(func() []form {
	of := func(needs string, kind addrKind, expr string) form {
		return form{regexp.MustCompile(expr), kind, needs, nil}
	}
	const (
		id     = `(?: \(BuildId: (?P<id>[0-9a-fA-F]{8,64})\))?`
		hex    = `0x(?P<addr>[0-9a-fA-F]{1,16})`
		kernel = `(?P<at>\b(?P<symbol>[A-Za-z_.$][\w.$]*)\+` + hex + `/0x[0-9a-f]{1,16}(?: \[(?P<module>[\w-]+)(?:\([\w+-]*\))?(?: (?P<id>[0-9a-f]{40}))?[^\]]*\])?)`
	)
	android := func(needs, expr string) form {
		return form{regexp.MustCompile(expr), exact, needs, tombstone}
	}
	return []form{
		// Android: "#00 pc 0000000000012345  /system/lib64/libc.so (abort+164) (BuildId: 1234)"
		// ".../base.apk!libx.so (offset 0x1000) (f(int (*)(char))+12) (BuildId: 1234)"
		android(" pc ", `(?P<at>\bpc +(?:0x)?(?P<addr>[0-9a-f]{8,16})\s{1,3}(?P<module>/[^\s]+))`),
		// Crashlytics, Google Play: "#00 pc 0x12345 libx.so (f+12) (BuildId: 1234)"
		android(" pc 0x", `#\d+ +(?P<at>pc +0x(?P<addr>[0-9a-f]{1,16}) +(?P<module>[^\s()<>\[\]]+))`),
		// ndk-stack: "#00 0x0000000000012345 /system/lib64/libc.so (abort+164) (BuildId: 1234)"
		android(" 0x", `^#\d+ (?P<at>0x(?P<addr>[0-9a-f]{8,16}) (?P<module>/(?:apex|data|mnt|odm|product|system|system_ext|vendor)/[^\s]+))`),
		// Dart: "    #00 abs 0000007a1b4d5e6f virt 00000000002a5e6f _kDartIsolateSnapshotInstructions+0x1a5e6f"
		of(" virt ", virtual, `(?P<at>\babs [0-9a-f]{8,16} virt (?P<addr>[0-9a-f]{8,16}) _kDart\w{1,40}(?:\+0x[0-9a-f]{1,16})?)`),
		// Python's faulthandler: "Binary file \"/usr/bin/python3\", at f+0x1b [0x55d4]"
		of("Binary file ", ret, `(?P<at>Binary file "(?P<module>[^"]+)", at (?P<symbol>[^+\s]*)\+`+hex+` \[0x[0-9a-f]{1,16}\])`),
		// glibc's backtrace_symbols: "./app(function+0x1b) [0x40068b]", "./app(+0x1234) [0x55d4]"; of a program that is
		// loaded where it was linked "./app() [0x40068b]". backtrace_symbols_fd: "./app(+0x1234)[0x55d4]", "./app[0x40068b]"
		of("[0x", ret, `(?P<at>(?P<module>[^\s()]+)\((?P<symbol>[^()+]*)\+`+hex+`\) ?\[0x[0-9a-f]{1,16}\])`),
		of("[0x", virtual, `^(?P<at>(?P<module>[^\s()\[\]]+)(?:\(\) )?\[`+hex+`\])\s*$`),
		// systemd-coredump: "#0  0x00007f2b8 n/a (libc.so.6 + 0x8dd3c)"
		of(" + 0x", exact, `#0 .*(?P<at>\((?P<module>[^()\s]+) \+ `+hex+`\))`),
		of(" + 0x", ret, `#\d+ .*(?P<at>\((?P<module>[^()\s]+) \+ `+hex+`\))`),
		// Sanitizers: "#1 0x55d4  (/usr/bin/app+0x1234) (BuildId: 1234)"
		of("+0x", exact, `(?P<at>\((?P<module>[^()\s][^()]*?)\+`+hex+`\)`+id+`)`),
		// HotSpot: "# C  [libx.so+0x1234]  f+0x14", "V  [libjvm.so+0x1234]  JavaThread::run()+0x14"
		of("+0x", exact, `^# *[CVjJvA]  (?P<at>\[(?P<module>[^\s\[\]]+)\+`+hex+`\])`),
		of("+0x", ret, `^[CVjJvA]  (?P<at>\[(?P<module>[^\s\[\]]+)\+`+hex+`\])`),
		// Linux, the address of the processor: "RIP: 0010:function+0x10/0x20", "pc : function+0x10/0x20"
		of("/0x", exact, `(?:\b[RE]IP: |\be?pc *: |\b(?:EIP|PC) is at |\bNIP |\bPSW : |\bWARNING: )(?:.*[ :(])?`+kernel),
		// Linux, traces: " ? function+0x10/0x20 [module]"
		of("/0x", ret, kernel),
	}
})

// Find returns the addresses in a line, from left to right, those of one form: a line is of one log. It returns none
// for a line that is too long to be one of a log.
func Find(line string) []Reference {
	if len(line) > maxLine {
		return nil
	}
	for _, f := range forms() {
		if !strings.Contains(line, f.needs) {
			continue
		}
		var found []Reference
		for _, m := range f.expr.FindAllStringSubmatchIndex(line, -1) {
			r, ok := f.reference(line, m)
			if ok {
				found = append(found, r)
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// reference returns the Reference of a match.
func (f *form) reference(line string, m []int) (r Reference, ok bool) {
	group := func(name string) string {
		i := 2 * f.expr.SubexpIndex(name)
		if i < 0 || m[i] < 0 {
			return ""
		}
		return line[m[i]:m[i+1]]
	}
	at := 2 * f.expr.SubexpIndex("at")
	addr, err := strconv.ParseUint(group("addr"), 16, 64)
	id, idErr := hex.DecodeString(group("id"))
	if idErr != nil || len(id) == 0 {
		id = nil
	}
	r = Reference{From: m[at], To: m[at+1], Module: group("module"), BuildID: id, Symbol: group("symbol"), Addr: addr, Return: f.kind != exact, Virtual: f.kind == virtual}
	if f.rest != nil {
		f.rest(&r, line)
	}
	return r, err == nil
}

// tombstone reads what Android's unwinder writes after a module: "(offset 0x1000)" of a library in an APK, the function
// and its distance, whose name may have parentheses of its own, "(BuildId: 1234)".
func tombstone(r *Reference, line string) {
	r.Virtual = true
	const offset, build = "(offset 0x", "(BuildId: "
	for strings.HasPrefix(line[r.To:], " (") {
		part := line[r.To+1:]
		end := closing(part)
		if end < 0 {
			return
		}
		part = part[:end+1]
		inside := part[:end]
		switch {
		case strings.HasPrefix(part, offset):
			if !IsPlain(r.Module) {
				r.Offset, _ = strconv.ParseUint(inside[len(offset):], 16, 64) // 0 for what is no number
			}
		case strings.HasPrefix(part, build):
			id, err := hex.DecodeString(inside[len(build):])
			if err == nil && len(id) > 0 && len(id) <= maxID {
				r.BuildID = id
			}
			r.To += 1 + len(part)
			return
		}
		r.To += 1 + len(part)
	}
}

// IsPlain reports whether the path of a module in a tombstone is that of a file of its own. Then "(offset 0x1000)" is that
// of a mapping, as Android 9 writes, not where the file begins in an APK.
func IsPlain(module string) bool {
	return !strings.Contains(module, "!") && slices.Contains([]string{".so", ".odex", ".oat", ".art"}, path.Ext(module))
}

// maxID bounds a build id, in bytes.
const maxID = 64

// closing returns the index of the parenthesis that closes the first one of text, or -1.
func closing(text string) int {
	depth := 0
	for i, c := range []byte(text) {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

// Append appends the line to dst, with each reference replaced by what place appends for it. If place returns false,
// the reference stays.
func Append(dst []byte, line string, place func(dst []byte, r *Reference) ([]byte, bool)) []byte {
	at := 0
	for _, r := range Find(line) {
		dst = append(dst, line[at:r.From]...)
		with, ok := place(dst, &r)
		if !ok {
			with = append(dst, line[r.From:r.To]...)
		}
		dst, at = with, r.To
	}
	return append(dst, line[at:]...)
}
