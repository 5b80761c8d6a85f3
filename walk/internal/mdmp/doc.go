// Package mdmp reads minidumps. It has each record of the format once, as a struct (records.go), and
// the registers of each CPU once, as a table (machines.go): the reader, the writer and the text of
// raw records follow them.
//
// Nothing in a dump is trusted. Counts are compared with the bytes that are there before anything is
// allocated, and records that overlap use up a budget that the size of the file sets.
package mdmp
