// What a C++ compiler puts into DWARF: inlined calls four deep, templates,
// namespaces, lambdas, block-local classes, virtual and COMDAT functions,
// functions split into a hot and a cold part, exceptions, static members.
// It includes no header of a library, so any cross compiler can build it.
#include "cxx.h"

namespace shop {

int Item::made;

namespace {

int balance;

NOINLINE int book(int amount) {
	balance += amount;
	return balance;
}

struct Audit {
	static int last;
	NOINLINE int check(int amount) const { return last = amount + balance; }
};

int Audit::last;

} // namespace

// Not enough money: only ever thrown, never looked at.
struct Refused {
	int missing;
};

INLINE int round_up(int price) {
	return book(price + 7) & ~7;
}

INLINE int with_tax(int price) {
	int taxed = price + (price >> 2);
	return round_up(taxed) + round_up(price);
}

INLINE int total(int price, int count) {
	int sum = 0;
	for (int i = 0; i < count; i++)
		sum += with_tax(price + i);
	return sum;
}

INLINE int quote(int price) {
	return total(price, 3) - discount(price);
}

[[gnu::cold]] NOINLINE void report(int missing) {
	book(-missing);
	Audit().check(missing);
}

// Has a cold part (the call of report and the throw).
NOINLINE int pay(int price, int purse) {
	if (__builtin_expect(price > purse, 0)) {
		report(price - purse);
		throw Refused{price - purse};
	}
	return book(-price) + quote(price);
}

// Has a landing pad and a handler.
NOINLINE int try_to_pay(const Item &item, int purse) {
	Heavy spare(item.price());
	try {
		return pay(item.price(), purse) + spare.weight();
	} catch (const Refused &refused) {
		return -refused.missing;
	}
}

NOINLINE int local_class(int price) {
	struct Bargain {
		int price;
		NOINLINE int halve() const { return book(price) / 2; }
	};
	return Bargain{price}.halve();
}

namespace nested {
inline namespace v2 {

NOINLINE int lambdas(int price) {
	auto add = [price](int more) NOINLINE { return book(price) + more; };
	auto twice = [&](auto x) { return add(x) + add(x + 1); };
	return apply(add, 2) + apply(twice, price);
}

} // namespace v2
} // namespace nested

// Never called: --gc-sections drops it.
NOINLINE int never_called(int price) {
	return quote(price) + book(1);
}

NOINLINE int operator+(const Item &item, int more) {
	return item.price() + more;
}

} // namespace shop

extern "C" int run(int argument) {
	static const unsigned char bytes[] = {1, 2, 3, 5, 8, 13, 21};
	shop::Heavy item(argument);
	shop::Stack<int, 4> prices;
	shop::Stack<const shop::Item *, 2> items;
	prices.push(argument);
	prices.push(shop::checksum(bytes, sizeof bytes));
	items.push(&item);
	return shop::try_to_pay(item, prices.pop()) + shop::local_class(argument) +
	       shop::nested::lambdas(prices.pop()) + items.size() + shop::Item::count() + (item + 1);
}
