package batch_test

import (
	"context"
	"fmt"
	"io"

	"symkit/dump"
	"symkit/dump/batch"
	"symkit/elfx/companion"
)

// Example dumps the modules of several files, two at a time. A program and its debug file
// are one module. The memory of a task is an estimate; see Estimate for a better one.
func Example() {
	ctx := context.Background()
	finder := batch.Finder{Recurse: true}
	for _, name := range []string{"cxx-x86_64-gcc12-O2-dw5-stripped.elf", "cxx-x86_64-gcc12-O2-dw5-stripped.debug", "hello-x86_64-gcc12-O2-dw5.elf"} {
		err := finder.Add(ctx, "../../testdata/elf/"+name)
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	groups, err := batch.Group(ctx, finder.Inputs, 2)
	if err != nil {
		fmt.Println(err)
		return
	}

	counts := make([]dump.Stats, len(groups.Modules))
	var tasks []batch.Task
	for i, m := range groups.Modules {
		tasks = append(tasks, batch.Task{Memory: 20 * m.Size, Do: func(ctx context.Context) error {
			// A task can name its file and return nil: an error ends the whole batch.
			program, err := companion.OpenModule(m.Main.Path, companion.Places{})
			if err != nil {
				return err
			}
			defer program.Close()
			mod, err := dump.Dump(ctx, program.Image, dump.Options{Companions: program.Companions})
			if err != nil {
				return err
			}
			err = mod.Write(io.Discard)
			counts[i] = mod.Stats
			return err
		}})
	}
	err = batch.Run(ctx, tasks, 2, 1<<30)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, m := range groups.Modules {
		fmt.Printf("%s: debug file %v, %d functions\n", m.Names[0], m.Debug != nil, counts[i].Funcs)
	}
	// Output:
	// cxx-x86_64-gcc12-O2-dw5-stripped.elf: debug file true, 28 functions
	// hello-x86_64-gcc12-O2-dw5.elf: debug file false, 1 functions
}
