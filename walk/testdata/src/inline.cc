// C++ at -O2: inlined lambdas and templates, a virtual call, a callback from
// the C library (qsort).
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "common.h"

namespace shapes {

struct Shape {
	virtual ~Shape() = default;
	virtual int area(int scale) const = 0;
};

template <typename T> struct Box : Shape {
	T width;
	explicit Box(T w) : width(w) {}
	INLINE int scaled(int s) { die(); return s; }
	NOINLINE int area(int scale) const override {
		int n = scaled(scale);
		after(n);
		return n + int(width);
	}
};

} // namespace shapes

static std::vector<std::unique_ptr<shapes::Shape>> all;

static NOINLINE int compare(const void *a, const void *b) {
	auto each = [&](auto f) __attribute__((always_inline)) {
		int sum = 0;
		for (auto &s : all)
			sum += f(*s);
		return sum;
	};
	int sum = each([](const shapes::Shape &s) __attribute__((always_inline)) { return s.area(3); });
	after(sum);
	return *(const int *)a - *(const int *)b;
}

NOINLINE int total(std::string name) {
	int values[] = {3, 1, 2};
	qsort(values, 3, sizeof *values, compare);
	after(int(name.size()));
	return values[0];
}

int main() {
	all.push_back(std::make_unique<shapes::Box<double>>(1.5));
	return total("a name that is too long for the small buffer");
}
