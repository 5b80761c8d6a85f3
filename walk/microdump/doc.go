// Package microdump reads microdumps: what Breakpad writes of a crash to the system's log
// where there is no place for a file, one record a line. The log can have more lines,
// before and between those of the microdump, and several microdumps.
//
// A line is a record if the log's prefix names google-breakpad; the record comes after the
// colon and the space that end the prefix:
//
//	W/google-breakpad( 3745): O A arm 02 armv7l OS VERSION
//
// Outside of Android there is no prefix; then all lines up to the microdump's end are
// records. The letter at the beginning of a record says what the record is:
//
//	V PRODUCT:VERSION                          of the program
//	O A|L ARCH CPUS HARDWARE VERSION…          Android or Linux; the number of CPUs is hexadecimal
//	P TYPE                                     what kind of process of the program
//	R SIGNAL NAME ADDRESS                      why the process died
//	G VERSION|VENDOR|RENDERER                  of OpenGL, or UNKNOWN
//	S 0 POINTER START SIZE                     of the stack
//	S ADDRESS BYTES                            a part of the stack
//	C BYTES                                    the CONTEXT structure of a minidump
//	M ADDRESS OFFSET SIZE ID NAME              a module
//
// Numbers and bytes are hexadecimal. (Breakpad: client/linux/microdump_writer.) A damaged
// record is lost alone, and is in Losses with its place.
package microdump
