// A library for apkload.c: functions, an inlined call, a crash. It needs no other library and no relocation.
//
//	g++ -O1 -g -fPIC -shared -nostdlib -fvisibility=hidden -fno-exceptions -fcf-protection=none -fno-stack-protector \
//	    -Wl,-soname,libone.so -Wl,-e,enter -Wl,--build-id -Wl,-z,max-page-size=16384 -DNAME=one -o libone.so apklib.cc
//
// Android's libraries are linked for pages of 16 KiB, so that there are gaps between the segments in a process that has
// pages of 4 KiB.
typedef int next_fn(int);

static volatile int sink = 1;

namespace NAME {

struct Engine {
    int total;
    __attribute__((noinline)) int step(next_fn *next, int depth);
};

static inline __attribute__((always_inline)) int crash(int depth)
{
    *(volatile int *)(long)depth = 1; // a null page
    return sink;
}

int Engine::step(next_fn *next, int depth)
{
    volatile char frame[96];
    frame[depth & 63] = (char)depth;
    int got = next ? next(depth + 1) : crash(depth);
    total += got;
    return total + frame[depth & 63];
}

__attribute__((noinline)) int run(next_fn *next, int depth)
{
    Engine e = {depth};
    return e.step(next, depth) + sink;
}

} // namespace NAME

extern "C" __attribute__((visibility("default"))) int enter(next_fn *next, int depth)
{
    sink += depth;
    return NAME::run(next, depth) * 2;
}

#ifdef VERSION // a second library is not like the first one
extern "C" __attribute__((visibility("default"))) int version() { return VERSION; }
#endif
