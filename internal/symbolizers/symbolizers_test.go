package symbolizers_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"symkit/internal/symbolizers"
	"symkit/lookup"
)

const program = "../../testdata/elf/cxx-x86_64-gcc12-O2-dw5.elf"

func open(t testing.TB) *lookup.File {
	t.Helper()
	f, err := lookup.Open(t.Context(), program, lookup.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

// gnu returns what addr2line prints for lines.
func gnu(t testing.TB, g symbolizers.GNU, f *lookup.File, lines string) string {
	t.Helper()
	var out bytes.Buffer
	q := symbolizers.Questions{Addr: g.Addr, Answerer: g.Answerer(f)}
	err := symbolizers.Serve(t.Context(), strings.NewReader(lines), &out, q)
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestGNU: answers are those of addr2line of binutils 2.40, perf's sentinel line "," included.
func TestGNU(t *testing.T) {
	f := open(t)
	for _, tt := range []struct {
		g          symbolizers.GNU
		line, want string
	}{
		{symbolizers.GNU{Addresses: true, Functions: true, Inlines: true, Wide: true}, "0x4012de",
			"0x00000000004012de\n_ZN4shop5StackIiLi4EE3popEv\n/symkit/src/cxx.h:36\nrun\n/symkit/src/cxx.cc:117\n"},
		{symbolizers.GNU{Addresses: true, Functions: true, Wide: true}, ",", "0x0000000000000000\n??\n??:0\n"},
		{symbolizers.GNU{Addresses: true}, "10", "0x00000010\n??:0\n"},
		{symbolizers.GNU{Functions: true, Inlines: true, Pretty: true, Basenames: true, Demangle: true}, "4012de",
			"shop::Stack<int, 4>::pop() at cxx.h:36\n (inlined by) run at cxx.cc:117\n"},
		{symbolizers.GNU{Functions: true}, "401635", "memcpy\n??:?\n"},
		{symbolizers.GNU{}, "0x4012dezz", "/symkit/src/cxx.h:36\n"},
	} {
		got := gnu(t, tt.g, f, tt.line+"\n")
		if got != tt.want {
			t.Errorf("%+v %s: %q, want %q", tt.g, tt.line, got, tt.want)
		}
	}
}

// TestLLVM: answers are those of llvm-symbolizer 14.
func TestLLVM(t *testing.T) {
	f := open(t)
	all := symbolizers.LLVM{Inlines: true, Demangle: true, Functions: "linkage"}
	with := func(change func(l *symbolizers.LLVM)) symbolizers.LLVM {
		l := all
		change(&l)
		return l
	}
	const pop = "shop::Stack<int, 4>::pop()\n/symkit/src/cxx.h:36:19\nrun\n/symkit/src/cxx.cc:117:25\n"
	for _, tt := range []struct {
		l          symbolizers.LLVM
		line, want string
	}{
		{all, "X 0x4012de", pop + "\n"},
		{all, "CODE X 0x4012de", pop + "\n"},
		{all, `"X" 4199134`, pop + "\n"},
		{all, "X 0x10", "??\n??:0:0\n\n"},
		{all, "X", "X\n"},
		{all, "", "\n"},
		{all, "X 1z", "X 1z\n"},
		{all, "X +0x4012de", "X +0x4012de\n"},
		{all, "DATA X 0x404060 what follows", "vtable for __cxxabiv1::__si_class_type_info\n4210752 64\n\n"},
		{all, "DATA X 0x404060", "vtable for __cxxabiv1::__si_class_type_info\n4210752 64\n\n"},
		{all, "DATA X 0x10", "??\n0 0\n\n"},
		{all, "FRAME X 0x4012de", "pop\nthis\n??:0\n?? 8 ??\n\n"},
		{all, "FRAME X 0x10", "??\n\n"},
		{with(func(l *symbolizers.LLVM) { l.Style, l.Pretty, l.Addresses = symbolizers.StyleGNU, true, true }), "FRAME X 0x4012de", "0x4012de: pop\nthis\n??:0\n?? 8 ??\n"},
		{with(func(l *symbolizers.LLVM) { l.Style = symbolizers.StyleJSON }), "FRAME X 0x4012de",
			`{"Address":"0x4012de","Frame":[{"DeclFile":"","DeclLine":0,"FunctionName":"pop","Name":"this","Size":"0x8","TagOffset":""}],"ModuleName":"X"}` + "\n"},
		{with(func(l *symbolizers.LLVM) { l.Style = symbolizers.StyleJSON }), "FRAME X 0x10", `{"Address":"0x10","Frame":[],"ModuleName":"X"}` + "\n"},
		{with(func(l *symbolizers.LLVM) { l.Style = symbolizers.StyleGNU }), "X 0x4012de", "shop::Stack<int, 4>::pop()\n/symkit/src/cxx.h:36\nrun\n/symkit/src/cxx.cc:117\n"},
		{with(func(l *symbolizers.LLVM) { l.Inlines = false }), "X 0x4012de", "run\n/symkit/src/cxx.h:36:19\n\n"},
		{with(func(l *symbolizers.LLVM) { l.Functions = "none" }), "X 0x4012de", "/symkit/src/cxx.h:36:19\n/symkit/src/cxx.cc:117:25\n\n"},
		{with(func(l *symbolizers.LLVM) { l.Functions = "short" }), "X 0x4012de", "pop\n/symkit/src/cxx.h:36:19\nrun\n/symkit/src/cxx.cc:117:25\n\n"},
		{with(func(l *symbolizers.LLVM) { l.Pretty, l.Addresses = true, true }), "X 0x4012de",
			"0x4012de: shop::Stack<int, 4>::pop() at /symkit/src/cxx.h:36:19\n (inlined by) run at /symkit/src/cxx.cc:117:25\n\n"},
		{with(func(l *symbolizers.LLVM) { l.Style = symbolizers.StyleJSON }), "DATA X 0x404060",
			`{"Address":"0x404060","Data":{"Name":"vtable for __cxxabiv1::__si_class_type_info","Size":"0x40","Start":"0x404040"},"ModuleName":"X"}` + "\n"},
		{with(func(l *symbolizers.LLVM) { l.Style = symbolizers.StyleJSON }), "X 1z",
			`{"Error":{"Message":"unable to parse arguments: X 1z"},"ModuleName":"X"}` + "\n"},
	} {
		var got []byte
		q, ok := tt.l.Parse(tt.line, "")
		if ok {
			got = tt.l.Answer(nil, f, q, "", &symbolizers.Scratch{})
		} else {
			got = tt.l.Invalid(nil, tt.line, "")
		}
		if string(got) != tt.want {
			t.Errorf("%s: %q, want %q", tt.line, got, tt.want)
		}
	}
}

// TestNames: names are demangled as c++filt and llvm-cxxfilt do.
func TestNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "names.sym")
	for _, tt := range []struct{ name, gnu, llvm string }{
		{"_ZL3foov.part.0.cold", "foo() [clone .part.0] [clone .cold]", "foo() (.part.0.cold)"},
		{"_ZN4core3fmt5Write9write_fmt17h02e4b9c6f8a1d357E.llvm.12", "core::fmt::Write::write_fmt", "core::fmt::Write::write_fmt::h02e4b9c6f8a1d357 (.llvm.12)"},
		{"_RNvC3foo3bar.llvm.77", "foo::bar", "foo::bar (.llvm.77)"},
		{"_RINvMNtCsgEmfK2I1SDS_4core6optionINtB3_6OptionNtNtNtB5_3net7ip_addr8Ipv4AddrE3mapNtBK_6IpAddrNcNtB1h_2V40EB5_", "<core::option::Option<core::net::ip_addr::Ipv4Addr>>::map::<core::net::ip_addr::IpAddr, core::net::ip_addr::IpAddr::V4>", "<core::option::Option<core::net::ip_addr::Ipv4Addr>>::map::<core::net::ip_addr::IpAddr, core::net::ip_addr::IpAddr::V4>"},
		{"_ZN4core3ptr25drop_in_place$LT$a..b$GT$17h120bb3e7384fffa3E.llvm.44", "core::ptr::drop_in_place<a::b>",
			"core::ptr::drop_in_place$LT$a..b$GT$::h120bb3e7384fffa3 (.llvm.44)"},
		{"_Z1fv.Tgm.1.cold", "_Z1fv.Tgm.1.cold", "f() (.Tgm.1.cold)"},
		{"_Z1fv._omp_fn.0", "f() [clone ._omp_fn.0]", "f() (._omp_fn.0)"},
		{"_Z1fv.avx512f", "f() [clone .avx512f]", "f() (.avx512f)"},
		{"_Z1fv.2.clone.3", "f() [clone .2] [clone .clone.3]", "f() (.2.clone.3)"},
		{"_ZN1a3b.cE", "a::b.c", "a::b.c"},
		{"_Znot.mangled", "_Znot.mangled", "_Znot.mangled"},
		{"main", "main", "main"},
		{"_ZNSt6thread6detachEv@GLIBCXX_3.4.11", "std::thread::detach()@GLIBCXX_3.4.11", "std::thread::detach()"},
		{"._ZN1a1bEv", ".a::b()", "._ZN1a1bEv"},
		{"_ZSt4swapIiENSt9enable_ifIXsr6__and_ISt6__not_ISt15__is_tuple_likeIT_EESt21is_move_constructibleIS3_ESt18is_move_assignableIS3_EEE5valueEvE4typeERS3_SC_",
			"std::enable_if<__and_<std::__not_<std::__is_tuple_like<int> >, std::is_move_constructible<int>, std::is_move_assignable<int> >::value, void>::type std::swap<int>(int&, int&)",
			"std::enable_if<__and_<std::__not_<std::__is_tuple_like<int>>, std::is_move_constructible<int>, std::is_move_assignable<int>>::value, void>::type std::swap<int>(int&, int&)"},
		{"_ZSt10__invoke_rIiR1AJicEENSt9enable_ifIX16is_invocable_r_vIT_T0_DpT1_EES3_E4typeEOS4_DpOS5_",
			"std::enable_if<is_invocable_r_v<int, A&, int, char>, int>::type std::__invoke_r<int, A&, int, char>(A&, int&&, char&&)",
			"std::enable_if<is_invocable_r_v<int, A&, int, char>, int>::type std::__invoke_r<int, A&, int, char>(A&, int&&, char&&)"},
		{"_ZN1aI1bIS_IiEEEC2B9nqe230101ILi0EEEPKcRKS3_", "a<b<a<int> > >::a[abi:nqe230101]<0>(char const*, a<b<a<int> > > const&)",
			"a<b<a<int>>>::a[abi:nqe230101]<0>(char const*, a<b<a<int>>> const&)"},
	} {
		err := os.WriteFile(path, []byte("MODULE Linux x86_64 0 names\nFUNC 10 10 0 "+tt.name+"\n"), 0o666)
		if err != nil {
			t.Fatal(err)
		}
		f, err := lookup.Open(t.Context(), path, lookup.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, _, _ := strings.Cut(gnu(t, symbolizers.GNU{Functions: true, Demangle: true}, f, "10\n"), "\n")
		l := symbolizers.LLVM{Demangle: true, Functions: "linkage"}
		answer := l.Answer(nil, f, symbolizers.Query{Kind: "CODE", Module: path, Addr: 0x10}, "", &symbolizers.Scratch{})
		theirs, _, _ := strings.Cut(string(answer), "\n")
		if got != tt.gnu || theirs != tt.llvm {
			t.Errorf("%s: %q, %q, want %q, %q", tt.name, got, theirs, tt.gnu, tt.llvm)
		}
		f.Close()
	}
}

// TestForgedNames: names that would take the stack or the memory, or that have line breaks, cost no more than a line.
func TestForgedNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "forged.sym")
	var double strings.Builder
	double.WriteString("_Z1f1aIiiE")
	for _, c := range "_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		double.WriteString("S_I" + strings.TrimSuffix("S"+string(c)+"_", "__") + "_" + "S_E")
	}
	names := []string{"_Z1f" + strings.Repeat("P", 4<<20) + "i", "_Z1f" + strings.Repeat("1aI", 1<<20), double.String(), "_Z", "a\rb\x1b"}
	var text strings.Builder
	text.WriteString("MODULE Linux x86_64 0 forged\n")
	for i, name := range names {
		text.WriteString(fmt.Sprintf("FUNC %x 10 0 %s\n", 0x10*i, name))
	}
	err := os.WriteFile(path, []byte(text.String()), 0o666)
	if err != nil {
		t.Fatal(err)
	}
	f, err := lookup.Open(t.Context(), path, lookup.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i, name := range names {
		got := gnu(t, symbolizers.GNU{Functions: true, Demangle: true}, f, fmt.Sprintf("%x\n", 0x10*i))
		if strings.Count(got, "\n") != 2 || len(got) > len(name)+1<<17 || strings.ContainsAny(got, "\r\x1b") {
			t.Errorf("%.50s: %d bytes, %.200q", name, len(got), got)
		}
	}
}

// each returns what makes Answerers of a function without state.
func each(answer stateless) func() symbolizers.Answerer {
	return func() symbolizers.Answerer { return answer }
}

type stateless func(dst []byte, line string) []byte

func (answer stateless) Answer(dst []byte, q symbolizers.Question) []byte { return answer(dst, q.Line) }
func (stateless) Expect([]uint64)                                         {}
func (stateless) Rest()                                                   {}

// zero is an Addr of lines without addresses.
func zero([]byte) (uint64, bool) { return 0, false }

// TestServe: every line has its answer, in order, however the input is cut.
func TestServe(t *testing.T) {
	var in, want strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&in, "%d\r\n", (i*7919)%1000)
		fmt.Fprintf(&want, "<%d>", (i*7919)%1000)
	}
	in.WriteString("last")
	want.WriteString("<last>")
	q := symbolizers.Questions{
		Addr:     func(line []byte) (uint64, bool) { n, _ := strconv.ParseUint(string(line), 10, 64); return n, false },
		Answerer: each(func(dst []byte, line string) []byte { return append(append(append(dst, '<'), line...), '>') }),
	}
	pieces := func(text string, most int) io.Reader { return &pieces{strings.NewReader(text), most} }
	for name, r := range map[string]io.Reader{
		"large pieces": pieces(in.String(), 1<<20), "pieces of 4,095 bytes": pieces(in.String(), 4095), "few lines at once": pieces(in.String(), 100),
		"few lines, then many": io.MultiReader(pieces(in.String()[:1001], 100), pieces(in.String()[1001:], 1<<20)),
	} {
		var out bytes.Buffer
		err := symbolizers.Serve(t.Context(), r, &out, q)
		if err != nil || out.String() != want.String() {
			t.Errorf("%s: %v, %d bytes, want %d", name, err, out.Len(), want.Len())
		}
	}
}

// TestServeMany: answers to many questions are those to each question alone.
func TestServeMany(t *testing.T) {
	f := open(t)
	g := symbolizers.GNU{Addresses: true, Functions: true, Inlines: true, Wide: true}
	alone := g.Answerer(f)()
	var in strings.Builder
	var want []byte
	for i := range 100_000 {
		addr := 0x400f00 + uint64(i*7919)%0x900
		fmt.Fprintf(&in, "%#x\n", addr)
		want = alone.Answer(want, symbolizers.Question{Addr: addr, Plain: true})
	}
	got := gnu(t, g, f, in.String())
	if got != string(want) {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
}

// TestServeLong: what is too long for a line is left out, or a line of its own.
func TestServeLong(t *testing.T) {
	for _, split := range []bool{false, true} {
		var out bytes.Buffer
		q := symbolizers.Questions{Addr: zero, Split: split,
			Answerer: each(func(dst []byte, line string) []byte { return fmt.Appendf(dst, "%d ", len(line)) })}
		const most = 1 << 20
		var in strings.Builder
		for _, n := range []int{1, most, most + 1, 0, 3*most + 5, 2, most + 7} {
			in.WriteString(strings.Repeat("x", n) + "\n")
		}
		err := symbolizers.Serve(t.Context(), strings.NewReader(strings.TrimSuffix(in.String(), "\n")), &out, q)
		want := "1 1048576 1048576 0 1048576 2 1048576 "
		if split {
			want = "1 1048576 1048576 1 0 1048576 1048576 1048576 5 2 1048576 7 "
		}
		if err != nil || out.String() != want {
			t.Errorf("%v: %q, %v, want %q", split, out.String(), err, want)
		}
	}
}

// TestServeLarge: answers that take too much memory together are in order, too.
func TestServeLarge(t *testing.T) {
	const lines, size = 3000, 100_000
	q := symbolizers.Questions{Addr: func(line []byte) (uint64, bool) {
		n, _ := strconv.ParseUint(string(line), 10, 64)
		return n * 7919 % lines, false
	},
		Answerer: each(func(dst []byte, line string) []byte { return fmt.Appendf(dst, "%*s\n", size-1, line) })}
	var in strings.Builder
	for i := range lines {
		fmt.Fprintln(&in, i)
	}
	out := &numbered{}
	err := symbolizers.Serve(t.Context(), strings.NewReader(in.String()), out, q)
	if err != nil || out.err != nil || out.next != lines {
		t.Errorf("%d answers, %v, %v", out.next, err, out.err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapSys > 200<<20 {
		t.Errorf("%d MiB of memory", m.HeapSys>>20)
	}
}

// numbered reads numbers on lines, which have to ascend from 0.
type numbered struct {
	rest []byte
	next int
	err  error
}

func (w *numbered) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		line, rest, found := bytes.Cut(w.rest, []byte("\n"))
		if !found {
			return len(p), nil
		}
		w.rest = bytes.Clone(rest)
		if string(bytes.TrimSpace(line)) != fmt.Sprint(w.next) {
			w.err = fmt.Errorf("%.20q after %d", bytes.TrimSpace(line), w.next-1)
		}
		w.next++
	}
}

// pieces reads few bytes at once.
type pieces struct {
	r    io.Reader
	most int
}

func (p *pieces) Read(buf []byte) (int, error) { return p.r.Read(buf[:min(len(buf), p.most)]) }

// TestServeTurns: an answer comes before the next question is asked.
func TestServeTurns(t *testing.T) {
	in, ask := io.Pipe()
	answers, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		q := symbolizers.Questions{Addr: zero, Answerer: each(func(dst []byte, line string) []byte { return append(dst, line+"!\n"...) })}
		done <- symbolizers.Serve(context.Background(), in, out, q)
	}()
	buf := make([]byte, 100)
	for i := range 100 {
		fmt.Fprintf(ask, "%d\n", i)
		n, err := answers.Read(buf)
		if want := fmt.Sprintf("%d!\n", i); err != nil || string(buf[:n]) != want {
			t.Fatalf("%q, %v, want %q", buf[:n], err, want)
		}
	}
	failed := errors.New("failed")
	ask.CloseWithError(failed)
	err := <-done
	if !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
}

// FuzzGNU: each line has one answer, which begins with its address.
func FuzzGNU(f *testing.F) {
	file, err := lookup.Open(context.Background(), program, lookup.Options{})
	if err != nil {
		f.Fatal(err)
	}
	for _, line := range []string{"0x4012de", ",", "zz", " 10", "0x", "ffffffffffffffffffff"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		g := symbolizers.GNU{Addresses: true, Functions: true, Inlines: true, Demangle: true, Wide: true}
		addr, plain := g.Addr([]byte(line))
		got := string(g.Answerer(file)().Answer(nil, symbolizers.Question{Addr: addr, Plain: plain}))
		if !strings.HasPrefix(got, fmt.Sprintf("0x%016x\n", addr)) || strings.Count(got, "\n")%2 != 1 {
			t.Errorf("%q: %q", line, got)
		}
	})
}

// FuzzLLVM: a line is a question with an address, or is given back.
func FuzzLLVM(f *testing.F) {
	file, err := lookup.Open(context.Background(), program, lookup.Options{})
	if err != nil {
		f.Fatal(err)
	}
	for _, line := range []string{"X 0x4012de", `CODE "X Y" 12`, "DATA X 0x404060", "FRAME X 1", "BUILDID:00 1", "FILE:x 07", "'"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for _, style := range []symbolizers.Style{symbolizers.StyleLLVM, symbolizers.StyleGNU, symbolizers.StyleJSON} {
			l := symbolizers.LLVM{Style: style, Inlines: true, Demangle: true, Functions: "linkage"}
			q, ok := l.Parse(line, "")
			if !ok {
				got := string(l.Invalid(nil, line, ""))
				if style != symbolizers.StyleJSON && got != line+"\n" {
					t.Errorf("%q: %q", line, got)
				}
				continue
			}
			if q.Module == "" {
				t.Errorf("%q: no module", line)
			}
			got := l.Answer(nil, file, q, "", &symbolizers.Scratch{})
			if len(got) == 0 || got[len(got)-1] != '\n' {
				t.Errorf("%q: %q", line, got)
			}
		}
	})
}
