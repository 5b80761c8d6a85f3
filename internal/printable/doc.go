// Package printable escapes text that comes from files, so that the text cannot
// control a terminal, break a line of a log or reorder what a page shows.
package printable
