// Shared by cxx.cc and other.cc, so that both object files hold a copy of each
// COMDAT function here and the linker discards one, line rows and all.
#pragma once

#define NOINLINE __attribute__((noinline))
#define INLINE inline __attribute__((always_inline))

namespace shop {

// An abstract class: virtual functions defined in the class are COMDAT.
class Item {
public:
	explicit Item(int price) : price_(price) { ++made; }
	virtual ~Item() {}
	virtual int price() const { return price_; }
	virtual int weight() const = 0;

	static int made;
	static NOINLINE int count() { return made; }

protected:
	int price_;
};

class Heavy : public Item {
public:
	explicit Heavy(int price) : Item(price) {}
	int price() const override { return Item::price() * 3 + made; }
	int weight() const override { return 1000; }
};

template <class T, int Max>
class Stack {
public:
	bool push(T value);
	T pop() { return size_ > 0 ? values_[--size_] : T(); }
	int size() const { return size_; }

private:
	T values_[Max];
	int size_ = 0;
};

template <class T, int Max>
NOINLINE bool Stack<T, Max>::push(T value) {
	if (size_ == Max)
		return false;
	values_[size_++] = value;
	return true;
}

template <class F, class... Args>
NOINLINE int apply(F f, Args... args) {
	return f(args...) + static_cast<int>(sizeof...(Args));
}

inline NOINLINE int checksum(const unsigned char *bytes, int count) {
	int sum = 0;
	for (int i = 0; i < count; i++) {
		for (int j = i; j < count; j++)
			sum += bytes[j] ^ (sum >> 3);
#ifdef RESET_VIEW
		// GCC resets the view where it cannot tell whether the address
		// advanced; gas then sets the address again within the line
		// sequence. Where the linker discards this copy of the function,
		// both addresses are tombstones. File 2 is this one.
		__asm__ volatile(".loc 2 68 3 view -0");
#endif
		if (sum > 100000)
			sum -= bytes[i] * 7;
	}
	return sum;
}

int discount(int price);

} // namespace shop
