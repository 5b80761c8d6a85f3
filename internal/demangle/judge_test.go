//go:build oracle

package demangle

import (
	"bytes"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Two demanglers judge ours: GNU's c++filt and LLVM's llvm-cxxfilt. Their code has nothing in
// common with ours, nor with the library that check uses, and little with each other. Where both agree, ours
// has to be the same; docs/names.md lists what is not counted. Where they differ neither decides, as each has
// defects of its own:
//   - c++filt takes types from the wrong template in names that refer to a local entity of a
//     template, writes the destructor of a lambda as that of the function around it, and has two
//     commas where a pack in the middle is empty;
//   - llvm-cxxfilt refuses or misreads names in which GCC writes a scope as a type (see cxx/scope.go), refuses
//     inherited constructors, repeats const, and calls lambdas 'lambda'.

// layout removes what demanglers write differently without a difference in meaning.
func layout(text string) string {
	text = copySuffix.ReplaceAllString(text, "")
	text, _, _ = strings.Cut(text, " requires ")
	text = numbered(numbered(lambdas(text), "{parm#", "}", "fp", -2), "'unnamed", "'", "{unnamed type#", 2)
	return layoutReplacer.Replace(strings.ReplaceAll(text, " ", ""))
}

var (
	// copySuffix is how they write the suffix of a compiler's copy. Ours drops it.
	copySuffix = regexp.MustCompile(`( \[clone [^\]]*\]| \(\.[^()]*\))+$`)

	// Parentheses in expressions differ: !has<T>::value, !(has<T>::value). Without
	// spaces, "> >" is ">>", "operator<< <" is "operator<<<". An empty pack leaves a comma
	// in theirs. LLVM has its own word for nullptr's type, and repeats const.
	layoutReplacer = strings.NewReplacer(",>", ">", "(,", "", "<,", "<", ",)", "", "decltype(nullptr)", "std::nullptr_t", "constconst", "const",
		"(", "", ")", "", "{unnamedtype#", "{unnamed")
)

// numbered replaces begin, a number and end by with and the number, increased by add. LLVM's first
// has no number.
func numbered(text, begin, end, with string, add int) string {
	for {
		before, rest, ok := strings.Cut(text, begin)
		number, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			return text
		}
		n, err := strconv.Atoi(number)
		switch {
		case number == "":
			n = 1
		case err != nil:
			return text
		default:
			n += add
		}
		shown := strconv.Itoa(n)
		if with == "fp" && n < 0 { // the first parameter
			shown = ""
		}
		text = before + with + shown + after
	}
}

// lambdas writes LLVM's 'lambda0'(int) as {lambda(int)#2}.
func lambdas(text string) string {
	for {
		before, rest, ok := strings.Cut(text, "'lambda")
		number, after, closed := strings.Cut(rest, "'")
		if !ok || !closed || after == "" || after[0] != '(' {
			return text
		}
		n := 1
		if number != "" {
			n, _ = strconv.Atoi(number)
			n += 2
		}
		depth, end := 0, 0
		for end < len(after) {
			depth += strings.Count(after[end:end+1], "(") - strings.Count(after[end:end+1], ")")
			end++
			if depth == 0 {
				break
			}
		}
		text = before + "{lambda" + after[:end] + "#" + strconv.Itoa(n) + "}" + after[end:]
	}
}

// excused reports whether both judges are wrong, or ours is left out on purpose.
func excused(name, got, judges string) bool {
	// In a template whose argument is a local entity of another, a substitution means the first one's arguments.
	return localArgument.MatchString(name) || len(judges) > MaxLength && got == name
}

var localArgument = regexp.MustCompile(`I.*Z.*I.*E.*E.*S[0-9A-Z]*_`)

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
		if len(name) <= 1<<14 && !bytes.ContainsAny(name, " \t\r\n,()") {
			names = append(names, string(name))
		}
	}
	if len(names) < least {
		t.Fatalf("only %d names", len(names))
	}

	gnu := filtered(t, names, "c++filt", "-i", "--no-recurse-limit")
	llvm := filtered(t, names, "llvm-cxxfilt")
	excuses, differ, refused, failed := 0, 0, 0, 0
	for i, name := range names {
		got, _ := Demangle([]byte(name))
		text, a, b := layout(got), layout(gnu[i]), layout(llvm[i])
		switch {
		case text == a || text == b:
		case gnu[i] == name && llvm[i] == name:
			refused++
		case a != b:
			differ++
		case excused(name, got, gnu[i]):
			excuses++
		default:
			failed++
			if failed <= 20 {
				t.Errorf("%s\n ours         %s\n c++filt      %s\n llvm-cxxfilt %s", name, got, gnu[i], llvm[i])
			}
		}
	}

	t.Logf("%d names; both judges refuse %d, write %d differently, and are wrong or too long for us in %d", len(names), refused, differ, excuses)
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
