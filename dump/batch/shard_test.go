package batch

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/internal/wire"
	"symkit/test/pkgtest"
)

func TestParseShard(t *testing.T) {
	for _, test := range []struct {
		text, env string // NAME=VALUE, divided by spaces
		want      string
		err       string
	}{
		{text: ""},
		{text: "1/1", want: "1/1"},
		{text: "3/8", want: "3/8"},
		{text: "0/8", err: "want K/N"},
		{text: "9/8", err: "want K/N"},
		{text: "3", err: "want K/N"},
		{text: "a/b", err: "want K/N"},
		{text: "auto", err: "no variable of a scheduler is set (SLURM_ARRAY_TASK_ID, "},
		{text: "auto", env: "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=0", want: "1/4"},
		{text: "auto", env: "SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=1", want: "4/4"},
		{text: "auto", env: "SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_STEP=2", want: "4/4"},
		{text: "auto", env: "SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=1", err: "must be one range"},
		{text: "auto", env: "SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_STEP=2", err: "must be one range"},
		{text: "auto", env: "JOB_COMPLETION_INDEX=0", err: "set SYMKIT_SHARDS"},
		{text: "auto", env: "JOB_COMPLETION_INDEX=9 SYMKIT_SHARDS=10", want: "10/10"},
		{text: "auto", env: "JOB_COMPLETION_INDEX=x SYMKIT_SHARDS=10", err: `Kubernetes Indexed Job: JOB_COMPLETION_INDEX="x" is no number`},
		{text: "auto", env: "AWS_BATCH_JOB_ARRAY_INDEX=2 AWS_BATCH_JOB_ARRAY_SIZE=3", want: "3/3"},
		{text: "auto", env: "BATCH_TASK_INDEX=1 BATCH_TASK_COUNT=2", want: "2/2"},
		{text: "auto", env: "CLOUD_RUN_TASK_INDEX=1 CLOUD_RUN_TASK_COUNT=2", want: "2/2"},
		{text: "auto", env: "SGE_TASK_ID=undefined", err: "no variable"},
		{text: "auto", env: "SGE_TASK_ID=5 SGE_TASK_FIRST=1 SGE_TASK_LAST=9 SGE_TASK_STEPSIZE=2", want: "3/5"},
		{text: "auto", env: "PBS_ARRAY_INDEX=1 SYMKIT_SHARDS=2", want: "1/2"},
		{text: "auto", env: "PBS_ARRAYID=2 SYMKIT_SHARDS=2", want: "2/2"},
		{text: "auto", env: "LSB_JOBINDEX=0", err: "no variable"},
		{text: "auto", env: "LSB_JOBINDEX=4 LSB_JOBINDEX_END=8", want: "4/8"},
		{text: "auto", env: "CI_NODE_INDEX=1 CI_NODE_TOTAL=3", want: "1/3"},
		{text: "auto", env: "BUILDKITE_PARALLEL_JOB=0 BUILDKITE_PARALLEL_JOB_COUNT=3", want: "1/3"},
	} {
		getenv := func(name string) string {
			for pair := range strings.FieldsSeq(test.env) {
				if value, ok := strings.CutPrefix(pair, name+"="); ok {
					return value
				}
			}
			return ""
		}
		got, err := ParseShard(test.text, getenv)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s %s: %v, want %s", test.text, test.env, err, test.err)
			}
			continue
		}
		if err != nil || got.String() != test.want {
			t.Errorf("%s %s: %v, %v, want %s", test.text, test.env, got, err, test.want)
		}
	}
}

// TestDivide: each item is in one shard, shards are about equal, and the order of the
// items does not matter.
func TestDivide(t *testing.T) {
	weights := map[string]int64{"huge": 1000}
	for i := range 100 {
		weights[fmt.Sprint("item", i)] = int64(i % 10)
	}
	weights["large"] = 540
	for _, n := range []int{1, 2, 3, 200} {
		shards := divide(weights, n)
		sums := make([]int64, n)
		for item, shard := range shards {
			sums[shard] += weights[item]
		}
		heaviest := slices.Max(sums)
		if len(shards) != len(weights) || heaviest > max(1000, 1990/int64(n))+50 {
			t.Errorf("%d shards: %d items, the heaviest has %d", n, len(shards), heaviest)
		}
		if !maps.Equal(shards, divide(maps.Clone(weights), n)) {
			t.Error("another division of the same items")
		}
	}
}

// TestDividePackages: packages of one source are in one shard, and every package is in
// one. Inputs of another kind, and packages without a source, are in all.
func TestDividePackages(t *testing.T) {
	dir := t.TempDir()
	add := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var all []string
	for i := range 20 {
		source := pkgtest.Source(fmt.Sprint("source", i/2))
		all = append(all, add(fmt.Sprint(i, ".deb"), pkgtest.Deb("gzip", source)))
	}
	take := func(shard Shard, paths ...string) (own []string, divided bool) {
		f := &Finder{Shard: shard}
		for _, path := range paths {
			if err := f.Add(t.Context(), path); err != nil {
				t.Fatal(err)
			}
		}
		err := (&rounds{Finder: f, jobs: 2}).takeShard(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range f.inputs {
			own = append(own, in.Path)
		}
		return own, f.Divided
	}

	seen := map[string]int{}
	for k := range 3 {
		own, divided := take(Shard{k, 3}, all...)
		for _, path := range own {
			seen[path]++
		}
		if !divided || len(own)%2 != 0 || len(own) < 6 || len(own) > 8 {
			t.Errorf("shard %d: %v, %v", k, own, divided)
		}
	}
	if len(seen) != len(all) {
		t.Errorf("%d packages in the shards", len(seen))
	}

	tarball := add("x.tar", pkgtest.Tar(pkgtest.File{Name: "x", Data: []byte("x")}))
	for _, other := range []string{tarball, add("elf", []byte("\x7fELF"))} {
		if own, divided := take(Shard{0, 3}, append(all, other)...); divided || len(own) != len(all)+1 {
			t.Errorf("with %s: %d inputs, %v", other, len(own), divided)
		}
	}

	// A package that cannot be read has no shard.
	f := &Finder{Shard: Shard{0, 2}, inputs: []input{{Path: filepath.Join(dir, "none"), unread: &unread{}}}}
	if err := (&rounds{Finder: f, jobs: 1}).takeShard(t.Context()); err == nil || !strings.Contains(err.Error(), "no shard can tell") {
		t.Error(err)
	}
}

// TestTake: each module, skipped file and damaged file is in one shard; other failures
// are in all of them.
func TestTake(t *testing.T) {
	const shards, n = 7, 1000
	seen := map[string]int{}
	for k := range shards {
		g := &groups{Failed: []failure{{"disk", errors.New("input/output error")}}}
		for i := range n {
			name := fmt.Sprint("file", i)
			g.Modules = append(g.Modules, module{Main: input{Path: name}, key: name})
			g.Skipped = append(g.Skipped, skipped{input: input{Path: "skipped " + name}})
			g.Failed = append(g.Failed, failure{"damaged " + name, &wire.Error{Err: wire.ErrTruncated}})
		}
		g.take(&Finder{Shard: Shard{k, shards}})
		for _, m := range g.Modules {
			seen[m.Main.Path]++
		}
		for _, s := range g.Skipped {
			seen[s.Path]++
		}
		for _, f := range g.Failed {
			seen[f.name]++
		}
		if len(g.Modules) < n/shards/2 || len(g.Modules) > 2*n/shards {
			t.Errorf("shard %d has %d of %d modules", k, len(g.Modules), n)
		}
	}

	if len(seen) != 3*n+1 || seen["disk"] != shards {
		t.Errorf("%d names, the failure %d times", len(seen), seen["disk"])
	}
	delete(seen, "disk")
	for name, times := range seen {
		if times != 1 {
			t.Errorf("%s: in %d shards", name, times)
		}
	}
}
