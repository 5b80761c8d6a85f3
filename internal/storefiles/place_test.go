package storefiles

import (
	"strings"
	"testing"
)

const (
	debugID = "2A54ED33E19F4228D156B68A8DDEC66A0"
	rest    = "54ed33e19f4228d156b68a8ddec66a0504d98d"
)

func TestPlaceOf(t *testing.T) {
	lower := strings.ToLower(debugID)
	for key, want := range map[string]Place{
		"libz.so/" + debugID + "/libz.so.sym":     {Kind: Symbols, Name: "libz.so", ID: lower, Module: "libz.so/" + debugID, Sure: true},
		"libz.so/" + debugID + "/libz.so.sym.zst": {Kind: Symbols, Name: "libz.so", ID: lower, Module: "libz.so/" + debugID, Sure: true},
		"app.pdb/" + debugID + "/app.gsym":        {Kind: GSYM, Name: "app.pdb", ID: lower, Module: "app.pdb/" + debugID, Sure: true},
		"libz.so/" + debugID + "/libz.so":         {Name: "libz.so", ID: lower, Module: "libz.so/" + debugID, Sure: true},
		"libz.so/" + debugID + "/libz.so.dbg.gz":  {Name: "libz.so", ID: lower, Module: "libz.so/" + debugID, Sure: true},
		"libz.so/" + debugID + "/readme":          {Name: "libz.so", ID: lower, Module: "libz.so/" + debugID},
		"ab/" + debugID + "/ab.sym":               {Kind: Symbols, Name: "ab", ID: lower, Module: "ab/" + debugID, Sure: true},
		"2a/" + rest + "/breakpad":                {Kind: Symbols, ID: "2a" + rest, Module: "2a/" + rest, Sure: true},
		"2a/" + rest + "/debuginfo":               {Kind: DebugInfo, ID: "2a" + rest, Module: "2a/" + rest, Sure: true},
		"2a/" + rest + ".sym.gz":                  {Kind: Symbols, ID: "2a" + rest, Module: "2a/" + rest, Sure: true},
		"2a/" + rest + ".gsym":                    {Kind: GSYM, ID: "2a" + rest, Module: "2a/" + rest, Sure: true},
		"2a/" + rest + ".debug":                   {Kind: DebugInfo, ID: "2a" + rest, Module: "2a/" + rest, Sure: true},
		".build-id/2a/" + rest + ".debug":         {Kind: DebugInfo, ID: "2a" + rest, Module: ".build-id/2a/" + rest, Sure: true},
		// Many programs have such files.
		"2a/" + rest:              {Kind: Executable, ID: "2a" + rest, Module: "2a/" + rest},
		".git/objects/2a/" + rest: {Kind: Executable, ID: "2a" + rest},
		"overlay2/" + strings.Repeat("a", 64) + "/link": {Name: "overlay2", ID: strings.Repeat("a", 64), Module: "overlay2/" + strings.Repeat("a", 64)},
		"app.sym":                               {Kind: Symbols},
		"README":                                {},
		".symkit/locks/0a":                      {},
		"libz.so/" + debugID + "/.libz.sym.tmp": {Name: "libz.so", ID: lower},
	} {
		want.Key = key
		got := PlaceOf(key)
		if got != want {
			t.Errorf("%s: %+v, want %+v", key, got, want)
		}
	}
}

// What PlaceOf says of a module, the path has.
func FuzzPlaceOf(f *testing.F) {
	for _, key := range []string{"a/1/a.sym", "2a/" + rest + "/breakpad", "2a/" + rest + ".debug.gz", ".git/objects/2a/" + rest, "//", "a/../b"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		p := PlaceOf(key)
		inside := strings.HasPrefix(key, p.Module+"/") || strings.HasPrefix(key, p.Module) && !strings.Contains(key[len(p.Module):], "/")
		if p.Module != "" && (!inside || p.ID == "") || p.Sure && p.Module == "" {
			t.Errorf("%q: %+v", key, p)
		}
		if Climbs(key) != Climbs(key+".gz") && !strings.HasSuffix(key, ".") && !strings.HasSuffix(key, "/") && key != "" {
			t.Errorf("%q", key)
		}
	})
}
