package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHostileNames checks that names that are not UTF-8, have control characters or markup, or have
// megabytes, are findings in documents that every reader accepts.
func TestHostileNames(t *testing.T) {
	names := []string{"a\x1b[2Jb", "nul\x00", "\xff\xfe\xc0\x80", "]]></failure>", "\"\\\b", "\u2028\u202e", "%s%n", strings.Repeat("n", 10<<20)}
	var a, b strings.Builder
	for _, w := range []*strings.Builder{&a, &b} {
		w.WriteString("MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 m\x1b\xff\nFILE 0 f\x1b\xff\n")
	}
	for i, name := range names {
		fmt.Fprintf(&a, "FUNC %x 10 0 %s\n%x 10 1 0\n", 0x1000+i*16, name, 0x1000+i*16)
		fmt.Fprintf(&b, "FUNC %x 10 0 g%s\n%x 10 2 0\n", 0x1000+i*16, name, 0x1000+i*16)
	}
	dir := t.TempDir()
	first, second := filepath.Join(dir, "a \xff\x1b%.sym"), filepath.Join(dir, "b.sym")
	if err := errors.Join(os.WriteFile(first, []byte(a.String()), 0o666), os.WriteFile(second, []byte(b.String()), 0o666)); err != nil {
		t.Fatal(err)
	}
	for format, valid := range map[string]func([]byte) error{"json": validJSON, "junit": validXML, "sarif": validSARIF, "text": validText} {
		for _, args := range [][]string{{"lint", first}, {"diff", first, second}} {
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), append([]string{args[0], "--format", format}, args[1:]...), &stdout, &stderr); code != 2 {
				t.Fatalf("%s: exit code %d: %s", args[0], code, &stderr)
			}
			if err := valid(stdout.Bytes()); err != nil {
				t.Errorf("%s --format=%s: %v", args[0], format, err)
			}
			if stdout.Len() > 1<<20 {
				t.Errorf("%s --format=%s: %d bytes", args[0], format, stdout.Len())
			}
		}
	}
}

func validJSON(doc []byte) error {
	var v struct {
		Version int `json:"version"`
		Results []struct{ Findings []any }
	}
	if err := json.Unmarshal(doc, &v); err != nil {
		return err
	}
	if v.Version == 0 || len(v.Results) != 1 || len(v.Results[0].Findings) == 0 {
		return fmt.Errorf("%+v", v)
	}
	return nil
}

func validXML(doc []byte) error {
	failures := 0
	for d := xml.NewDecoder(bytes.NewReader(doc)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "failure" {
			failures++
		}
	}
	if failures == 0 {
		return errors.New("no failure")
	}
	return nil
}

// validSARIF checks the present fields against the schema of SARIF 2.1.0.
func validSARIF(doc []byte) error {
	var log struct {
		Schema  string `json:"$schema"`
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name, Version string
					Rules         []struct{ ID string }
				}
			}
			Results []struct {
				RuleID, Level string
				Message       struct{ Text string }
				Locations     []struct {
					Physical struct {
						Artifact struct{ URI string } `json:"artifactLocation"`
						Region   *struct{ StartLine int }
					} `json:"physicalLocation"`
				}
			}
		}
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	d.DisallowUnknownFields()
	if err := d.Decode(&log); err != nil {
		return err
	}
	if log.Version != "2.1.0" || len(log.Runs) != 1 || log.Runs[0].Tool.Driver.Name == "" || len(log.Runs[0].Results) == 0 {
		return fmt.Errorf("%+v", log)
	}
	rules := map[string]bool{}
	for _, r := range log.Runs[0].Tool.Driver.Rules {
		if r.ID == "" || rules[r.ID] {
			return fmt.Errorf("rule %q", r.ID)
		}
		rules[r.ID] = true
	}
	for _, r := range log.Runs[0].Results {
		if !rules[r.RuleID] || r.Message.Text == "" || r.Level != "error" || len(r.Locations) != 1 {
			return fmt.Errorf("%+v", r)
		}
		if g := r.Locations[0].Physical.Region; g != nil && g.StartLine < 1 {
			return fmt.Errorf("%+v", g)
		}
		uri := r.Locations[0].Physical.Artifact.URI
		if _, err := url.Parse(uri); err != nil || strings.ContainsAny(uri, " \x1b") {
			return fmt.Errorf("URI %q: %v", uri, err)
		}
	}
	return nil
}

// validText reports text with control characters other than newlines.
func validText(doc []byte) error {
	if i := bytes.IndexFunc(doc, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }); i >= 0 {
		return fmt.Errorf("%q at %d", doc[i], i)
	}
	return nil
}
