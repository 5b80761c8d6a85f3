// Package storefiles works on the files of a symbol store in a directory or a bucket. List gives each file with its
// kind, which its path says; Remove deletes a file unless another one has taken its place since it was listed.
package storefiles
