package planted

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"symkit/check"
	"symkit/check/lint"
	"symkit/check/report"
	"symkit/dump"
	"symkit/elfx/companion"
	"symkit/internal/par"
)

// program is a fixture with its right symbol file.
type program struct {
	name string
	m    *companion.Module
	sym  []byte
}

// programs opens the fixtures of all machines, and dumps them.
func programs(t *testing.T) (all []program) {
	t.Helper()
	paths, err := filepath.Glob("../../testdata/elf/*.elf")
	if err != nil || len(paths) < 50 {
		t.Fatal(len(paths), err)
	}
	for _, path := range paths {
		m, _, err := companion.Open(t.Context(), []string{path}, companion.Search{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(m.Close)
		out, err := dump.Dump(t.Context(), m.Image, dump.Options{Inlines: true, Generator: "symkit test", Companions: m.Companions})
		if err != nil {
			continue // a fixture of an error
		}
		var sym bytes.Buffer
		err = out.Write(&sym)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, program{filepath.Base(path), m, sym.Bytes()})
	}
	return all
}

// bad returns the checks with findings, and whether a report refutes the file.
func bad(rep *report.Report) (names string, refuted bool) {
	var all []string
	for _, k := range rep.Checks {
		if k.Findings > 0 {
			all = append(all, k.Name)
		}
	}
	r := report.Result{Report: rep}
	return strings.Join(all, " "), r.Bad()
}

// TestPlanted: symcheck refutes 1,000 wrong files, and no right one. The log has how many of them lint refutes alone.
func TestPlanted(t *testing.T) {
	all := programs(t)
	all = slices.DeleteFunc(all, func(p program) bool {
		rep, err := check.File(t.Context(), p.m.Image, p.sym, check.Options{Companions: p.m.Companions})
		if err != nil {
			t.Fatal(p.name, err)
		}
		names, refuted := bad(rep)
		if names != "" {
			t.Errorf("%s: the right file: %s: %v", p.name, names, rep.Findings)
		}
		return refuted // a part is not verified
	})

	each := 1000/len(kinds) + 1
	if testing.Short() {
		each = 6
	}
	if n := os.Getenv("SYMKIT_PLANTED"); n != "" {
		_, err := fmt.Sscan(n, &each)
		if err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	type count struct{ planted, lint, check int }
	counts := make([]count, len(kinds))
	by := make([]map[string]int, len(kinds))
	for i := range by {
		by[i] = map[string]int{}
	}
	err := par.For(t.Context(), runtime.GOMAXPROCS(0), len(kinds)*each, func(n int) error {
		kind := n % len(kinds)
		var p program
		var wrong []byte
		var what string
		ok := false
		for i := range all {
			p = all[(n/len(kinds)*7+kind+i)%len(all)]
			wrong, what, ok = Plant(p.sym, kinds[kind].name, uint64(n))
			if ok {
				break
			}
		}
		if !ok {
			return fmt.Errorf("%s: no fixture has a place for it", kinds[kind].name)
		}
		linted, err := lint.File(wrong, report.Options{})
		if err != nil {
			return err
		}
		rep, err := check.File(t.Context(), p.m.Image, wrong, check.Options{Companions: p.m.Companions, Jobs: 1})
		if err != nil {
			return err
		}
		_, byLint := bad(linted)
		names, refuted := bad(rep)
		mu.Lock()
		defer mu.Unlock()
		c := &counts[kind]
		c.planted++
		if byLint {
			c.lint++
		}
		if refuted {
			c.check++
			by[kind][names]++
		} else {
			t.Errorf("%s, number %d, %s: not refuted: %s", kinds[kind].name, n, p.name, what)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	sum := count{}
	for i, c := range counts {
		t.Logf("%-40s %4d planted %4d refuted by lint %4d by check", kinds[i].name, c.planted, c.lint, c.check)
		sum.planted, sum.lint, sum.check = sum.planted+c.planted, sum.lint+c.lint, sum.check+c.check
	}
	t.Logf("%d kinds, %d programs: %d planted, %d refuted by lint, %d by check", len(kinds), len(all), sum.planted, sum.lint, sum.check)
}

// TestPlant: a number stands for the same fault, a right file stays as it is, and a file without a place for a fault is
// none.
func TestPlant(t *testing.T) {
	const sym = "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 app\nFILE 0 a.c\nINLINE_ORIGIN 0 f\n" +
		"FUNC m 10 20 0 main<int>\nINLINE 0 1 0 0 10 4 18 4\n10 10 1 0\n20 10 2 0\nFUNC 30 8 0 g\nPUBLIC 40 0 p\nPUBLIC m 50 0 q\n" +
		"STACK CFI INIT 10 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI 14 .cfa: $rsp 16 + $rbx: .cfa -16 + ^\n"
	if got := parse([]byte(sym), nil).text(); got != sym {
		t.Errorf("written again: %s", got)
	}
	for _, kind := range Kinds() {
		wrong, what, ok := Plant([]byte(sym), kind, 7)
		again, _, _ := Plant([]byte(sym), kind, 7)
		none := slices.Contains([]string{"FILE numbers swapped", "inlined calls lost", "inlined calls of another function"}, kind)
		if ok == none || ok && !bytes.Equal(wrong, again) {
			t.Errorf("%s: %v, %s", kind, ok, what)
		}
		_, _, ok = Plant([]byte("MODULE Linux x86_64 0123456789ABCDEF0 app\n"), kind, 7)
		always := slices.Contains([]string{"another id", "another name", "records of another CPU", "PUBLICs of data"}, kind)
		if ok != always {
			t.Errorf("%s of nothing: %v", kind, ok)
		}
	}
	_, _, ok := Plant([]byte(sym), "none", 0)
	if ok {
		t.Error("a kind that does not exist")
	}
}
