package symbolicate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"testing"

	"symkit/elfx"
	"symkit/lookup"
	"symkit/serve/symbolicate"
)

// elfStore has ELF files, which are the symbols of their modules too.
type elfStore map[string]string

func (s elfStore) Symbols(ctx context.Context, name, _ string) (*lookup.File, error) {
	path, ok := s[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return lookup.Open(ctx, path, lookup.Options{})
}

func (s elfStore) Executable(_ context.Context, name, _ string) (*elfx.File, error) {
	path, ok := s[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return elfx.Open(path)
}

// TestAsm: the instructions of a part of a file, with the names of what branches lead to, and samply's errors.
func TestAsm(t *testing.T) {
	const fixtures = "../../testdata/elf/"
	st := elfStore{"amd64": fixtures + "cxx-x86_64-gcc12-O2-dw5.elf", "arm64": fixtures + "cxx-aarch64-gcc12-O2-dw5.elf", "s390x": fixtures + "cxx-s390x-gcc12-O2-dw5.elf",
		"arm": fixtures + "cxx-arm-gcc12-O2-dw5.elf"}
	s := server(t, st, symbolicate.Options{})
	request := func(name, start, size, more string) string {
		return `{"name": "` + name + `", "codeId": "00", "debugName": "` + name + `", "debugId": "` + plainID + `", "startAddress": "` + start + `", "size": "` + size + `"` + more + `}`
	}
	for _, c := range []struct{ name, arch, syntax, want string }{
		{"amd64", "x86_64", "Intel AT&T", `"call 0x1090 <shop::Stack<int, 4>::push(int)>","callq 0x1090 <shop::Stack<int, 4>::push(int)>"]`},
		{"arm64", "aarch64", "ARM", `<shop::Stack<int, 4>::push(int)>"]`},
		{"s390x", "s390x", "GNU", ""},
	} {
		f, err := lookup.Open(t.Context(), st[c.name], lookup.Options{})
		if err != nil {
			t.Fatal(err)
		}
		zero, _ := f.Address(lookup.Relative, 0)
		start := f.Symbols(nil, "run", -1)[0].Addr - zero
		f.Close()
		w := post(s, "/asm/v1", request(c.name, fmt.Sprintf("%#x", start), "0x1", `, "continueUntilFunctionEnd": true`))
		var answer struct {
			StartAddress, Size, Arch string
			Syntax                   []string
			Instructions             [][]any
		}
		err = json.Unmarshal(w.Body.Bytes(), &answer)
		if err != nil || w.Code != http.StatusOK || answer.StartAddress != fmt.Sprintf("%#x", start) || answer.Arch != c.arch || strings.Join(answer.Syntax, " ") != c.syntax ||
			len(answer.Instructions) < 30 || !strings.Contains(w.Body.String(), c.want) || strings.Contains(w.Body.String(), ".byte") {
			t.Errorf("%s: %v, %d %s", c.name, err, w.Code, w.Body)
		}
		for _, in := range answer.Instructions {
			if len(in) != 1+len(answer.Syntax) {
				t.Errorf("%s: %v", c.name, in)
			}
		}
	}
	for _, c := range []struct {
		body   string
		status int
		want   string
	}{
		{request("none", "0x0", "0x1", ""), 404, "An error occurred when loading the binary: the store does not have the file"},
		{request("amd64", "0xffffffff", "0x1", ""), 404, "The requested address was not found in any section in the binary."},
		{request("amd64", "0x12a0", "0xfffff", ""), 404, "Could not read the requested address range from the section (might be out of bounds or the section might not have any bytes in the file)"},
		{request("amd64", "0x12a0", "0x100001", ""), 400, "please limit the size of code in a single request to <= 0x100000 bytes"},
		{request("arm", "0x600", "0x1", ""), 404, `Unrecognized architecture \"arm\"`},
		{`{"size": "0x1"}`, 400, "Couldn't parse request: missing field `startAddress`"},
		{`{"startAddress": "0x1"}`, 400, "Couldn't parse request: missing field `size`"},
		{`{"startAddress": "0x1", "size": "0x1"}`, 404, "An error occurred when loading the binary: Not enough information was supplied to identify the requested binary."},
	} {
		w := post(s, "/asm/v1", c.body)
		if w.Code != c.status || w.Body.String() != `{"title": "`+c.want+`"}` {
			t.Errorf("%s: %d %s, want %s", c.body, w.Code, w.Body, c.want)
		}
	}
}
