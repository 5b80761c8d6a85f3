// Package batch turns many files into modules and shares the machine among
// them: it finds ELF files in arguments, directories and archives (Finder),
// puts together those that belong together (Group), and runs one task for each
// module (Run), the largest first, within a memory budget.
//
// What a task does is the caller's; Record is what it tells of the outcome, one
// line of a manifest.
package batch
