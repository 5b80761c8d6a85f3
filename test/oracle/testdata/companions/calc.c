// A C unit among C++ ones: static and inlined functions, a cold part, a table of
// functions.
#include <stdlib.h>
#include <string.h>

struct op {
	char sign;
	long (*apply)(long, long);
};

static inline long checked_div(long a, long b)
{
	if (__builtin_expect(b == 0, 0))
		abort();
	return a / b;
}

static long add(long a, long b) { return a + b; }
static long sub(long a, long b) { return a - b; }
static long mul(long a, long b) { return a * b; }
static long quo(long a, long b) { return checked_div(a, b); }

static const struct op ops[] = {{'+', add}, {'-', sub}, {'*', mul}, {'/', quo}};

static const struct op *find(char sign)
{
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
		if (ops[i].sign == sign)
			return &ops[i];
	return NULL;
}

long calc(const char *text)
{
	char *end;
	long value = strtol(text, &end, 10);

	while (*end) {
		const struct op *op = find(*end);
		if (!op)
			exit(1);
		value = op->apply(value, strtol(end + 1, &end, 10));
	}
	return value;
}
