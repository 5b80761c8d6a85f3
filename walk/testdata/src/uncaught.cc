// An exception that nobody catches: terminate, abort, raise.
#include <stdexcept>

#include "common.h"

static NOINLINE void thrower(int n) {
	if (n > 0)
		throw std::runtime_error("uncaught");
	after(n);
}

NOINLINE int middle(int n) {
	thrower(n);
	after(n);
	return n;
}

int main(int argc, char **) { return middle(argc); }
