// Functions of which -g1 leaves the plain name, and others.
template <class T> concept Small = sizeof(T) < 9;

int sink;
static inline int used(int x) { // without an inlined call, clang gives a function no DIE
	sink += x;
	return sink;
}

namespace shop {
struct Box {
	Box(int);
	~Box();
	int get(int) const;
	int operator[](int) const;
	int operator<<(int) const;
	operator const char *() const;
	template <class T> T as(T) const;
};

Box::Box(int n) { used(n); }
Box::~Box() { used(1); }
int Box::get(int n) const { return used(n); }
int Box::operator[](int n) const { return used(n); }
int Box::operator<<(int n) const { return used(n); }
Box::operator const char *() const { return used(2) ? "" : nullptr; }
template <class T> T Box::as(T n) const { return used(n); }
template int Box::as(int) const;
template <Small T> T half(T n) { return used(n) / 2; }
template int half(int);

namespace {
__attribute__((noinline)) int hidden(int n) { return used(n); }
}
int open(int n) { return hidden(n); }
int plain(int) __attribute__((alias("plain")));
}

__attribute__((noinline)) static int own(int n) { return used(n); }

// Aliases have no DIE of their own, as code that the linker folded.
int a(const shop::Box *, int) __attribute__((alias("_ZNK4shop3Box3getEi")));
extern "C" int plain(int n) { return used(own(n)); }
