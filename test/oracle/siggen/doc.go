// Package siggen runs siggen, Socorro's signature generation as a Python library. All other
// files carry the build tag oracle.
package siggen
