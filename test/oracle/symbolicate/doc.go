// Package symbolicate compares the answers of serve/symbolicate with those of samply's server, of Eliot's library
// (symbolic), and with what a client of Mozilla's server (fx-crash-sig) reads in them. docs/symbolicate.md lists the
// differences. Bundles of source files are compared with sentry-cli's.
package symbolicate
