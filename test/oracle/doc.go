// Package oracle has the helpers that the comparisons of dumped symbol files with other
// programs share: the modules that are compared, their address space, and the reports of
// differences. Only tests import this package and the packages below it. All files but this
// one carry the build tag oracle.
//
// Each package below is named after the program that its tests compare with:
//
//	dwarftruth  functions, lines and inlined calls, with debug/dwarf
//	readelf     unwind rules, with readelf's rows
//	gimli       values of unwind rules, with gimli's
//	symaddr     what is at an address, with llvm-symbolizer and addr2line, and under their callers
//	symbolizer  stacks, with llvm-symbolizer, addr2line and eu-addr2line
//	gsymutil    GSYM files, with llvm-gsymutil
//	binutils    PUBLIC records, with nm and objdump
//	peers       whole files, with Breakpad's and Mozilla's dump_syms
//	toolchain   one program, with the same program built, packed or stripped otherwise
//	records     all records of a module, with dwarftruth and readelf together
//
// Package symfile reads symbol files. The tests named TestOracle have small
// inputs; those named TestCorpus take minutes and gigabytes of memory. Relative
// paths are those of a package below this one.
package oracle
