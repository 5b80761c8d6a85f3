package pprof_test

import (
	"bytes"
	"flag"
	"io"
	"testing"
	"time"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"
)

// report runs pprof on a profile and returns what it writes.
func report(t *testing.T, p *profile.Profile, o driver.Options, args ...string) string {
	t.Helper()
	out := &sink{}
	o.Fetch, o.Writer, o.UI = fetcher{p}, out, ui{t}
	set := flag.NewFlagSet("pprof", flag.ContinueOnError)
	o.Flagset = &flags{set, append(args, "-output=out", "profile")}
	err := driver.PProf(&o)
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

type fetcher struct{ p *profile.Profile }

func (f fetcher) Fetch(string, time.Duration, time.Duration) (*profile.Profile, string, error) {
	return f.p, "", nil
}

type sink struct{ bytes.Buffer }

func (s *sink) Open(string) (io.WriteCloser, error) { return s, nil }
func (s *sink) Close() error                        { return nil }

type flags struct {
	*flag.FlagSet
	args []string
}

func (f *flags) StringList(name, def, usage string) *[]*string {
	return &[]*string{f.String(name, def, usage)}
}
func (f *flags) ExtraUsage() string   { return "" }
func (f *flags) AddExtraUsage(string) {}
func (f *flags) Parse(usage func()) []string {
	f.Usage = usage
	if f.FlagSet.Parse(f.args) != nil {
		return nil
	}
	return f.Args()
}

type ui struct{ t *testing.T }

func (u ui) ReadLine(string) (string, error)     { return "", io.EOF }
func (u ui) Print(args ...any)                   { u.t.Log(args...) }
func (u ui) PrintErr(args ...any)                { u.t.Log(args...) }
func (u ui) IsTerminal() bool                    { return false }
func (u ui) WantBrowser() bool                   { return false }
func (u ui) SetAutoComplete(func(string) string) {}
