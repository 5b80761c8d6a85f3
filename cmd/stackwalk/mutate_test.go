package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strconv"
	"testing"
	"time"

	"symkit/internal/bounds"
	"symkit/internal/limitof"
	"symkit/internal/wire"
	"symkit/test/mutant"
	"symkit/test/testfile"
	"symkit/walk"
	"symkit/walk/minidump"
	"symkit/walk/peers"
	"symkit/walk/peers/rawdump"
	"symkit/walk/report"
	"symkit/walk/symbols/sources"
)

// mutations is how many damaged dumps are walked: SYMKIT_MUTATIONS, or few.
func mutations(t *testing.T) int {
	text := os.Getenv("SYMKIT_MUTATIONS")
	if text == "" {
		return 300
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestMutations: damaged dumps crash nothing, end soon, and take little memory,
// from the file to each of the outputs.
func TestMutations(t *testing.T) {
	const (
		maxTime   = 20 * time.Second // of processors, for one dump
		maxMemory = 500 << 20        // of all dumps
	)
	files, err := filepath.Glob(filepath.Join(dumps, "*.dmp"))
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	store, err := sources.NewStore([]string{filepath.Join(breakpad, "symbols")})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(7, 1))
	slowest, walked := time.Duration(0), 0
	before, largest := mapped(), uint64(0)
	for i := range mutations(t) {
		whole, err := os.ReadFile(files[i%len(files)])
		if err != nil {
			t.Fatal(err)
		}
		layout := mutant.Of(whole)
		data, _ := layout.Mutate(whole, random)
		start := testfile.CPUTime()
		ctx, cancel := testfile.CPULimit(t.Context(), maxTime)
		ok := walkAll(t, ctx, data, store)
		cancel()
		took := testfile.CPUTime() - start
		if ok {
			walked++
		}
		slowest, largest = max(slowest, took), mapped()-before
		if took >= maxTime || largest > maxMemory || t.Failed() {
			path := filepath.Join(os.TempDir(), "symkit-mutation.dmp")
			t.Fatalf("mutation %d took %v; %d MiB in all; kept as %s (%v)", i, took, largest>>20, path, os.WriteFile(path, data, 0o644))
		}
	}
	t.Logf("%d of %d could be walked; the slowest took %v; %d MiB in all", walked, mutations(t), slowest.Round(time.Millisecond), largest>>20)
	if walked == 0 {
		t.Error("every dump was damaged beyond use")
	}
}

// mapped returns the memory that Go has taken from the system. It never shrinks, so that
// only its growth is that of one test.
func mapped() uint64 {
	memory := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	metrics.Read(memory)
	return memory[0].Value.Uint64()
}

// walkAll reads, walks and prints a dump.
func walkAll(t *testing.T, ctx context.Context, data []byte, s walk.Supplier) bool {
	// The raw streams can also be had of a dump that has no threads.
	var raw bytes.Buffer
	err := rawdump.Write(bounds.NewWriter(ctx, &raw, limitof.Report, "", uint64(len(data))), data, rawdump.Options{})
	if e, ok := errors.AsType[*wire.Error](err); err != nil && (!ok || e.Offset > len(data)) {
		t.Errorf("raw streams: %v", err)
	}
	if err := testfile.Unprintable(raw.Bytes()); err != nil {
		t.Errorf("raw streams: %v", err)
	}

	d, err := minidump.New(data)
	if err != nil {
		return false
	}
	p := d.Process()
	res, err := walk.Walk(ctx, p, s, walk.Options{Jobs: 1, Registers: true, Contents: true, Pointers: true})
	if err != nil {
		t.Errorf("walking: %v", err)
		return false
	}
	var out bytes.Buffer
	if err := report.JSON(&out, res); err != nil || len(out.Bytes()) < 1<<22 && !json.Valid(out.Bytes()) {
		t.Errorf("no JSON: %v", err)
	}
	if err := peers.Machine(io.Discard, res); err != nil {
		t.Error(err)
	}
	if err := report.Text(io.Discard, res, report.TextOptions{Contents: true}); err != nil {
		t.Error(err)
	}

	// The reports of other programs.
	for _, opt := range []peers.BreakpadOptions{{Thread: -1, Contents: true}, {Thread: -1, Pointers: true}, {Thread: 1, Brief: true}} {
		if err := peers.Breakpad(io.Discard, res, opt); err != nil {
			t.Error(err)
		}
	}
	out.Reset()
	unimplemented, unknown := rawdump.Unread(data)
	if err := peers.RustMinidump(&out, res, peers.RustMinidumpOptions{Unimplemented: unimplemented, Unknown: unknown}); err != nil {
		t.Error(err)
	}
	if err := testfile.Unprintable(out.Bytes()); err != nil {
		t.Error(err)
	}
	out.Reset()
	if err := report.RustMinidumpJSON(&out, res, report.JSONOptions{Pretty: true}); err != nil || len(out.Bytes()) < 1<<22 && !json.Valid(out.Bytes()) {
		t.Errorf("no JSON: %v", err)
	}
	return true
}
