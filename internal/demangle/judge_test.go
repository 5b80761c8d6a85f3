//go:build oracle

package demangle

import (
	"bytes"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Two demanglers judge ours: GNU's c++filt and LLVM's llvm-cxxfilt. Their code has nothing in
// common with ours, nor with the library that ours and check use, and little with
// each other. A text is right if one of them agrees. Each has defects of its own:
//   - c++filt takes types from the wrong template in names that refer to a local entity of a
//     template, writes the destructor of a lambda as that of the function around it, and has two
//     commas where a pack in the middle is empty;
//   - llvm-cxxfilt refuses or misreads names in which GCC writes a scope as a type (see cxx_scope.go), refuses
//     inherited constructors, repeats const, and calls lambdas 'lambda' (layout).

// layout removes what demanglers write differently without a difference in meaning.
func layout(text string) string {
	text = copySuffix.ReplaceAllString(text, "")
	return layoutReplacer.Replace(strings.ReplaceAll(text, " ", ""))
}

var (
	// copySuffix is how they write the suffix of a compiler's copy. Ours drops it.
	copySuffix = regexp.MustCompile(`( \[clone [^\]]*\]| \(\.[^()]*\))+$`)

	// Parentheses in expressions differ: !has<T>::value, !(has<T>::value). Without
	// spaces, "> >" is ">>", "operator<< <" is "operator<<<". An empty pack leaves a comma
	// in ours and the library's, none in theirs. LLVM has its own word for
	// nullptr's type, and repeats const.
	layoutReplacer = strings.NewReplacer(",>", ">", "(,", "", "<,", "<", ",)", "", "decltype(nullptr)", "std::nullptr_t", "constconst", "const",
		"(", "", ")", "")
)

// excuses are the kinds of names that both judges write differently. None has to do
// with substitutions. What is in no kind must agree with one judge.
var excuses = []struct {
	why  string
	name *regexp.Regexp
}{
	// Ours leaves out the parameters, as the library does: template <&f>, theirs <&(f(int))>.
	{"function as an argument of a template", regexp.MustCompile(`L_?Z`)},
	// c++filt has the wrong name, llvm-cxxfilt none.
	{"destructor or constructor of a lambda or a type without a name", regexp.MustCompile(`(Ul.*E\d*_|Ut\d*_)[CD]\d`)},
	// c++filt calls them by the base class, llvm-cxxfilt refuses many.
	{"inherited constructor", regexp.MustCompile(`CI\d`)},
	// c++filt takes parameters of the wrong template, llvm-cxxfilt writes what the function around
	// returns, and calls lambdas otherwise.
	{"local entity of a template", regexp.MustCompile(`Z.*I.*E`)},
}

// filtered runs a demangler over names.
func filtered(t *testing.T, names []string, command ...string) []string {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", command, err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(names) {
		t.Fatalf("%v: %d lines for %d names", command, len(lines), len(names))
	}
	return lines
}

// judge compares names, which must be at least so many, with the texts of the judges.
func judge(t *testing.T, all iter.Seq[[]byte], least int) {
	t.Helper()
	var names []string
	for name := range all {
		if len(name) <= cxxMaxInput && !bytes.ContainsAny(name, " \t\r\n,()") {
			names = append(names, string(name))
		}
	}
	if len(names) < least {
		t.Fatalf("only %d names", len(names))
	}

	gnu := filtered(t, names, "c++filt", "-i", "--no-recurse-limit")
	llvm := filtered(t, names, "llvm-cxxfilt")
	excused, scopes, refused, failed := map[string]int{}, 0, 0, 0
	for i, name := range names {
		got, _ := Demangle([]byte(name))
		misread := IsMisread([]byte(name))
		if misread {
			scopes++
		}
		if text := layout(got); text == layout(gnu[i]) || text == layout(llvm[i]) {
			continue
		}
		if gnu[i] == name && llvm[i] == name {
			refused++
			continue
		}

		kind := slices.IndexFunc(excuses, func(e struct {
			why  string
			name *regexp.Regexp
		}) bool {
			return e.name.MatchString(name)
		})
		if kind >= 0 && !misread {
			excused[excuses[kind].why]++
			continue
		}
		if failed++; failed <= 20 {
			t.Errorf("%s\n ours         %s\n c++filt      %s\n llvm-cxxfilt %s", name, got, gnu[i], llvm[i])
		}
	}

	t.Logf("%d names, %d of them with scopes that the library reads wrongly; %d that both judges refuse; in kinds that both write differently: %v",
		len(names), scopes, refused, excused)
	if failed > 0 {
		t.Errorf("%d names differ from both judges", failed)
	}
}

// TestOracleJudge takes GCC's C++ library and LLVM's, which Clang compiled in part.
func TestOracleJudge(t *testing.T) {
	corpus := os.Getenv("SYMKIT_CORPUS")
	if corpus == "" {
		t.Fatal("SYMKIT_CORPUS is not set")
	}
	t.Run("libstdc++", func(t *testing.T) { judge(t, cxxNames(t, filepath.Join(corpus, "libstdc++6-12-dbg")), 5_000) })
	t.Run("LLVM", func(t *testing.T) { judge(t, cxxNames(t, libLLVM(t)), 10_000) })
}

// libLLVM is the library that llvm-cxxfilt and the compiler are made of.
func libLLVM(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("/usr/lib/*/libLLVM-14.so.1")
	if err != nil || len(files) == 0 {
		t.Fatalf("libllvm14 is not installed: %v", err)
	}
	path, err := filepath.EvalSymlinks(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCorpusJudge takes all names of all files.
func TestCorpusJudge(t *testing.T) { judge(t, corpusNames(t), 500_000) }
