// Package tombstone reads the tombstones that Android's debuggerd writes when a native program crashes: the text in
// /data/tombstones, in bug reports and, shortened, in the log, and the messages of tombstone.proto in the files beside
// these (tombstone_00.pb).
//
//	stones, err := tombstone.Decode(data)
//	if err != nil {
//		return err
//	}
//	result, err := walk.Walk(ctx, stones[0].Process(), symbols, walk.Options{})
//
// A tombstone has registers, frames and a little memory of each thread, and the mappings of the process; in the log it
// has the registers and the frames of one thread alone. The frames that it lists are frames of the result, whatever the
// walk finds.
package tombstone
