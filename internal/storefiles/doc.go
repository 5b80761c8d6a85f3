// Package storefiles reads the files of a symbol store as they lie in a directory or a bucket: it lists them, says by
// their paths what they are, and removes one if nobody has replaced it since.
package storefiles
