//go:build oracle

package symbolicate

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"symkit/test/programtest"
)

// clients starts testdata/clients.py, whose libraries are in the directory SYMKIT_ELIOT or are installed by pip in a
// temporary one, and returns a function that sends a line and reads the answer.
func clients(t *testing.T, args ...string) func(question, answer any) {
	t.Helper()
	dir := os.Getenv("SYMKIT_ELIOT")
	if dir == "" {
		dir = t.TempDir()
		out, err := exec.Command("python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", dir, "symbolic==13.9.0", "fx-crash-sig==1.0.3").CombinedOutput()
		if err != nil {
			t.Fatalf("pip: %v\n%s", err, out)
		}
	}
	cmd := exec.Command("python3", append([]string{filepath.Join("testdata", "clients.py")}, args...)...)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	err = cmd.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		err := cmd.Wait()
		if err != nil {
			t.Error(err)
		}
	})
	lines := bufio.NewReader(out)
	return func(question, answer any) {
		t.Helper()
		text, err := json.Marshal(question)
		if err == nil {
			_, err = in.Write(append(text, '\n'))
		}
		if err == nil {
			text, err = lines.ReadBytes('\n')
		}
		if err == nil {
			err = json.Unmarshal(text, answer)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestOracleSymbolic: the functions, files and lines are those of the library that Eliot asks.
func TestOracleSymbolic(t *testing.T) {
	dir := fill(t, programtest.Build(t, "dump_syms"))
	ours := symkit(t, dir)
	question := clients(t, "symbolic", dir)
	random := rand.New(rand.NewPCG(41, 13))
	c := counter{t: t, kinds: map[string]int{}}
	for _, m := range modules(t, dir) {
		offsets := make([]uint64, 5000)
		stack := make([][2]uint64, len(offsets))
		for i := range offsets {
			offsets[i] = m.random(random)
			stack[i] = [2]uint64{0, offsets[i]}
		}
		body, err := json.Marshal(map[string]any{"stacks": [][][2]uint64{stack}, "memoryMap": [][2]string{{m.name, m.id}}})
		if err != nil {
			t.Fatal(err)
		}
		text, _ := ask(t, ours.url, body)
		var a answer
		err = json.Unmarshal(text, &a)
		if err != nil {
			t.Fatal(err)
		}
		var theirs [][][4]any
		question([]any{m.name, m.id, offsets}, &theirs)
		for i := range offsets {
			x := &a.Results[0].Stacks[0][i]
			x.FunctionSize = nil // symbolic does not say
			y := frame{Frame: i, Module: m.name, Offset: fmt.Sprintf("%#x", offsets[i])}
			for k, s := range theirs[i] {
				call := call{}
				name, path, line := s[0].(string), s[1].(string), int(s[2].(float64))
				call.Function = &name
				if path != "" {
					call.File = &path
				}
				if path != "" && line != 0 {
					call.Line = &line
				}
				if k < len(theirs[i])-1 {
					y.Inlines = append(y.Inlines, call)
					continue
				}
				y.call = call
				offset := fmt.Sprintf("%#x", offsets[i]-uint64(s[3].(float64)))
				y.FunctionOffset = &offset
			}
			c.compare(m, x, &y)
		}
	}
	c.log()
}

// TestOracleCrashSignature: a client of Mozilla's server reads our answers.
func TestOracleCrashSignature(t *testing.T) {
	dir := fill(t, programtest.Build(t, "dump_syms"))
	question := clients(t, "fx", symkit(t, dir).url)
	all := modules(t, dir)
	random := rand.New(rand.NewPCG(41, 17))
	type object = map[string]any
	for range 50 {
		var list, frames []object
		var want []string
		for i, m := range all {
			list = append(list, object{"debug_file": m.name, "debug_id": m.id, "filename": m.name, "base_addr": fmt.Sprintf("%#x", (i+1)<<32)})
		}
		for len(frames) < 20 {
			n := random.IntN(len(all))
			offset := all[n].random(random)
			s, ok := all[n].index.Symbol(offset)
			if !ok {
				continue
			}
			want = append(want, string(s.Calls[len(s.Calls)-1].Func))
			frames = append(frames, object{"ip": fmt.Sprintf("%#x", uint64(n+1)<<32+offset), "module_index": n, "trust": "cfi"})
		}
		var answer struct {
			signature string
			crash     struct {
				Threads []struct{ Frames []struct{ Function string } }
			}
		}
		question(object{"normalized_os": "Linux", "payload": object{"metadata": object{}, "stack_traces": object{
			"crash_info": object{"crashing_thread": 0}, "modules": list, "threads": []object{{"frames": frames}}}}}, &[]any{&answer.signature, &answer.crash})
		if answer.signature == "" || len(answer.crash.Threads) != 1 || len(answer.crash.Threads[0].Frames) != len(want) {
			t.Fatalf("%+v", answer)
		}
		for i, f := range answer.crash.Threads[0].Frames {
			if f.Function != want[i] {
				t.Errorf("frame %d: %q, want %q", i, f.Function, want[i])
			}
		}
	}
}
