// Package batch finds the modules in many files and shares the machine among them.
//
// It takes arguments and gives ELF files, from files, directories and archives (Finder),
// modules, each of the files with one build id (Group), and the order in which the
// caller's tasks run, one for each module (Run).
//
//	finder := batch.Finder{Recurse: true}
//	if err := finder.Add(ctx, "build"); err != nil {
//		return err
//	}
//	groups, err := batch.Group(ctx, finder.Inputs, jobs)
//	if err != nil {
//		return err
//	}
//	var tasks []batch.Task
//	for _, m := range groups.Modules {
//		tasks = append(tasks, batch.Task{Memory: 20 * m.Size, Do: func(ctx context.Context) error {
//			return write(ctx, m) // dumps the module
//		}})
//	}
//	return batch.Run(ctx, tasks, jobs, batch.DefaultBudget(os.DirFS("/")))
//
// Groups depend on the files and their order alone; the tasks that run at one time are
// estimated to fit into a memory budget. A Record is the outcome of a task, one line of a
// manifest.
package batch
