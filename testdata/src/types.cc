// A unit with hundreds of type units and a long line program, which all of them name:
// -fdebug-types-section.

volatile int sink;

template <int N> struct Cell {
	int first, second;

	int sum(int x) const
	{
		if (x > N)
			return first + x;
		return second - x;
	}
};

template <int N> struct Row {
	Cell<N> cell;
	Row<N - 1> *next;

	[[gnu::noinline]] int total(int x)
	{
		int result = cell.sum(x);
		for (int i = 0; i < x; i++) {
			sink = result;
			result += cell.sum(i);
			sink = result + N;
			if (result > 1000) {
				sink = 1;
				result -= sink;
			}
		}
		sink = result;
		return next->total(result);
	}
};

template <> struct Row<0> {
	[[gnu::noinline]] int total(int x)
	{
		sink = x;
		return x;
	}
};

// No DIE describes it.
asm(".globl unknown\n.type unknown, @function\nunknown: ret\n.size unknown, . - unknown");

extern "C" int run(int argc)
{
	Row<150> row = {};
	return row.total(argc);
}
