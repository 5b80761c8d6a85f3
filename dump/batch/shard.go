package batch

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Shard is one of several equal parts of a batch. Each process dumps one part; all parts
// together are the whole batch, on whichever machines the processes run. A module belongs
// to one shard, by its source package or its build id, so that one process has a program
// and its debug file (see divide.go). The zero value is the whole batch.
type Shard struct {
	Index int // from 0
	Count int
}

var (
	errShard = errors.New("want K/N with K from 1 to N, or auto")
	// ErrNoScheduler: no scheduler has set its variables.
	errNoScheduler = errors.New("no variable of a scheduler is set")
)

// ShardsVariable is the environment variable with the number of shards, for schedulers
// that give a task its index alone.
const ShardsVariable = "SYMKIT_SHARDS"

// scheduler names the environment variables that a scheduler sets for one of many tasks.
type scheduler struct {
	name  string
	index string
	// count has the number of tasks. If count is empty, it is from first to last in
	// steps, or ShardsVariable.
	count, first, last, step string
	from                     int // the index of the first task without the variable first
}

// schedulers are tried in order (docs/clusters.md has the same table).
var schedulers = []scheduler{
	{name: "Slurm", index: "SLURM_ARRAY_TASK_ID", count: "SLURM_ARRAY_TASK_COUNT", first: "SLURM_ARRAY_TASK_MIN", step: "SLURM_ARRAY_TASK_STEP"},
	{name: "Kubernetes Indexed Job", index: "JOB_COMPLETION_INDEX"},
	{name: "AWS Batch", index: "AWS_BATCH_JOB_ARRAY_INDEX", count: "AWS_BATCH_JOB_ARRAY_SIZE"},
	{name: "GCP Batch", index: "BATCH_TASK_INDEX", count: "BATCH_TASK_COUNT"},
	{name: "Cloud Run", index: "CLOUD_RUN_TASK_INDEX", count: "CLOUD_RUN_TASK_COUNT"},
	{name: "SGE", index: "SGE_TASK_ID", first: "SGE_TASK_FIRST", last: "SGE_TASK_LAST", step: "SGE_TASK_STEPSIZE"},
	{name: "PBS Pro", index: "PBS_ARRAY_INDEX", from: 1},
	{name: "Torque", index: "PBS_ARRAYID", from: 1},
	{name: "LSF", index: "LSB_JOBINDEX", last: "LSB_JOBINDEX_END", step: "LSB_JOBINDEX_STEP", from: 1},
	{name: "GitLab", index: "CI_NODE_INDEX", count: "CI_NODE_TOTAL", from: 1},
	{name: "Buildkite", index: "BUILDKITE_PARALLEL_JOB", count: "BUILDKITE_PARALLEL_JOB_COUNT"},
}

// ParseShard reads K/N, with K from 1 to N, or auto: the shard that the environment
// names. An empty text is the whole batch.
func ParseShard(text string, getenv func(string) string) (Shard, error) {
	switch text {
	case "":
		return Shard{}, nil
	case "auto":
		return shardOf(getenv)
	}
	k, n, ok := strings.Cut(text, "/")
	index, err1 := strconv.Atoi(k)
	count, err2 := strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil || index < 1 || index > count {
		return Shard{}, fmt.Errorf("%w: %q", errShard, text)
	}
	return Shard{index - 1, count}, nil
}

// shardOf returns the shard that a scheduler's variables name.
func shardOf(getenv func(string) string) (Shard, error) {
	for _, s := range schedulers {
		// SGE sets "undefined" and LSF 0 for a job that is no array.
		text := getenv(s.index)
		if text == "" || text == "undefined" || s.name == "LSF" && text == "0" {
			continue
		}
		shard, err := s.shard(getenv)
		if err != nil {
			return Shard{}, fmt.Errorf("%s: %w", s.name, err)
		}
		return shard, nil
	}

	var names []string
	for _, s := range schedulers {
		names = append(names, s.index)
	}
	return Shard{}, fmt.Errorf("%w (%s); give K/N", errNoScheduler, strings.Join(names, ", "))
}

// shard reads the variables of a scheduler that has set its index.
func (s *scheduler) shard(getenv func(string) string) (shard Shard, err error) {
	number := func(name string, otherwise int) int {
		text := getenv(name)
		if name == "" || text == "" {
			return otherwise
		}
		n, bad := strconv.Atoi(text)
		if bad != nil && err == nil {
			err = fmt.Errorf("%s=%q is no number", name, text)
		}
		return n
	}

	index, first := number(s.index, 0), number(s.first, s.from)
	step := max(number(s.step, 1), 1)
	count := number(ShardsVariable, 0)
	switch {
	case s.count != "":
		count = number(s.count, count)
	case s.last != "" && getenv(s.last) != "":
		count = (number(s.last, 0)-first)/step + 1
	}
	if err != nil {
		return Shard{}, err
	}

	// An array such as 1,5,7 has no shards that make a whole.
	shard = Shard{(index - first) / step, count}
	switch {
	case count < 1:
		return Shard{}, fmt.Errorf("%s=%d, but the number of tasks is not known; set %s", s.index, index, ShardsVariable)
	case (index-first)%step != 0 || shard.Index < 0 || shard.Index >= count:
		return Shard{}, fmt.Errorf("%s=%d is outside of the %d tasks from %d in steps of %d; the array must be one range", s.index, index, count, first, step)
	}
	return shard, nil
}

// String returns the shard as ParseShard reads it.
func (s Shard) String() string {
	if s.Count == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index+1, s.Count)
}

// has reports whether a key belongs to the shard.
func (s Shard) has(key string) bool {
	if s.Count < 2 {
		return true
	}
	sum := sha256.Sum256([]byte(key))
	return binary.BigEndian.Uint64(sum[:])%uint64(s.Count) == uint64(s.Index)
}
