// Package gsymutil has no code but tests, which compare GSYM files with llvm-gsymutil.
package gsymutil
