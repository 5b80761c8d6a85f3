package batch

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"symkit/elfx"
	"symkit/internal/wire"
	"symkit/test/testfile"
)

// describe is a module as text: main, +debug, =copies.
func describe(m module) string {
	var text strings.Builder
	text.WriteString(m.Main.Name())
	if m.Debug != nil {
		text.WriteString(" +" + m.Debug.Name())
	}
	for _, c := range m.Copies {
		text.WriteString(" =" + c.Name())
	}
	return text.String()
}

// readHalf returns the first half of a fixture: it has its build id.
func readHalf(t *testing.T, name string) string {
	t.Helper()
	data, err := testfile.Read("../../testdata/elf/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data[:len(data)/2])
}

func TestGroup(t *testing.T) {
	const stem = "fixture cxx-x86_64-gcc12-O2-dw5"
	tree(t, map[string]string{
		"whole": stem + ".elf", "again": stem + ".elf", "stripped": stem + "-stripped.elf", "debug": stem + "-stripped.debug", "debug2": stem + "-stripped.debug",
		"noid": stem + "-nobuildid.elf", "noid2": stem + "-nobuildid.elf", "lib.so": stem + ".so", "a.o": stem + ".o",
		"half": readHalf(t, "cxx-x86_64-gcc12-O2-dw5.so"),
		"core": "fixture crash-x86_64-gcc12-O2-dw5.core", "text": "no ELF", "cut": "\x7fELF\x02",
	})
	for _, test := range []struct {
		inputs  string // those that begin with a ? were found
		modules []string
		skipped []string
		failed  []string
	}{
		{"stripped debug", []string{"stripped +debug"}, nil, nil},
		{"debug stripped", []string{"stripped +debug"}, nil, nil},
		{"debug debug2", []string{"debug =debug2"}, nil, nil},
		{"debug lib.so debug2 stripped noid", []string{"stripped +debug =debug2", "lib.so", "noid"}, nil, nil},
		{"noid noid2", []string{"noid", "noid2"}, nil, nil},
		{"a.o core", []string{"a.o", "core"}, nil, nil},
		{"?a.o ?core ?lib.so", []string{"lib.so"}, []string{"a.o", "core"}, nil},
		{"text lib.so cut", []string{"lib.so"}, nil, []string{"text", "cut"}},
		{"half lib.so", []string{"lib.so"}, nil, []string{"half"}},
		{"whole again", []string{"whole =again"}, nil, nil},
		{"again whole", []string{"again =whole"}, nil, nil},
		{"", nil, nil, nil},
	} {
		var inputs []input
		for name := range strings.FieldsSeq(test.inputs) {
			plain, found := strings.CutPrefix(name, "?")
			inputs = append(inputs, input{Path: plain, Found: found})
		}
		g, err := group(context.Background(), inputs, 3)
		if err != nil {
			t.Fatal(err)
		}
		var modules, skipped, failed []string
		for _, m := range g.Modules {
			modules = append(modules, describe(m))
		}
		for _, s := range g.Skipped {
			skipped = append(skipped, s.Name())
		}
		for _, f := range g.Failed {
			failed = append(failed, f.name)
			if _, ok := errors.AsType[*wire.Error](f.err); !ok || !strings.HasPrefix(f.err.Error(), f.name+": ") {
				t.Errorf("%q: %v", test.inputs, f.err)
			}
		}
		if diff := cmp.Diff(test.modules, modules) + cmp.Diff(test.skipped, skipped) + cmp.Diff(test.failed, failed); diff != "" {
			t.Errorf("%q:\n%s", test.inputs, diff)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := group(ctx, []input{{Path: "whole"}}, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// What a dump reads counts, compressed bytes too; what it does not read does
// not.
func TestEstimate(t *testing.T) {
	const stem = "fixture cxx-x86_64-gcc12-O2-dw5"
	tree(t, map[string]string{"plain": stem + ".elf", "zlib": stem + "-zlib.elf", "stripped": stem + "-stripped.elf"})
	estimate := func(name string, work work) int64 {
		f, err := elfx.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return estimate(&elfx.Image{Main: f}, nil, work) - fileMemory
	}
	plain, zlib, stripped := estimate("plain", work{}), estimate("zlib", work{}), estimate("stripped", work{})
	inlines, check := estimate("plain", work{Inlines: true}), estimate("plain", work{Check: true})
	if stripped <= 0 || plain < 2*stripped || zlib <= plain || zlib > 2*plain || inlines < plain*5/4-1 || inlines > plain*5/4+1 || check != plain*3/2 {
		t.Errorf("plain %d, with inlines %d, checked %d, zlib %d, stripped %d", plain, inlines, check, zlib, stripped)
	}
}
