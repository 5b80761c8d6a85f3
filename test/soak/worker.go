package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"symkit/test/testfile"
)

// A worker reads a path on each line of standard input and writes a line of JSON for each (package worker).
// One worker of dump_syms and one of stackwalk get mutants of all seeds, thousands of lines each. Neither may
// end, skip or swap a line, report an error in the program itself, or take more memory than --memory says.

const (
	// workerMemory is the --memory of the workers, in bytes.
	workerMemory = 256 << 20
	// ahead is how many lines a worker gets before it has answered them.
	ahead = 16
	// longestAnswer bounds an answer, in bytes: stackwalk's report of a dump.
	longestAnswer = 512 << 20
)

// workers are the workers and the statuses that their answers may have. STORE is a directory of symbol files.
var workers = []struct {
	step
	statuses []string
}{
	{step{"dump_syms", []string{"--worker", "--inlines", "--force", "--memory", "256M", "-s", "STORE"}, "", []int{0}},
		[]string{"done", "failed"}},
	{step{"stackwalk", []string{"--worker", "--memory", "256M", "--symbols", "cmd/stackwalk/testdata/breakpad/symbols",
		"--exe", "testdata/elf/crash-x86_64-gcc12-O2-dw5.elf"}, "", []int{0}},
		[]string{"walked", "no-stack", "failed"}},
}

// answer has the fields of a worker's answer that are judged.
type answer struct {
	Input  string `json:"input"`
	Status string `json:"status"`
	Error  string `json:"error"`
}

// serve feeds o.lines mutants to each worker.
func (p *pool) serve(seeds []seed) error {
	for _, w := range workers {
		err := testfile.ForgetPeak()
		if err != nil {
			return err
		}
		dir, err := os.MkdirTemp("", "mutant-")
		if err != nil {
			return err
		}
		err = p.worker(w.step, w.statuses, seeds, dir)
		_ = os.RemoveAll(dir) // a directory that stays is among the temporary files
		if err != nil {
			return err
		}
	}
	return nil
}

// worker runs one worker, with the mutants in dir.
func (p *pool) worker(s step, statuses []string, seeds []seed, dir string) error {
	ctx, kill := context.WithCancel(p.ctx)
	defer kill()
	bin, err := filepath.Abs(filepath.Join(p.bin, s.program))
	if err != nil {
		return err
	}
	args := slices.Clone(s.args)
	for i, a := range args {
		args[i] = strings.ReplaceAll(a, "STORE", filepath.Join(dir, "store"))
	}
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Dir, cmd.Env = p.data, append(os.Environ(), "DEBUGINFOD_URLS=")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	err = cmd.Start()
	if err != nil {
		return err
	}

	// Files are written only so far ahead, so that a few of them are on disk at a time.
	jobs := make(chan job, ahead)
	fed := make(chan error, 1)
	go func() { fed <- p.feed(ctx, in, seeds, dir, jobs) }()
	silence := time.AfterFunc(12*p.time, kill)
	counts, wrong := p.judgeAnswers(bufio.NewReaderSize(out, 1<<20), jobs, statuses, func() { silence.Reset(12 * p.time) })
	silent := !silence.Stop()
	if wrong != "" {
		kill()
	}
	for range jobs { // the feeder may wait
	}
	err = <-fed
	_ = cmd.Wait() // the state has the exit code
	if p.ctx.Err() != nil {
		return p.ctx.Err()
	}

	res := outcome{memory: testfile.PeakMemory(cmd.ProcessState), code: cmd.ProcessState.ExitCode(), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	first, _, _ := strings.Cut(stderr.String(), "\n")
	switch {
	case silent:
		res.failure = fmt.Sprintf("no answer for %v", 12*p.time)
	case panicked.MatchString(stderr.String()):
		res.failure = "crash: " + first
	case wrong != "":
		res.failure = wrong
	case res.code != 0 || err != nil:
		res.failure = fmt.Sprintf("ended with exit code %d (%v): %s", res.code, err, first)
	case res.memory > workerMemory+s.floor():
		res.failure = fmt.Sprintf("%d MiB of memory", res.memory>>20)
	}
	p.table.serve(s.program, counts, res)
	return nil
}

// feed writes the mutants and their lines, and sends each job to jobs before its line.
func (p *pool) feed(ctx context.Context, in io.WriteCloser, seeds []seed, dir string, jobs chan<- job) error {
	defer close(jobs)
	for i := range p.lines {
		s := &seeds[i%len(seeds)]
		number := p.first + i/len(seeds)
		j := job{name: fmt.Sprintf("%s #%d", s.name, number), as: filepath.Join(dir, fmt.Sprint(i))}
		j.data, j.kind = s.mutant(number)
		err := os.WriteFile(j.as, j.data, 0o644)
		if err != nil {
			return errors.Join(err, in.Close())
		}
		select {
		case jobs <- j:
		case <-ctx.Done():
			return errors.Join(ctx.Err(), in.Close())
		}
		_, err = io.WriteString(in, j.as+"\n")
		if err != nil {
			return errors.Join(err, in.Close())
		}
	}
	return in.Close()
}

// judgeAnswers reads answers and compares them with the jobs in their order, until the answers end or one is
// wrong. It returns how many answers were right, by status, and what is wrong. alive is called after each.
func (p *pool) judgeAnswers(out *bufio.Reader, jobs <-chan job, statuses []string, alive func()) (counts map[string]int, wrong string) {
	counts = map[string]int{}
	for j := range jobs {
		line, err := readLine(out, longestAnswer)
		if err != nil {
			return counts, fmt.Sprintf("%s: no answer: %v", j.name, err)
		}
		alive()
		status, wrong := judgeAnswer(line, j.as, statuses)
		if wrong != "" {
			_ = p.save(j) // the name of the mutant is enough to make it again
			return counts, j.name + ": " + wrong
		}
		counts[status]++
		_ = os.Remove(j.as) // all are removed at the end
	}
	rest, err := out.ReadByte()
	if err == nil {
		return counts, fmt.Sprintf("more answers than lines: %q", rest)
	}
	return counts, ""
}

// judgeAnswer returns the status of an answer, and what is wrong with the answer, if anything.
func judgeAnswer(line []byte, input string, statuses []string) (status, wrong string) {
	var a answer
	err := json.Unmarshal(line, &a)
	switch {
	case err != nil:
		return "", fmt.Sprintf("an answer that is no JSON: %v: %.200q", err, line)
	case a.Input != input:
		return "", fmt.Sprintf("the answer is for %q", a.Input)
	case strings.HasPrefix(a.Error, "internal error"):
		return "", "crash: " + a.Error
	case !slices.Contains(statuses, a.Status):
		return "", fmt.Sprintf("status %q: %s", a.Status, a.Error)
	}
	return a.Status, ""
}

// readLine reads a line of at most limit bytes.
func readLine(r *bufio.Reader, limit int) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > limit {
			return nil, fmt.Errorf("more than %d bytes", limit)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}
