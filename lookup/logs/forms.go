package logs

import (
	"encoding/hex"
	"regexp"
	"strconv"
	"sync"

	"symkit/lookup"
)

// A form is how one kind of log writes an address. The groups of the expression are named like the fields of a
// Reference; the group "at" is what the place replaces.
type form struct {
	needs []string // texts that each such line has: most lines lack one, and looking for these costs least
	kind  lookup.Kind
	ret   bool // addresses are return addresses
	expr  *regexp.Regexp
	// rest, if not nil, reads the part of the line after the expression: the Reference grows by what is read.
	rest func(r *Reference, line string)
}

// mapped is the kind of addresses in the memory of a process.
const mapped lookup.Kind = "mapped"

// Parts of expressions.
const (
	buildID = `(?: \(BuildId: (?P<id>[0-9a-fA-F]{8,64})\))?`
	digits  = `(?P<addr>[0-9a-fA-F]{1,16})`
	address = `0x` + digits
	memory  = `[0-9a-f]{1,16}` // an address in memory, which says nothing without the mapping
	kernel  = `(?P<at>\b(?P<symbol>[A-Za-z_.$][\w.$]*)\+` + address + `/0x(?P<size>` + memory + `)` +
		`(?: \[(?P<module>[\w-]+)(?:\([\w+-]*\))?(?: (?P<id>[0-9a-f]{40}))?[^\]]*\])?)`
	fault = `\bip[: ](?P<ip>` + memory + `) .* in (?P<at>(?P<module>[^\[\]]+)\[`
)

// forms are in the order in which they are tried: the more a form says the earlier.
var forms = sync.OnceValue(func() (list []form) {
	add := func(needs []string, kind lookup.Kind, ret bool, expr string, rest func(*Reference, string)) {
		list = append(list, form{needs, kind, ret, regexp.MustCompile(expr), rest})
	}
	exact := func(kind lookup.Kind, expr string, needs ...string) { add(needs, kind, false, expr, nil) }
	returns := func(kind lookup.Kind, expr string, needs ...string) { add(needs, kind, true, expr, nil) }
	android := func(expr string, needs ...string) { add(needs, lookup.Virtual, false, expr, tombstone) }

	// OpenHarmony: "#00 pc 000e8400 /system/lib/libx.so(f(int)+176)(a40044d0acb68107cfc4adb5049c0725)", "/system/lib/libx.so(f+176)"
	const harmony = `(?P<at>\bpc +(?P<addr>[0-9a-f]{8,16})(?:\([0-9a-f]{8,16}\))? +(?P<module>/[^\s()]+)\(`
	exact(lookup.Virtual, harmony+`(?:.*\) ?\()?(?P<id>[0-9a-f]{32,40})\))`, " pc ")
	exact(lookup.Virtual, harmony+`.*\))`, " pc ")

	// Android: "#00 pc 0000000000012345  /system/lib64/libc.so (abort+164) (BuildId: 1234)"
	// ".../base.apk!libx.so (offset 0x1000) (f(int (*)(char))+12) (BuildId: 1234)"
	android(`(?P<at>\bpc +(?:0x)?(?P<addr>[0-9a-f]{8,16})(?:\([0-9a-f]{8,16}\))?\s{1,3}(?P<module>/[^\s]+))`, " pc ")
	// Crashlytics, Google Play: "#00 pc 0x12345 libx.so (f+12) (BuildId: 1234)"
	android(`#\d+ +(?P<at>pc +`+address+` +(?P<module>[^\s()<>\[\]]+))`, " pc 0x")
	// ndk-stack: "#00 0x0000000000012345 /system/lib64/libc.so (abort+164) (BuildId: 1234)"
	android(`^#\d+ (?P<at>0x(?P<addr>[0-9a-f]{8,16}) (?P<module>/(?:apex|data|mnt|odm|product|system|system_ext|vendor)/[^\s]+))`, " 0x")
	// Dart: "    #00 abs 0000007a1b4d5e6f virt 00000000002a5e6f _kDartIsolateSnapshotInstructions+0x1a5e6f"
	returns(lookup.Virtual, `(?P<at>\babs [0-9a-f]{8,16} virt (?P<addr>[0-9a-f]{8,16}) _kDart\w{1,40}(?:\+0x`+memory+`)?)`, " virt ")

	// Linux on x86, of a process: "segfault at 0 ip 00005581c0a3d139 sp 00007ffc90 error 4 in app[1139,5581c0a3d000+1000]", since
	// 6.8 with the file offset; "general protection fault ip:5581c0a3d139 sp:7ffc90 error:0 in app[5581c0a3d000+1000]".
	exact(mapped, fault+`(?P<offset>`+memory+`),(?P<start>`+memory+`)\+(?P<length>`+memory+`)\])`, " sp", " error", " in ", "[")
	exact(mapped, fault+`(?P<start>`+memory+`)\+(?P<length>`+memory+`)\])`, " sp", " error", " in ", "[")
	// Linux, the address of the processor: "RIP: 0010:function+0x10/0x20", "pc : function+0x10/0x20"; SPARC: "TPC: <function+0x10/0x20>"
	exact(lookup.Relative, `(?:\b(?:[RE]?IP|e?pc|PC|NIP|ERA|era|TPC|IAOQ\[0\]|PSW) *: |\bERET *\]: |\b(?:EIP|PC|pc|ip) is at |\bNIP |\bWARNING: )(?:.*[ :(<])?`+kernel, "/0x")
	// Linux, traces: " ? function+0x10/0x20 [module]"
	returns(lookup.Relative, kernel, "/0x")

	// Python's faulthandler: "Binary file \"/usr/bin/python3\", at f+0x1b [0x55d4]"
	returns(lookup.Relative, `(?P<at>Binary file "(?P<module>[^"]+)", at (?P<symbol>[^+\s]*)\+`+address+` \[0x`+memory+`\])`, "Binary file ")
	// glibc's, of programs that give their processes titles: "postgres: alice db 127.0.0.1(49204) SELECT(function+0x1b) [0x55d4]",
	// "/usr/bin/redis-server *:6379(function+0x1b)[0x55d4]"
	titled := func(name, need string) {
		returns(lookup.Relative, `(?:^|\s)(?P<at>(?P<module>(?:[^\s()]*/)?`+name+`):? .*\((?P<symbol>[^()+]*)\+`+address+`\) ?\[0x`+memory+`\])`, need, "+0x")
	}
	titled(`postgres`, "postgres: ")
	titled(`(?:redis|valkey|keydb)-server`, "-server ")
	titled(`(?:redis|valkey|keydb)-sentinel`, "-sentinel ")
	// glibc's backtrace_symbols: "./app(function+0x1b) [0x40068b]", "./app(+0x1234) [0x55d4]"; of a program that is loaded
	// where it was linked "./app() [0x40068b]". backtrace_symbols_fd: "./app(+0x1234)[0x55d4]", "./app[0x40068b]".
	// Xorg: "/usr/lib/xorg/Xorg (function+0x1b) [0x55d4]"; DPDK: "./app (function+0x1b) [55d4]"
	returns(lookup.Relative, `(?P<at>(?P<module>[^\s()]*[^\s():]) ?\((?P<symbol>[^()+]*)\+`+address+`\) ?\[(?:0x)?`+memory+`\])`, "+0x", "(", "[")
	returns(lookup.Virtual, `(?:^|\s)(?P<at>(?P<module>[^\s()\[\]]+)\(\) \[`+address+`\])`, "() [0x")
	returns(lookup.Virtual, `^(?P<at>(?P<module>[^\s()\[\]]+)\[`+address+`\])\s*$`, "[0x")
	// The same in Open MPI: "[host:9942] [ 1] ./app[0x40068b]"
	returns(lookup.Virtual, `\[ ?\d+\] (?P<at>(?P<module>[^\s()\[\]]+)\[`+address+`\])\s*$`, "] ", "[0x")
	// PyTorch: "frame #5: <unknown function> + 0x6a60c9 (0x7efd in /usr/lib/libtorch.so)", "frame #1: f(int) + 0x2a (0x7efd in /usr/lib/libc10.so)"
	returns(lookup.Relative, `frame #\d+: (?P<at>(?:<unknown function>|(?P<symbol>.+?)) \+ `+address+` \(0x`+memory+` in (?P<module>[^()]+)\))`, "frame #", " + 0x", " in ")
	// The same with readable names. MySQL: "/usr/sbin/mysqld(f(char const*)+0x1b) [0x55d4]"; Ceph, with FILE: " 3: (f(int)+0x1b) [0x55d4]"
	returns(lookup.Relative, `(?:^|\s)(?P<at>(?P<module>[^\s()]+)?\((?P<symbol>[^\s()].*?)\+`+address+`\) ?\[0x`+memory+`\])`, "+0x", "(", "[0x")
	// libexecinfo of the BSDs: "0x201bc3 <main+0x13> at /tmp/app"
	returns(lookup.Relative, `(?P<at>0x`+memory+` <(?P<symbol>[^<>]*)\+`+address+`> at (?P<module>[^\s]+))`, "> at ", "+0x")
	// Kernels of the BSDs: "vpanic() at vpanic+0x17b/frame 0xfe00", "#1 0xc02fdd20 at vpanic+0x140", "at netbsd:vpanic+0x160"
	returns(lookup.Relative, `(?:\(.*\)|0x`+memory+`) at (?P<at>(?:netbsd:)?(?P<symbol>[A-Za-z_.][\w.]*)\+`+address+`(?:/frame 0x`+memory+`)?)\s*$`, " at ", "+0x")

	// systemd-coredump: "#0  0x00007f2b8 n/a (libc.so.6 + 0x8dd3c)"
	exact(lookup.Relative, `#0 .*(?P<at>\((?P<module>[^()\s]+) \+ `+address+`\))`, " + 0x")
	returns(lookup.Relative, `#\d+ .*(?P<at>\((?P<module>[^()\s]+) \+ `+address+`\))`, " + 0x")
	// Breakpad's and rust-minidump's stacks: " 1  libx.so + 0x1234"
	exact(lookup.Relative, `^ *\d+  (?P<at>(?P<module>[^\s()!]+) \+ `+address+`)\s*$`, " + 0x")
	// Sanitizers: "#1 0x55d4  (/usr/bin/app+0x1234) (BuildId: 1234)"
	exact(lookup.Relative, `(?P<at>\((?P<module>[^()\s][^()]*?)\+`+address+`\)`+buildID+`)`, "+0x")
	// HotSpot: "# C  [libx.so+0x1234]  f+0x14", "V  [libjvm.so+0x1234]  JavaThread::run()+0x14"
	exact(lookup.Relative, `^# *[CVjJvA]  (?P<at>\[(?P<module>[^\s\[\]]+)\+`+address+`\])`, "+0x", "[")
	// HotSpot's other frames; OpenJ9: "monitor_wait+0x5a (0x00007F11 [libj9thr29.so+0x7cba])"
	returns(lookup.Relative, `(?P<at>\[(?P<module>[^\s\[\]]+)\+`+address+`\])`, "+0x", "[")
	// Firefox: "#01: ???[/usr/lib/firefox/libxul.so +0x46d7415]", "UNKNOWN [/usr/lib/libX11.so.6 +0x0003A839]"
	returns(lookup.Relative, `(?P<at>(?:\?\?\?|UNKNOWN )?\[(?P<module>[^\[\]]+) \+`+address+`\])`, " +0x", "[")
	// Node.js, of a program that is loaded where it was linked: " 1: 0xb090e0 node::Abort() [node]"
	returns(lookup.Virtual, `^ *\d+: (?P<at>`+address+` [^\[\]]*\[(?P<module>[^\[\]]+)\])\s*$`, ": 0x", "[")
	// ClickHouse: "1. DB::Exception::Exception(int) @ 0xbb91104 in /usr/bin/clickhouse"
	returns(lookup.Virtual, `^ *\d+\. .* @ (?P<at>`+address+`(?: in (?P<module>/[^\s]+))?)\s*$`, "@ 0x")
	// glog, Abseil, folly: "PC: @     0x4005f7 main", "    @     0x40068b main"
	exact(lookup.Virtual, `\bPC: @ +(?P<at>`+address+`)`, "PC: @ ")
	returns(lookup.Virtual, `^    @ +(?P<at>`+address+`)`, "    @ ")
	// ESP32, with FILE: "Backtrace: 0x400d129a:0x3ffb2270 0x400d2305:0x3ffb2290"
	exact(lookup.Virtual, `(?P<at>\b0x(?P<addr>4[0-9a-f]{7}):0x3[0-9a-f]{7}\b)`, "Backtrace:")
	// Frames of BPF tools: "main+0x19 [app]"
	returns(lookup.Relative, `(?P<at>\b(?P<symbol>[A-Za-z_.$][\w.$]*)\+`+address+` \[(?P<module>[^\s\[\]]+)\])`, "+0x", "[")
	// Seastar and others: "/opt/scylladb/libreloc/libc.so.6+0x72463 (BuildId: 1234)"
	returns(lookup.Relative, `(?:^|[\s=:,;])(?P<at>(?P<module>[^\s()\[\]<>"'=,;+]+)\+`+address+`\b`+buildID+`)`, "+0x")
	return list
})

// reference returns the Reference of a match.
func (f *form) reference(line string, m []int) (r Reference, ok bool) {
	group := func(name string) string {
		i := 2 * f.expr.SubexpIndex(name)
		if i < 0 || m[i] < 0 {
			return ""
		}
		return line[m[i]:m[i+1]]
	}
	number := func(name string) uint64 {
		n, _ := strconv.ParseUint(group(name), 16, 64) // groups are at most 16 digits
		return n
	}
	id, err := hex.DecodeString(group("id"))
	if err != nil || len(id) == 0 {
		id = nil
	}
	at := 2 * f.expr.SubexpIndex("at")
	r = Reference{From: m[at], To: m[at+1], Module: group("module"), BuildID: id, Symbol: group("symbol"), Size: number("size"), Kind: f.kind, Addr: number("addr"), Return: f.ret}
	if f.kind == mapped {
		start, offset := number("start"), number("offset")
		r.Addr = number("ip")
		into := r.Addr - start
		r.Mapping = lookup.Mapping{Start: start, Limit: start + number("length"), Offset: offset - into, Whole: group("offset") == ""}
		if r.Addr < start || r.Addr >= r.Mapping.Limit || !r.Mapping.Whole && into > offset {
			return r, false
		}
	}
	if f.rest != nil {
		f.rest(&r, line)
	}
	return r, true
}
