//go:build oracle

package gosym

import (
	"os/exec"
	"testing"
)

// TestOracleMachines compares with the DWARF of the same program on every
// machine with its own byte order, pointer size or shortest instruction, and
// in the two ways a position-independent file comes about.
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

// TestCorpusReleases does so for older releases, which the go command fetches,
// and for Debian's golang-1.19-go.
func TestCorpusReleases(t *testing.T) {
	for _, release := range []string{"go1.21.13", "go1.22.12", "go1.23.12", "go1.24.11", "go1.25.5"} {
		t.Run(release, func(t *testing.T) {
			compareAll(t, openFile(t, build(t, "go", []string{"GOTOOLCHAIN=" + release})))
		})
	}
	t.Run("go1.19", func(t *testing.T) {
		const gocmd = "/usr/lib/go-1.19/bin/go"
		if _, err := exec.LookPath(gocmd); err != nil {
			t.Fatal(err)
		}
		compareAll(t, openFile(t, build(t, gocmd, nil)))
	})
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
