package pages

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/dump/batch"
	"symkit/walk/report"
)

// TestIndex: the page about many dumps has every dump, in groups by signature.
func TestIndex(t *testing.T) {
	out := t.TempDir()
	dumps, err := filepath.Glob(testdata + "*.dmp")
	if err != nil || len(dumps) < 4 {
		t.Fatalf("%d dumps: %v", len(dumps), err)
	}
	program(t, "stackwalk", append([]string{"--format=html", "--no-elf", "--out", out}, dumps...), 1, 2)
	path := filepath.Join(out, "index.html")
	p := open(t, path)
	p.want(`document.querySelectorAll("tbody tr, [data-failed]").length`, fmt.Sprint(len(dumps)))
	p.want(`[...document.querySelectorAll(".group")].map(g => Number(g.dataset.count)).every((n, i, a) => i === 0 || a[i-1] >= n)`, "true")

	// The signature of each dump is that of its JSON.
	for _, dump := range dumps {
		var j struct {
			Extension struct{ Signature *string } `json:"symkit"`
		}
		text := program(t, "stackwalk", []string{"--format=json", "--no-elf", dump}, 1, 2)
		if err := json.Unmarshal(text, &j); err != nil || j.Extension.Signature == nil {
			continue // not walked, or no stack
		}
		link, err := json.Marshal("./" + filepath.Base(dump) + ".html")
		if err != nil {
			t.Fatal(err)
		}
		p.want(fmt.Sprintf(`document.querySelector("a[href=%s]").closest(".group").querySelector(".signature").textContent`, strings.ReplaceAll(string(link), `"`, `'`)), *j.Extension.Signature)
		compareCrash(t, open(t, filepath.Join(out, filepath.Base(dump)+".html")), text)
	}

	p.key("/")
	p.keys("minidump2")
	p.eventually(`document.querySelectorAll("[data-item]:not([hidden])").length === 1`)
	p.keys("\x1b")
	p.eventually(`document.querySelectorAll("[data-item][hidden]").length === 0`)

	// Signatures sort by the chosen entry of the list, and return to the order by dumps.
	groups := `[...document.querySelectorAll(".group")]`
	first := p.text(groups + `.map(g => g.querySelector(".signature").textContent).join()`)
	for _, key := range []string{"signature", "reason", "program"} {
		p.choose("#order", key)
		p.want(groups+`.map(g => g.querySelector(".`+key+`")?.textContent ?? "").every((n, i, a) => i === 0 || a[i-1].localeCompare(n) <= 0)`, "true")
	}
	p.choose("#order", "without")
	p.want(groups+`.map(g => Number(g.dataset.without)).every((n, i, a) => i === 0 || a[i-1] >= n)`, "true")
	p.choose("#order", "count")
	p.want(groups+`.map(g => g.querySelector(".signature").textContent).join()`, first)

	// A column of a signature's dumps sorts.
	p.text(`document.querySelectorAll(".group").forEach(g => g.open = true)`)
	p.click(`.group th:nth-child(1) button`)
	p.want(`[...document.querySelector(".group").querySelectorAll("tbody tr")].map(r => r.cells[0].textContent.trim()).every((n, i, a) => i === 0 || a[i-1].localeCompare(n) <= 0)`, "true")
	accessible(t, path)
}

// TestIndexLarge: 20,000 dumps open in time.
func TestIndexLarge(t *testing.T) {
	var entries []report.IndexEntry
	for i := range 20000 {
		entries = append(entries, report.IndexEntry{Dump: fmt.Sprintf("dumps/%d.dmp", i), Page: fmt.Sprintf("./%d.dmp.html", i), Signature: fmt.Sprintf("signature_%d", i%300), Program: "app", Reason: "SIGSEGV", Place: "main (main.c:3)", System: "Linux x86_64", Threads: i % 50})
	}
	var out strings.Builder
	if err := report.Index(&out, "stackwalk test", entries); err != nil {
		t.Fatal(err)
	}
	bounds(t, write(t, "index.html", []byte(out.String())))
}

// TestManyLarge: pages about 20,000 dumps with a signature each, and about 20,000 modules, open in time.
func TestManyLarge(t *testing.T) {
	var entries []report.IndexEntry
	var records []batch.Record
	for i := range 20000 {
		name := fmt.Sprintf("/build/output/directory/libsomething-%d.so", i)
		entries = append(entries, report.IndexEntry{Dump: name, Page: "./x.html", Signature: name, Program: "app", Reason: "SIGSEGV", Place: "main (main.c:3)"})
		records = append(records, batch.Record{Status: batch.Written, Input: name, Name: name, ID: fmt.Sprintf("%033X", i), Arch: "x86_64", Counts: &batch.Counts{Funcs: i}, Seconds: &batch.Seconds{Dump: 1},
			SymbolBytes: int64(i), Warnings: []string{"no debug file of " + name}, Missing: 1, Losses: i % 2})
	}
	var index, page strings.Builder
	if err := report.Index(&index, "stackwalk test", entries); err != nil {
		t.Fatal(err)
	}
	if err := batch.WritePage(&page, "dump_syms test", "store", records); err != nil {
		t.Fatal(err)
	}
	bounds(t, write(t, "index.html", []byte(index.String())))
	bounds(t, write(t, "batch.html", []byte(page.String())))
}

// TestBatch: the page of a batch has the content of the manifest.
func TestBatch(t *testing.T) {
	dir, built := t.TempDir(), t.TempDir()
	for _, level := range []string{"-O0", "-Og", "-O1", "-O2", "-O3", "-Os"} {
		compile(t, built, "app"+level, level)
	}
	if err := os.WriteFile(filepath.Join(built, "half.so"), []byte("\x7fELF\x02\x01\x01"), 0o644); err != nil {
		t.Fatal(err)
	}
	manifest := program(t, "dump_syms", []string{"-R", "--inlines", "--store", filepath.Join(dir, "store"), "--manifest", "-", "--report", filepath.Join(dir, "batch.html"), built}, 1, 2)
	path := filepath.Join(dir, "batch.html")
	p := open(t, path)

	written, failed := 0, 0
	for line := range strings.Lines(string(manifest)) {
		var r batch.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		switch r.Status {
		case batch.Written:
			written++
			id, err := json.Marshal(r.ID)
			if err != nil {
				t.Fatal(err)
			}
			row := fmt.Sprintf(`[...document.querySelectorAll("tr[data-row]")].find(r => r.cells[1].textContent === %s)`, id)
			if r.Counts == nil {
				t.Fatalf("%s: no counts", r.Input)
			}
			p.want(fmt.Sprintf(`(r => r && [r.cells[3], r.cells[4], r.cells[5], r.cells[6], r.cells[7], r.cells[8]].map(c => c.dataset.sort).join(" "))(%s)`, row),
				fmt.Sprint(r.InputBytes, r.SymbolBytes, r.Counts.Funcs, r.Counts.Lines, r.Counts.Inlines, r.Losses))
		case batch.Failed:
			failed++
		}
	}
	if written < 5 {
		t.Fatalf("%d modules", written)
	}
	p.want(`document.querySelectorAll("tr[data-status=written]").length`, fmt.Sprint(written))
	p.want(`document.querySelectorAll(".bad-note").length`, fmt.Sprint(failed))

	p.click(`.modules th:nth-child(5) button`)
	p.want(`[...document.querySelectorAll("tr[data-row]")].map(r => Number(r.cells[4].dataset.sort)).every((n, i, a) => i === 0 || a[i-1] >= n)`, "true")
	accessible(t, path)
}

// TestManyHostile: names of dumps and modules stay text; a link of the index leads to a page beside it.
func TestManyHostile(t *testing.T) {
	var entries []report.IndexEntry
	var records []batch.Record
	for _, name := range attacks {
		entries = append(entries, report.IndexEntry{Dump: name, Page: "./x", Signature: name, Program: name, Version: name, Reason: name, Place: name, System: name},
			report.IndexEntry{Dump: name, Error: name})
		records = append(records, batch.Record{Status: batch.Written, Input: name, Debug: name, Name: name, ID: name, Arch: name, Warnings: []string{name}, First: []string{name}, Losses: 1, SymbolBytes: 7},
			batch.Record{Status: batch.Failed, Input: name, Error: name}, batch.Record{Status: batch.Duplicate, Input: name, Of: name})
	}
	var index, page strings.Builder
	if err := report.Index(&index, "stackwalk test", entries); err != nil {
		t.Fatal(err)
	}
	if err := batch.WritePage(&page, "dump_syms test", attacks[0], records); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{index.String(), page.String()} {
		path := write(t, "many.html", []byte(text))
		p := open(t, path)
		p.want(`document.scripts.length`, "1")
		p.want(`document.querySelectorAll("img, iframe, object, embed, base, link, form, video, audio, marquee, [onload], [onerror], [onfocus]").length`, "0")
		p.text(`document.querySelectorAll("details").forEach(d => d.open = true)`)
		accessible(t, path)
	}
}
