// Runs out of stack.
#include "common.h"

static NOINLINE int forever(int n) {
	volatile char frame[4000];
	frame[n & 1023] = (char)n;
	int below = forever(n + 1);
	after(below + frame[0]);
	return below + n;
}

int main(void) { return forever(0); }
