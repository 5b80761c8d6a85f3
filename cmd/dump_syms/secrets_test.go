package main

import (
	"bytes"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"symkit/test/testfile"
)

// TestSecrets: the password and the token of an address are in no output, no name and no symbol
// file, whatever fails.
func TestSecrets(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	const name = "lang-x86_64-gcc12-O2-dw5.elf"
	url := testfile.SecretServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := testfile.Read(filepath.Join("../../testdata/elf", filepath.Base(r.URL.Path)))
		switch {
		case r.URL.Path == "/list":
			data, err = []byte("/none\n"), nil
		case r.URL.Path == "/damaged":
			data, err = []byte("\x7fELF"), nil
		}
		if err != nil {
			http.NotFound(w, r)
			return
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}))
	out := t.TempDir()
	t.Setenv("DEBUGINFOD_URLS", "http://sesamuser:sesampassword@127.0.0.1:1?token=sesamtoken")
	t.Setenv("DEBUGINFOD_CACHE_PATH", t.TempDir())
	store, all := filepath.Join(out, "store"), []string{url("/" + name), url("/none"), url("/damaged"), "../../testdata/elf/cxx-x86_64-gcc12-O2-dw5-stripped.elf"}
	at := func(file string) string { return filepath.Join(out, file) }
	for _, args := range [][]string{
		{all[0]}, {all[1]}, {"-v", all[3]}, {"--bogus", all[0]}, {"-o", at("sym"), all[0], all[2]}, {"--check", all[0]}, {"--debug-dir", all[0], all[3]},
		append([]string{"-v", "--store", store, "--manifest", at("manifest"), "--report", at("page"), "--done", at("done"), "--with-elf", "--layout=unified"}, all...),
		append([]string{"-v", "--store", store, "--shard", "1/2", "--manifest", at("manifest"), "--report", at("page"), "--done", at("done")}, all...),
		append([]string{"--store", store, "--check", "--strict", "--manifest", at("manifest")}, all[:1]...),
		{"--store", store, "--files-from", url("/list")}, {"--store", store, "--files-from", url("/none")}, {"--store", store, "--files-from", url("/" + name)},
		{"--store", url("/store"), all[0]}, {"--store", "tecken+" + url("/store"), all[0]}, {"--store", "breakpad+http://127.0.0.1:1/?token=sesamtoken", all[0]},
		{"--store", "sentry+http://127.0.0.1:1/a/b#sesamfragment", all[0]}, {"--store", "s3://sesamuser:sesampassword@bucket/?token=sesamtoken", all[0]}, {"-o", url("/x"), all[0]},
		{"--store", store, "--sysroot", url("/"), all[0]}, {"--path-map", url("/"), all[0]}, {"--done", url("/x"), "--store", store, all[0]},
		{"--manifest", url("/x"), "--store", store, all[0]}, {"--mapping-file", url("/x"), all[0]}, {"--store", store, "--compress", all[0]},
	} {
		var stdout, stderr bytes.Buffer
		run(t.Context(), args, &stdout, &stderr)
		testfile.NoSecrets(t, []string{stdout.String(), stderr.String()}, out)
	}

	// The module has the name of its file.
	found, err := filepath.Glob(filepath.Join(store, name, "*", name+".sym"))
	if err != nil || len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
}
