// Package symaddr has no code but tests, which compare symaddr in the place of llvm-symbolizer and addr2line with these
// programs, by themselves and under perf, pprof and AddressSanitizer.
package symaddr
