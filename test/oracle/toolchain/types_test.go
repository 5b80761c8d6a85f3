//go:build oracle

package toolchain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/elfx/companion"
)

// typesProgram has hundreds of types of the standard library, all in type units with
// -fdebug-types-section, and code from its headers.
const typesProgram = `#include <map>
#include <regex>
#include <string>
#include <thread>
#include <vector>
static std::map<std::string, int> seen;
static int work(const std::string &text)
{
	seen[text]++;
	return std::regex_search(text, std::regex("a+b"));
}
int main(int argc, char **argv)
{
	std::vector<std::string> all(argv, argv + argc);
	int found = 0;
	std::thread other([&] { for (auto &text : all) found += work(text); });
	other.join();
	return found + (int)seen.size();
}
`

// TestOracleTypeUnits: type units change no record, for any compiler, linker, version of
// DWARF and form of the debug information.
func TestOracleTypeUnits(t *testing.T) {
	for _, cc := range []string{"gcc", "clang"} {
		for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
			t.Run(cc+version, func(t *testing.T) {
				t.Parallel()
				x := New(t, cc, "-g", "-O2", version)
				if err := os.WriteFile(x.Path("types.cc"), []byte(typesProgram), 0o644); err != nil {
					t.Fatal(err)
				}
				x.typeUnits()
			})
		}
	}
}

// typeUnits compares the program with type units, linked by each linker, split and packed, with
// the program without them.
func (x *Toolchain) typeUnits() {
	compile := func(program string, flags ...string) {
		x.Run(x.cxx(), append(append(flags, x.Base...), "-c", "types.cc", "-o", program+".o")...)
	}
	link := func(program, linker string) {
		x.Run(x.cxx(), program+".o", "-pthread", "-fuse-ld="+linker, "-Wl,--build-id=sha1", "-o", program)
	}
	compile("plain")
	compile("types", "-fdebug-types-section")
	compile("split", "-fdebug-types-section", "-gsplit-dwarf")

	for _, linker := range []string{"bfd", "gold", "lld"} {
		for _, program := range []string{"plain", "types", "split"} {
			link(program, linker)
		}
		want := x.Dump("plain", companion.Search{})
		if lines := strings.Count(want, "\nINLINE "); lines < 1000 {
			x.t.Fatalf("only %d inlined calls in the plain program", lines)
		}
		x.same(linker+", type units", "types", companion.Search{}, want)
		x.same(linker+", type units in a .dwo file", "split", companion.Search{}, want)
		for _, tool := range x.packers() {
			out := x.Path(tool)
			if err := os.MkdirAll(out, 0o755); err != nil {
				x.t.Fatal(err)
			}
			x.Run(tool, "-o", filepath.Join(out, "split.dwp"), "split.dwo")
			x.same(linker+", "+tool, "split", companion.Search{SplitDirs: []string{out}}, want)
		}
	}
}
