//go:build oracle

package symaddr

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ianlancetaylor/demangle"

	"symkit/test/oracle"
)

// Where GNU's addr2line -C writes another name than symaddr, another demangler has to say what symaddr says: package
// demangle, or llvm-cxxfilt. Package symbolizers uses neither for addr2line.

// The kinds of differences of demangled names.
const (
	notDemangled = "names: addr2line does not demangle some, which package demangle or llvm-cxxfilt does"
	otherParser  = "names: addr2line misreads some, of which package demangle or llvm-cxxfilt says what symaddr says"
)

// difference is a name that addr2line and symaddr demangle otherwise.
type difference struct{ mangled, ours, gnu string }

// judgeNames notes the kind of each difference.
func (c *gnuComparison) judgeNames(all []difference, wrong *oracle.Diffs) {
	var open []difference
	for _, d := range all {
		kind := otherParser
		if d.gnu == d.mangled {
			kind = notDemangled
		}
		text, err := demangle.ToString(d.mangled)
		switch {
		case c.judged[d.mangled]:
		case unspaced(d.ours) == unspaced(d.gnu), err == nil && unspaced(text) == unspaced(d.ours):
			c.kinds[kind]++
		default:
			open = append(open, d)
			continue
		}
		c.judged[d.mangled] = true
	}
	if len(open) == 0 {
		return
	}

	var in strings.Builder
	for _, d := range open {
		in.WriteString(d.mangled + "\n")
	}
	texts := strings.Split(strings.TrimSuffix(run(c.t, "", in.String(), "llvm-cxxfilt"), "\n"), "\n")
	for i, d := range open {
		switch {
		case d.gnu == d.mangled && texts[i] == d.mangled && strings.Contains(d.mangled, "__any_stringcv"):
			// libstdc++'s conversion operator template, which no other demangler reads: the source says its name.
			c.kinds[notDemangled]++
		case gnuForm(texts[i]) != plain(d.ours):
			wrong.Add("%s:\n\t\tours %s\n\t\tGNU  %s\n\t\tLLVM %s", d.mangled, d.ours, d.gnu, texts[i])
			continue
		case d.gnu == d.mangled:
			c.kinds[notDemangled]++
		default:
			c.kinds[otherParser]++
		}
		c.judged[d.mangled] = true
	}
}

// unspaced returns a name without its blanks.
func unspaced(name string) string { return strings.ReplaceAll(name, " ", "") }

var (
	lambda  = regexp.MustCompile(`'lambda(\d*)'(\()`)
	unnamed = regexp.MustCompile(`'unnamed(\d*)'`)
	// addressOf matches the address of a function that is an argument, in the parentheses that some write: &(f(int)).
	addressOf = regexp.MustCompile(`&\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)`)
)

// gnuForm returns a name of llvm-cxxfilt in GNU's form, without blanks: {lambda(int)#2}, not 'lambda0'(int).
func gnuForm(name string) string {
	number := func(digits string) string {
		n, err := strconv.Atoi(digits)
		if err != nil {
			return "1"
		}
		return strconv.Itoa(n + 2)
	}
	for {
		m := lambda.FindStringSubmatchIndex(name)
		if m == nil {
			break
		}
		end, depth := m[4], 0
		for ; end < len(name); end++ {
			depth += strings.Count("(", name[end:end+1]) - strings.Count(")", name[end:end+1])
			if depth == 0 {
				break
			}
		}
		end = min(end+1, len(name))
		name = name[:m[0]] + "{lambda" + name[m[4]:end] + "#" + number(name[m[2]:m[3]]) + "}" + name[end:]
	}
	name = unnamed.ReplaceAllStringFunc(name, func(text string) string {
		return "{unnamed type#" + number(unnamed.FindStringSubmatch(text)[1]) + "}"
	})
	return plain(name)
}

// plain returns a name without its blanks, and without the parentheses around functions whose addresses are arguments.
func plain(name string) string { return addressOf.ReplaceAllString(unspaced(name), "&$1") }

// TestGNUForm: names of llvm-cxxfilt in GNU's form.
func TestGNUForm(t *testing.T) {
	for name, want := range map[string]string{
		"f()::'lambda'()::operator()() const":              "f()::{lambda()#1}::operator()()const",
		"f()::'lambda1'(g()::'lambda'(int), char)::h()":    "f()::{lambda(g()::{lambda(int)#1},char)#3}::h()",
		"X::'unnamed0'::f(std::vector<a, std::less<a>>)":   "X::{unnamedtype#2}::f(std::vector<a,std::less<a>>)",
		"f()::'lambda'(void (*)(int))::operator()() const": "f()::{lambda(void(*)(int))#1}::operator()()const",
	} {
		got := gnuForm(name)
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
