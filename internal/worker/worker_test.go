package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// TestServe: answers come in the order of the lines, whatever becomes of a task.
func TestServe(t *testing.T) {
	var in strings.Builder
	for i := range 200 {
		fmt.Fprintf(&in, "%d\n\n", i)
	}
	in.WriteString("panic\r\n" + strings.Repeat("x", 3*maxLine) + "\nlast")
	for _, jobs := range []int{1, 7} {
		var out bytes.Buffer
		err := Serve(t.Context(), strings.NewReader(in.String()), &out, jobs, func(_ context.Context, line string) Answer {
			if line == "panic" {
				panic("a bug")
			}
			if line == "3" {
				time.Sleep(10 * time.Millisecond)
			}
			return Answer{Status: "done", Result: json.RawMessage(`{"line":"` + line + `"}`)}
		})
		if err != nil {
			t.Fatal(err)
		}

		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if len(lines) != 203 {
			t.Fatalf("%d answers", len(lines))
		}
		for i := range 200 {
			if want := fmt.Sprintf(`{"version":1,"input":"%d","status":"done","result":{"line":"%d"}}`, i, i); lines[i] != want {
				t.Errorf("%s, want %s", lines[i], want)
			}
		}
		if !strings.HasPrefix(lines[200], `{"version":1,"input":"panic","status":"failed","error":"internal error: a bug",`) {
			t.Error(lines[200])
		}
		if !strings.Contains(lines[201], `xx","status":"failed","error":"the line has more than 65,536 bytes"}`) || len(lines[201]) > 2000 {
			t.Error(lines[201])
		}
		if want := `{"version":1,"input":"last","status":"done","result":{"line":"last"}}`; lines[202] != want {
			t.Error(lines[202])
		}
	}
}

// TestAtOnce: an answer does not wait for the next line.
func TestAtOnce(t *testing.T) {
	in, feed := io.Pipe()
	answers, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- Serve(t.Context(), in, out, 4, func(context.Context, string) Answer { return Answer{Status: "done"} })
	}()
	for range 3 {
		fmt.Fprintln(feed, "line")
		buf := make([]byte, 100)
		n, err := answers.Read(buf)
		if err != nil || !bytes.HasSuffix(buf[:n], []byte("}\n")) {
			t.Fatalf("%q, %v", buf[:n], err)
		}
	}
	feed.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestEnd: Serve ends if the context ends, and if its output has no reader.
func TestEnd(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	in, feed := io.Pipe()
	go fmt.Fprintln(feed, "line")
	want := errors.New("interrupted")
	err := Serve(ctx, in, io.Discard, 2, func(ctx context.Context, _ string) Answer {
		cancel(want)
		<-ctx.Done()
		return Answer{}
	})
	if !errors.Is(err, want) {
		t.Error(err)
	}
	feed.Close()

	answers, out := io.Pipe()
	answers.CloseWithError(want)
	err = Serve(t.Context(), strings.NewReader("a\nb\n"), out, 1, func(context.Context, string) Answer { return Answer{} })
	if !errors.Is(err, want) {
		t.Error(err)
	}
}

// TestSecrets: an answer has its line without passwords and tokens.
func TestSecrets(t *testing.T) {
	var out bytes.Buffer
	in := strings.NewReader("https://user:secret@host/a?token=secret\ta b.debug\n")
	err := Serve(t.Context(), in, &out, 1, func(_ context.Context, line string) Answer {
		return Answer{Status: line[:len("https://user:secret")]}
	})
	if want := `"input":"https://xxxxx@host/a?token=xxxxx\ta b.debug","status":"https://user:secret"`; err != nil || !strings.Contains(out.String(), want) {
		t.Errorf("%v: %s", err, out.String())
	}
}
