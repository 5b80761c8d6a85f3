package logs_test

import (
	"fmt"
	"strings"
	"testing"

	"symkit/lookup"
	"symkit/lookup/logs"
)

func Example() {
	line := "    #1 0x55d4a (/usr/bin/app+0x1234) (BuildId: 0badcafe)"
	text := logs.Append(nil, line, func(dst []byte, r *logs.Reference) ([]byte, bool) {
		return fmt.Appendf(dst, "main at app.c:7 (%s)", r.Module), true
	})
	fmt.Println(string(text))
	// Output:
	//     #1 0x55d4a main at app.c:7 (/usr/bin/app)
}

// TestFind: lines as the programs write them.
func TestFind(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"#0 0x55d4 in main (/usr/bin/app+0x1234)", "/usr/bin/app  1234"},
		{"#0 0x55d4  (/usr/lib/my lib (2).so+0x1234)", ""},
		{"#0 0x55d4  (/usr/bin/app+0x1234) (BuildId: 0badcafe)", "/usr/bin/app 0badcafe 1234"},
		{"./app(main+0x1b) [0x40068b]", "./app main+1b return"},
		{"./app(+0x1139) [0x55d4e7d2c139]", "./app  1139 return"},
		{"/lib/x86_64-linux-gnu/libc.so.6(__libc_start_main+0x80) [0x7f1]", "/lib/x86_64-linux-gnu/libc.so.6 __libc_start_main+80 return"},
		{"      #01 pc 0000000000012345  /system/lib64/libc.so (abort+164) (BuildId: 0badcafe)", "/system/lib64/libc.so 0badcafe 12345 virtual"},
		{"  #02 pc 000123ab  /data/app/lib/arm/libx.so (std::f(int)+12)", "/data/app/lib/arm/libx.so  123ab virtual"},
		{"      #00 pc 000000000000403a  /data/app/~~a==/b-c==/base.apk!libtwo.so (offset 0xe000) (void f<g()>(int (*)(int))+12) (BuildId: 0badcafe) x", "/data/app/~~a==/b-c==/base.apk!libtwo.so@e000 0badcafe 403a virtual"},
		{"03-02 11:00:00.004  4242  4242 F DEBUG   :       #00 pc 000000000000403a  /data/app/base.apk (offset 0xe000)", "/data/app/base.apk@e000  403a virtual"},
		{"#05 pc 0001af75  /system/lib/libc.so (operator()", "/system/lib/libc.so  1af75 virtual"},
		{"    #00 abs 0000007a1b4d5e6f virt 00000000002a5e6f _kDartIsolateSnapshotInstructions+0x1a5e6f", "  2a5e6f return virtual"},
		{"[ 1.0] RIP: 0010:sysrq_handle_crash+0x16/0x20", " sysrq_handle_crash+16"},
		{"[ 1.0]  ? __handle_sysrq+0x9b/0x170", " __handle_sysrq+9b return"},
		{"[ 1.0]  ext4_read+0x1/0x2 [ext4]", "ext4 ext4_read+1 return"},
		{"[ 1.0]  ext4_read+0x1/0x2 [ext4(OE) 0123456789abcdef0123456789abcdef01234567]", "ext4 ext4_read+1 return"},
		{"[ 1.0] RIP: 0010:[<ffffffff81234567>]  [<ffffffff81234567>] f+0x1/0x2", " f+1"},
		{"[ 1.0] pc : f.isra.0+0x1/0x2 [x]", "x f.isra.0+1"},
		{"[ 1.0] lr : f+0x1/0x2", " f+1 return"},
		{"epc : f+0x1/0x2", " f+1"},
		{"PC is at f+0x1/0x2", " f+1"},
		{"EIP is at f+0x1/0x2", " f+1"},
		{"NIP [c000000000123456] f+0x1/0x2", " f+1"},
		{"Krnl PSW : 0704d 0000 (f+0x1/0x2)", " f+1"},
		{"WARNING: CPU: 1 PID: 2 at mm/x.c:12 f+0x1/0x2", " f+1"},
		{"./app() [0x40068b]", "./app  40068b return virtual"},
		{"./app[0x40068b]", "./app  40068b return virtual"},
		{"./app(+0x1139)[0x55d4e7d2c139]", "./app  1139 return"},
		{"a[0x1] = 2", ""},
		{"#0  0x00007f2b8 n/a (libc.so.6 + 0x8dd3c)", "libc.so.6  8dd3c"},
		{"                #11 0x00007f2b8 main (app + 0x1149)", "app  1149 return"},
		{"# C  [libx.so+0x1234]  f+0x14", "libx.so  1234"},
		{"V  [libjvm.so+0x8b1f52]  JavaThread::run()+0x12", "libjvm.so  8b1f52 return"},
		{"  Binary file \"/usr/bin/python3 x\", at _PyEval+0x1b [0x55d4]", "/usr/bin/python3 x _PyEval+1b return"},
		{"  Binary file \"/usr/bin/python3\", at +0x1b [0x55d4]", "/usr/bin/python3  1b return"},
		{"    #0 0x7ff6  (C:\\x\\app.exe+0x14000ABCD)", "C:\\x\\app.exe  14000abcd"},
		{"#01 pc 0000000000012345  /data/app/x==/base.apk!libx.so (offset 0x1000) (f(int (*)(char (*)()))+12) (BuildId: 0badcafe)",
			"/data/app/x==/base.apk!libx.so@1000 0badcafe 12345 virtual"},
		{"#00 pc 0xffbf20 libil2cpp.so (f+4) (BuildId: 0badcafe)", "libil2cpp.so 0badcafe ffbf20 virtual"},
		{"  #01  pc 0x00000000030dd788  /data/app/x==/base.apk!libx.so (BuildId: 0badcafe)", "/data/app/x==/base.apk!libx.so 0badcafe 30dd788 virtual"},
		{"#02 0x0000000000539054 /apex/com.android.art/lib64/libart.so (f+1600) (BuildId: 0badcafe)", "/apex/com.android.art/lib64/libart.so 0badcafe 539054 virtual"},
		{"#03 pc 01a17000  /data/app/x/lib/x86/libx.so (offset 0x1235000)", "/data/app/x/lib/x86/libx.so  1a17000 virtual"},
		{"#04 pc 0xfff <unknown>", ""},
		{"#05 0x00007f2b8c0d1234 /usr/lib/libx.so", ""},
		{"   4: 0x55d4 - core::panicking::panic", ""},
		{"             at ./src/main.rs:2:5", ""},
		{"goroutine 1 [running]:", ""},
		{"main.main()", ""},
		{"\t/tmp/x.go:7 +0x1d", ""},
		{"(+0x12)", ""},
		{"x+0x11111111111111111/0x2", ""},

		// Linux, of processes: before 6.8, since.
		{"seg[13733]: segfault at 8 ip 0000555d5bf49139 sp 00007ffeb8a7fec8 error 4 in seg[1139,555d5bf49000+1000] likely on CPU 1 (core 1, socket 0)",
			"seg  555d5bf49139 in 555d5bf49000+1000 of 1000"},
		{"[ 1.2] mongod[1]: segfault at 0 ip 00007f8a1b2c3d40 sp 00007ffd5e6f7a80 error 4 in libc.so.6[7f8a1b200000+1c0000]",
			"libc.so.6  7f8a1b2c3d40 in 7f8a1b200000+1c0000"},
		{"traps: a b[7] general protection fault ip:80483f1 sp:bfff error:0 in a b[8048000+1000]", "a b  80483f1 in 8048000+1000"},
		{"a[1]: segfault at 1000 ip 0000000000001000 sp 00007ffd error 14 in a[555d5bf49000+1000]", ""},
		{"a[1]: segfault at 1000 ip 0000555d5bf49139 sp 00007ffd error 14 in a[39,555d5bf49000+1000]", ""},
		{"a[1]: segfault at 0 ip 0000000000000000 sp 00007ffd error 14 likely on CPU 1", ""},

		// Linux, other processors.
		{"IP: [<ffffffff81234567>] f+0x1/0x2", " f+1"},
		{"TPC: <free_block+0x60/0x16c>", " free_block+60"},
		{"I7: <f+0x1/0x2>", " f+1 return"},
		{"    PC: [<00012345>] f+0x1/0x2", " f+1"},
		{"   ERA: 9000000000223f4c f+0x1/0x2", " f+1"},
		{" IAOQ[0]: f+0x1/0x2", " f+1"},
		{"[ERET  ]: f+0x1/0x2", " f+1"},
		{" show_stack from dump_stack_lvl+0x54/0x68", " dump_stack_lvl+54 return"},
		{"BUG: KASAN: use-after-free in f+0x1/0x2 [m]", "m f+1 return"},

		// Kernels of the BSDs.
		{"vpanic() at vpanic+0x17b/frame 0xfffffe009b971260", " vpanic+17b return"},
		{"#1 0xc02fdd20 at vpanic+0x140", " vpanic+140 return"},
		{"vpanic() at netbsd:vpanic+0x160", " vpanic+160 return"},
		{"panic(ffffffff81d5) at panic+0xbf", " panic+bf return"},
		{"we met at home+0x12", "home  12 return"},

		// C libraries, run-times, frameworks.
		{"(EE) 0: /usr/lib/xorg/Xorg (OsLookupColor+0x139) [0x59add9]", "/usr/lib/xorg/Xorg OsLookupColor+139 return"},
		{"3: ./dpdk-app (rte_dump_stack+0x2d) [55d4e7d2c139]", "./dpdk-app rte_dump_stack+2d return"},
		{"0x201bc3 <main+0x13> at /tmp/a.out", "/tmp/a.out main+13 return"},
		{"#01: ???[/usr/lib/firefox/libxul.so +0x46d7415]", "/usr/lib/firefox/libxul.so  46d7415 return"},
		{"_XEventsQueued+0x00000056 [/usr/lib/libX11.so.6 +0x000418C6]", "/usr/lib/libX11.so.6  418c6 return"},
		{"4XENATIVESTACK               monitor_wait+0x5a (0x00007F11 [libj9thr29.so+0x7cba])", "libj9thr29.so  7cba return"},
		{" 1: 0xb090e0 node::Abort() [node]", "node  b090e0 return virtual"},
		{" 2: 0xa1b70e  [node]", "node  a1b70e return virtual"},
		{" 4: v8::internal::Heap [node]", ""},
		{"1. ? @ 0x813dca0 in /usr/bin/clickhouse", "/usr/bin/clickhouse  813dca0 return virtual"},
		{"0. DB::Exception::Exception(int, bool) @ 0xbb91104", "  bb91104 return virtual"},
		{"PC: @           0x4005f7 main", "  4005f7 virtual"},
		{"    @     0x7f8a1b2c3d40 (unknown)", "  7f8a1b2c3d40 return virtual"},
		{"Backtrace: 0x400d129a:0x3ffb2270 0x400d2305:0x3ffb2290 |<-CORRUPTED", "  400d129a virtual;   400d2305 virtual"},
		{"        main+0x19 [app]", "app main+19 return"},
		{"	postgres: postgres postgres [local] SELECT(standard_ExecutorRun+0x15a) [0x561d91626a5a]", "postgres standard_ExecutorRun+15a return"},
		{"db postgres[972]:         postgres: alice shop 127.0.0.1(49204) SELECT(+0x135c32) [0x561d91460c32]", "postgres  135c32 return"},
		{"redis-server *:6399(debugCommand+0x26f)[0x55eb0006075f]", "redis-server debugCommand+26f return"},
		{"/usr/bin/valkey-sentinel 127.0.0.1:26379 [sentinel](+0x7d1ff)[0x55d5e1c3a1ff]", "/usr/bin/valkey-sentinel  7d1ff return"},
		{" > /tmp/rb/s.stripped() [0x1153]", "/tmp/rb/s.stripped  1153 return virtual"},
		{" > /usr/lib/x86_64-linux-gnu/libc.so.6(__write+0x10) [0xf8350]", "/usr/lib/x86_64-linux-gnu/libc.so.6 __write+10 return"},
		{"[vm:09942] [ 1] ./a.out[0x401142]", "./a.out  401142 return virtual"},
		{"[vm:09965] [12] /tmp/b.out(+0x1155)[0x563b6fcde155]", "/tmp/b.out  1155 return"},
		{"frame #5: <unknown function> + 0x6a60c9 (0x7efd970910c9 in /opt/torch/lib/libtorch_python.so)", "/opt/torch/lib/libtorch_python.so  6a60c9 return"},
		{"Apr 14 21:00:09 frame #1: c10::f(c10::Where, char const*) + 0x2a (0x7efd7464f82a in /opt/torch/lib/libc10.so) ", "/opt/torch/lib/libc10.so c10::f(c10::Where, char const*)+2a return"},
		{"frame #8: /home/user/.venv/bin/python() [0x510ceb]", "/home/user/.venv/bin/python  510ceb return virtual"},
		{"/usr/sbin/mysqld(f(unsigned char const*, long)+0x41) [0x1fd7161]", "/usr/sbin/mysqld f(unsigned char const*, long)+41 return"},
		{" 4: (ceph::f(char const*, int)+0x16d) [0x55b0c2ebd8a5]", " ceph::f(char const*, int)+16d return"},
		{" 5: (main+0x16d) [0x55b0c2ebd8a5]", " main+16d return"},
		{" 6: /usr/bin/ceph-osd(+0xaf8a66) [0x55b0c2ebda66]", "/usr/bin/ceph-osd  af8a66 return"},
		{" 7: (N::operator+(N, N)+0x1) [0x5] 8: ./x(N::operator()(int)+0x2) [0x6]", " N::operator+(N, N)+1 return; ./x N::operator()(int)+2 return"},
		{" 1  libx.so + 0x1234", "libx.so  1234"},
		{"  /opt/scylladb/libreloc/libc.so.6+0x90a6f", "/opt/scylladb/libreloc/libc.so.6  90a6f return"},
		{"released at: 0x194b7ff /opt/libc.so.6+0x72463 /opt/libc.so.6+0xf55eb (BuildId: 0badcafe)",
			"/opt/libc.so.6  72463 return; /opt/libc.so.6 0badcafe f55eb return"},

		// OpenHarmony.
		{"#00 pc 000e8400 /system/lib/ld-musl-arm.so.1(raise+176)(a40044d0acb68107cfc4adb5049c0725)",
			"/system/lib/ld-musl-arm.so.1 a40044d0acb68107cfc4adb5049c0725 e8400 virtual"},
		{"#02 pc 00008909 /data/crasher_cpp(D::Do(char const*) const+6)(d6cead5be17c9bb7eee2a9b4df4b7626)",
			"/data/crasher_cpp d6cead5be17c9bb7eee2a9b4df4b7626 8909 virtual"},
		{"    9 #00 pc 0000757c /system/bin/appspawn(55679d09bcdea35bb1e0d4e1d9a3e58f)",
			"/system/bin/appspawn 55679d09bcdea35bb1e0d4e1d9a3e58f 757c virtual"},
		{"#01 pc 00002f68 /data/libs/arm/libentry.so(test()+64)", "/data/libs/arm/libentry.so  2f68 virtual"},
		{"#00 pc 0000000000089824(00000000b6f44824) /system/lib/ld-musl-arm.so.1(ioctl+68)", "/system/lib/ld-musl-arm.so.1  89824 virtual"},
		{"#13 pc 0000000000000938(00000000004a8938) /data/test/demo", "/data/test/demo  938 virtual"},
		{"#01 at onClick (entry/src/main/ets/pages/Index.ets:80:5)", ""},
	} {
		var all []string
		for _, r := range logs.Find(tt.line) {
			text := r.Module + " "
			if r.Offset != 0 {
				text = fmt.Sprintf("%s@%x ", r.Module, r.Offset)
			}
			if r.Symbol != "" {
				text += r.Symbol + "+"
			} else {
				text += fmt.Sprintf("%x ", r.BuildID)
			}
			text += fmt.Sprintf("%x", r.Addr)
			if r.Return {
				text += " return"
			}
			if r.Kind == lookup.Virtual {
				text += " virtual"
			}
			if r.Mapping.Limit != 0 {
				text += fmt.Sprintf(" in %x+%x", r.Mapping.Start, r.Mapping.Limit-r.Mapping.Start)
				if !r.Mapping.Whole {
					text += fmt.Sprintf(" of %x", r.Mapping.Offset)
				}
			}
			all = append(all, text)
		}
		if got := strings.Join(all, "; "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.line, got, tt.want)
		}
	}
}

// FuzzAppend: references do not overlap, and without places a line stays as it is.
func FuzzAppend(f *testing.F) {
	f.Add("a (b+0x1) c (d+0x2) (BuildId: 0badcafe)")
	f.Add("./app(main+0x1b) [0x40068b] ? f+0x1/0x2 [m]")
	f.Add("#01 pc 0000000000012345  /a (b+1) (BuildId: 0badcafe)")
	f.Add("a[1]: segfault at 8 ip 5139 sp 7f error 4 in a[1139,5000+1000]")
	f.Add("Backtrace: 0x400d129a:0x3ffb2270 0x400d2305:0x3ffb2290")
	f.Fuzz(func(t *testing.T, line string) {
		at := 0
		for _, r := range logs.Find(line) {
			if r.From < at || r.To <= r.From || r.To > len(line) {
				t.Fatalf("%q: [%d, %d) after %d", line, r.From, r.To, at)
			}
			at = r.To
		}
		same := logs.Append(nil, line, func(dst []byte, _ *logs.Reference) ([]byte, bool) { return dst, false })
		if string(same) != line {
			t.Fatalf("%q became %q", line, same)
		}
	})
}
