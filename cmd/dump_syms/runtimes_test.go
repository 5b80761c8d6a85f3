package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"symkit/test/testfile"
)

// functionRecord matches the FUNC and PUBLIC records of a symbol file: addresses and names.
var functionRecord = regexp.MustCompile(`(?m)^(?:FUNC|PUBLIC) (?:m )?([0-9a-f]+) (?:[0-9a-f]+ )?0 (.*)$`)

// TestRuntimes: the files of scripts/fixtures-runtimes.sh give what their compilers have written down: methods of ART's
// compiled code from .symtab and from .gnu_debugdata, never oatexec, which covers all code; functions and lines of NativeAOT
// by the debug file beside the library; those of Dart from the file of --split-debug-info, and nothing from its snapshot
// alone; those of Kotlin/Native, where DWARF has the plain names.
func TestRuntimes(t *testing.T) {
	dir := "../../testdata/runtimes/"
	kotlin := filepath.Join(t.TempDir(), "shop.kexe")
	data, err := testfile.Read(dir + "kotlin.xz")
	if err == nil {
		err = os.WriteFile(kotlin, data, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	methods := []string{"1000 void com.example.shop.Main.pay(int)", "1020 int com.example.shop.Item.<clinit>()",
		"1060 java.lang.String com.example.shop.Item.name(java.util.List, boolean[])"}
	for _, tt := range []struct {
		args []string
		want []string // all, but of Kotlin
		code int
	}{
		{[]string{dir + "base.odex"}, methods, 0},
		{[]string{dir + "base-mini.odex"}, methods, 0},
		{[]string{"--strict", dir + "aot.so"}, []string{"1000 Shop_Shop_Item__Total", "1007 shop_pay"}, 0},
		{[]string{"--strict", dir + "libapp.so", dir + "app.symbols"}, []string{"1000 shop_Item_total", "1007 main_entry"}, 0},
		{[]string{dir + "libapp.so"}, nil, 0},
		{[]string{"--strict", kotlin}, []string{"pay", "main", "area", "kfun:shop.Circle#toString(){}kotlin.String"}, 0},
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), append([]string{"--inlines", "--check"}, tt.args...), &out, &errs)
		var got []string
		for _, m := range functionRecord.FindAllStringSubmatch(out.String(), -1) {
			got = append(got, m[1]+" "+m[2])
		}
		right := slices.Equal(got, tt.want)
		if tt.args[len(tt.args)-1] == kotlin {
			right = !slices.ContainsFunc(tt.want, func(name string) bool { return !strings.Contains(out.String(), " "+name+"\n") })
		}
		if code != tt.code || !right {
			t.Errorf("%q: %d, %s\n%q", tt.args, code, errs.String(), got[:min(len(got), 20)])
		}
	}
}
