package write

import (
	"context"
	"iter"

	"golang.org/x/sync/errgroup"

	"symkit/dump/internal/record"
	"symkit/emit"
	"symkit/internal/crash"
	"symkit/internal/mem"
)

// chunkBytes is the largest initial capacity of a buffer, more than the text of most chunks.
const chunkBytes = 640 << 10

// bufferSize returns the initial capacity of a buffer for chunks of m. Most modules of a
// batch are small and need less than chunkBytes.
func bufferSize(m *record.Module) int {
	const recordBytes, entryBytes = 64, 512 // of most records; of an unwind entry with its rules
	size := 0
	for i := range m.Funcs {
		size += recordBytes * records(&m.Funcs[i])
		if size > chunkBytes {
			return chunkBytes
		}
	}

	size += recordBytes * len(m.Publics)
	if m.Unwind != nil {
		size += entryBytes * m.Unwind.Entries()
	}
	return min(size, chunkBytes)
}

// chunksAhead bounds the chunks that are formatted and not yet written, for each
// goroutine.
const chunksAhead = 4

// job is a chunk that a worker formats.
type job struct {
	format chunk
	done   chan []byte // receives the text
}

// writeChunks formats chunks on jobs goroutines, at least one, and writes their texts in
// order. size is the initial capacity of the buffers, which are used again once they are
// written.
func writeChunks(w *emit.Writer, chunks iter.Seq[chunk], size, jobs int) error {
	group, ctx := errgroup.WithContext(context.Background())
	work, order := make(chan *job), make(chan *job, chunksAhead*jobs)
	buffers := make(chan []byte, (chunksAhead+1)*jobs)

	// The first goroutine sends each chunk to two channels: to the writer, which keeps their
	// order, and to a worker.
	group.Go(func() error {
		defer close(work)
		defer crash.Catch()
		defer close(order)
		for format := range chunks {
			j := &job{format, make(chan []byte, 1)}
			for _, to := range []chan *job{order, work} {
				select {
				case to <- j:
				case <-ctx.Done():
					return nil
				}
			}
		}
		return nil
	})

	// A worker never waits for the writer: done has a place for the text.
	for range jobs {
		group.Go(func() error {
			return mem.Guard(func() error {
				for j := range work {
					var buf []byte
					select {
					case buf = <-buffers:
					default:
						buf = make([]byte, 0, size)
					}
					j.done <- j.format(buf[:0])
				}
				return nil
			})
		})
	}

	// After an error of the writer the workers end, because work is closed.
	group.Go(func() error {
		return mem.Guard(func() error {
			for j := range order {
				select {
				case text := <-j.done:
					w.Chunk(text)
					err := w.Err()
					if err != nil {
						return err
					}

					select {
					case buffers <- text:
					default:
					}
				case <-ctx.Done():
					return nil
				}
			}
			return nil
		})
	})
	return group.Wait()
}
