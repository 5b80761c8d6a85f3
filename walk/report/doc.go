// Package report writes the stacks of a process: as text for people (Text), as JSON
// in rust-minidump's schema (JSON), and in the machine-readable format of Breakpad's
// minidump_stackwalk (Machine).
package report
