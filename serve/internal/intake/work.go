package intake

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// work divides memory among the symbol files that are examined at one time.
type work struct {
	memory *semaphore.Weighted
	total  int64
}

func newWork(total int64) *work { return &work{semaphore.NewWeighted(total), total} }

// What the examination of a symbol file takes, at most: measured with the files of the corpus.
const (
	fixedMemory      = 48 << 20
	memoryPerByte    = 4
	memoryPerELFByte = 1
)

// acquire waits until there is memory for a symbol file of a size, and the ELF files that it is compared with. One that
// needs more than there is goes alone.
func (w *work) acquire(ctx context.Context, size, elf int64) (release func(), err error) {
	n := min(w.total, fixedMemory+memoryPerByte*size+memoryPerELFByte*elf)
	err = w.memory.Acquire(ctx, n)
	if err != nil {
		return nil, context.Cause(ctx)
	}
	return func() { w.memory.Release(n) }, nil
}
