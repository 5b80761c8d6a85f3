// The second object file of the C++ fixtures: see cxx.h.
#include "cxx.h"

namespace shop {

namespace {

// The same name as in cxx.cc, another function.
NOINLINE int book(int amount) {
	return amount ^ 5;
}

} // namespace

int discount(int price) {
	unsigned char digits[8];
	Stack<int, 4> pending;
	for (int i = 0; i < 8; i++) {
		digits[i] = static_cast<unsigned char>(price >> (4 * i));
		pending.push(digits[i]);
	}
	Heavy item(price);
	return book(checksum(digits, 8)) + item.price() + pending.pop();
}

NOINLINE int also_never_called(int price) {
	return discount(price) + Item::count();
}

} // namespace shop
