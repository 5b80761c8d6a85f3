// Package walk turns a crashed process into the stack of each of its threads.
//
// A Process is what a crash dump holds: threads with their registers, memory,
// modules. Packages walk/corefile and walk/minidump make one. Walk finds the
// module of each instruction pointer, asks a Supplier (package walk/symbols has
// several) for its symbols, names
// the frame, and finds the caller: by STACK WIN or STACK CFI, else by the
// layout of a signal frame, the link register, the frame pointer, else by
// scanning the stack for a return address. A result that cannot be is not
// believed, and the next technique is tried; each frame tells how it was found
// (Trust) and what was passed over (Why).
//
// Nothing in a dump is trusted: reads are bounds-checked, every chain ends.
package walk
