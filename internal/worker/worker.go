// Package worker serves lines: each line of the input is a task, and each task has one
// line of JSON in the output, in the order of the input. Engines that run programs over
// partitions of data work like this: Spark's pipe, GNU parallel, consumers of queues.
package worker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync"

	"symkit/internal/address"
	"symkit/internal/crash"
	"symkit/internal/printable"
	"symkit/internal/quantity"
)

// Version is incremented when a field of Answer changes its meaning or is removed.
const Version = 1

// maxLine bounds a line of the input, in bytes. A longer line is an error of that line.
const maxLine = 64 << 10

// Answer is one line of the output.
type Answer struct {
	Version  int             `json:"version"`
	Input    string          `json:"input"`           // the line, with addresses as messages have them
	Status   string          `json:"status"`          // as the work has it, or "failed"
	Error    string          `json:"error,omitempty"` // why it failed
	Messages []string        `json:"messages,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"`
}

// Lines returns the messages of a program about a task, without the name of the program.
func Lines(text, program string) (lines []string) {
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimPrefix(strings.TrimSuffix(line, "\n"), program+": "))
	}
	return lines
}

// Failed is the status of a task that has no result.
const Failed = "failed"

// Serve reads lines from in, calls work for each, several at a time, and writes the
// answers to out in the order of the lines. Each answer is written as soon as those
// before it are. Serve returns when in ends, out cannot be written, or ctx ends. Empty
// lines have no answer. Neither an error nor a panic of work ends Serve.
func Serve(ctx context.Context, in io.Reader, out io.Writer, jobs int, work func(ctx context.Context, line string) Answer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	// The queue has the answers in order; each is received when its task is done.
	queue := make(chan chan Answer, max(jobs-1, 0))
	lines := make(chan error, 1)
	var tasks sync.WaitGroup
	go func() {
		defer crash.Catch()
		defer close(queue)
		lines <- read(ctx, in, func(line string, err error) bool {
			answer := make(chan Answer, 1)
			select {
			case queue <- answer:
			case <-ctx.Done():
				return false
			}
			tasks.Go(func() {
				defer crash.Catch()
				answer <- one(ctx, line, err, work)
			})
			return true
		})
	}()

	err := write(ctx, out, queue)
	if err != nil {
		cancel(err)
		return err
	}
	tasks.Wait()
	return <-lines
}

// write writes the answers in the order of the queue.
func write(ctx context.Context, out io.Writer, queue <-chan chan Answer) error {
	enc := json.NewEncoder(&printable.JSONWriter{W: out})
	enc.SetEscapeHTML(false)
	for {
		var answer chan Answer
		var more bool
		select {
		case answer, more = <-queue:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if !more {
			return nil
		}

		select {
		case a := <-answer:
			err := enc.Encode(&a)
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

var errLine = errors.New("the line has more than " + quantity.Count(maxLine, "byte", "bytes"))

// read calls task for each line of in until task returns false. err is not nil for a
// line that is too long, of which line is the start.
func read(ctx context.Context, in io.Reader, task func(line string, err error) bool) error {
	r := bufio.NewReaderSize(in, maxLine)
	for {
		line, err := r.ReadSlice('\n')
		var long error
		text := string(bytes.TrimRight(line, "\r\n"))
		for errors.Is(err, bufio.ErrBufferFull) {
			text, long = text[:min(len(text), 1000)], errLine
			_, err = r.ReadSlice('\n')
		}

		if text != "" && !task(text, long) {
			return context.Cause(ctx)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// shown returns a line with its addresses, between tabs, without what grants access.
func shown(line string) string {
	parts := strings.Split(line, "\t")
	for i, part := range parts {
		parts[i] = address.New(part).String()
	}
	return strings.Join(parts, "\t")
}

// one does one task. A panic becomes the error of the task.
func one(ctx context.Context, line string, err error, work func(ctx context.Context, line string) Answer) (a Answer) {
	defer func() {
		if p := recover(); p != nil {
			a = Answer{Status: Failed, Error: fmt.Sprintf("internal error: %v", p), Messages: []string{string(debug.Stack())}}
		}
		a.Version, a.Input = Version, shown(line)
	}()
	if err != nil {
		return Answer{Status: Failed, Error: err.Error()}
	}
	return work(ctx, line)
}
