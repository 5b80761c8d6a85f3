//go:build oracle

package gosym

import (
	"path/filepath"
	"testing"
)

// TestOracleMachines compares with the DWARF of the same program on every
// machine with its own byte order, pointer size or shortest instruction, and
// in the two kinds of a position-independent file.
func TestOracleMachines(t *testing.T) {
	for _, arch := range []string{"386", "amd64", "arm", "arm64", "loong64", "mips", "mips64", "ppc64", "ppc64le", "riscv64", "s390x"} {
		t.Run(arch, func(t *testing.T) {
			f := openFile(t, build(t, "go", []string{"GOARCH=" + arch, "GOOS=linux"}))
			compareAll(t, f)
		})
	}
	t.Run("pie", func(t *testing.T) {
		compareAll(t, openFile(t, build(t, "go", nil, "-buildmode=pie")))
	})
	t.Run("external pie", func(t *testing.T) {
		compareAll(t, openFile(t, build(t, "go", []string{"CGO_ENABLED=1"}, "-buildmode=pie", "-ldflags=-linkmode=external")))
	})
	t.Run("external", func(t *testing.T) {
		compareAll(t, openFile(t, build(t, "go", []string{"CGO_ENABLED=1"}, "-ldflags=-linkmode=external")))
	})
	for arch, cc := range map[string]string{"arm": "arm-linux-gnueabihf-gcc", "ppc64le": "powerpc64le-linux-gnu-gcc"} {
		t.Run("text sections "+arch, func(t *testing.T) {
			f := openFile(t, build(t, "go", []string{"GOARCH=" + arch, "CGO_ENABLED=1", "CC=" + cc},
				"-ldflags=-linkmode=external -debugtextsize=65536"))
			compareAll(t, f)
			if n := len(f.table(t).module.sects); n < 2 {
				t.Errorf("%d text sections", n)
			}
		})
	}
	t.Run("stripped", func(t *testing.T) { // the twin of TestProgram, by its functions
		f := openFile(t, build(t, "go", nil, "-ldflags=-s -w"))
		compareGosym(t, f, f.table(t))
	})
}

// TestCorpusReleases does so for other releases, which the go command fetches.
func TestCorpusReleases(t *testing.T) {
	for _, release := range []string{
		"go1.16.15", "go1.17.13", "go1.18.10", "go1.19.13", "go1.20.14", "go1.21.13", "go1.22.12", "go1.23.12", "go1.24.11", "go1.25.5", "go1.26.8", "go1.27.1",
	} {
		env := []string{"GOTOOLCHAIN=" + release, "GOENV=off"}
		t.Run(release, func(t *testing.T) {
			generics := release >= "go1.18"
			if generics {
				compareAll(t, openFile(t, build(t, "go", env, "main.go")))
			}
			compareAll(t, openFile(t, buildIn(t, filepath.Join("..", "..", "testdata", "src", "goreleases"), "go", env, "main.go")))
		})
	}
}

func compareAll(t *testing.T, f *file) {
	tab := f.table(t)
	if !tab.HasInlines() {
		t.Error("the module data was not found")
	}
	compareGosym(t, f, tab)
	if differ := compareTwin(t, f, tab); differ > 0 {
		t.Errorf("%d stacks differ from DWARF", differ)
	}
}
