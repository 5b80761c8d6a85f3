// Calls that end functions (noreturn), tail calls, frames that are realigned
// (DRAP), alloca, and a call through a null pointer with the argument "null".
#include <alloca.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

static void (*volatile target)(void);

static NOINLINE void stop(int n) __attribute__((noreturn));
static NOINLINE void stop(int n) {
	if (target)
		target();
	die();
	after(n);
	for (;;)
		after(1);
}

// Its last instruction is a call: the return address is in the next function.
static NOINLINE void fatal(const char *text) __attribute__((noreturn));
static NOINLINE void fatal(const char *text) {
	after((int)strlen(text));
	stop(1);
}

static NOINLINE int jump2(int n) {
	after(n);
	fatal("no way back");
}

static NOINLINE int jump1(int n) { return jump2(n + 1); } // a tail call

static NOINLINE int realigned(int n) {
	volatile double block[8] __attribute__((aligned(64)));
	char *more = alloca((unsigned long)n * 16 + 16);
	more[0] = 1;
	block[n & 7] = n;
	sink = (int)(long)more;
	int below = jump1(n);
	after(below);
	return below + (int)block[0] + more[0];
}

static void nothing(void) { after(3); }

static NOINLINE void indirect(void (*f)(void)) {
	f();
	after(1);
}

int main(int argc, char **argv) {
	target = argc > 2 ? nothing : 0;
	if (argc > 1 && strcmp(argv[1], "null") == 0)
		indirect(target);
	after(realigned(argc));
	return 0;
}
