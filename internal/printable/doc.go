// Package printable escapes text that comes from files, so that the text cannot control a
// terminal, break a line of a log or reorder the text of a page.
package printable
