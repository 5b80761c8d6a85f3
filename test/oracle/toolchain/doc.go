// Package toolchain builds one program in all the forms that it can have. Its tests check
// that every form gives the same symbol file. All other
// files carry the build tag oracle.
package toolchain
