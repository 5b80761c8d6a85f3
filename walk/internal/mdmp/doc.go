// Package mdmp describes the records of minidumps, each once: the reader, the writer and the text
// of the raw records follow the description.
package mdmp
